/* A stand-in for the driver of a GPU, CUDA's by its name. */
#include "gpu_memory.h"
