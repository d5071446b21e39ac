/* A stand-in for the driver of a GPU, HIP's by its name. */
#include "gpu_memory.h"
