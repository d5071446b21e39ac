/* A stand-in for the driver of a GPU, Level Zero's by its name. */
#include "gpu_memory.h"
