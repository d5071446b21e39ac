/* A stand-in for a driver whose memory only the MPI library can tell from the processor's. */
#include "gpu_memory.h"

int zeInit(unsigned flags);

int zeInit(unsigned flags) {
    (void)begin_copy;
    (void)end_copy;
    return (int)flags;
}
