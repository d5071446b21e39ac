/* A stand-in for the driver of a GPU: CUDA's functions of which Rondo makes use. */
#include "gpu_memory.h"

enum { OK = 0, INVALID_VALUE = 1, INVALID_CONTEXT = 201 };

static int context, current;

int cuPointerGetAttributes(unsigned n, const unsigned *names, void **values, unsigned long long address);
int cuCtxPushCurrent_v2(void *pushed);
int cuCtxPopCurrent_v2(void **popped);
int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes);
int cuStreamSynchronize(void *stream);
int cuMemRetainAllocationHandle(unsigned long long *handle, void *address);
int cuMemRelease(unsigned long long handle);

int cuPointerGetAttributes(unsigned n, const unsigned *names, void **values, unsigned long long address) {
    int kind = gpu_owns((void *)address);
    for (unsigned i = 0; i < n; i++) {
        switch (names[i]) {
        case 1: *(void **)values[i] = kind ? &context : NULL; break;
        case 2: *(unsigned *)values[i] = kind == 1 ? 2 : kind == 2; break;
        case 8: *(unsigned *)values[i] = 0; break;
        case 17: *(void **)values[i] = NULL; break;
        default: return INVALID_VALUE;
        }
    }
    return OK;
}

int cuCtxPushCurrent_v2(void *pushed) {
    if (pushed != &context) return INVALID_CONTEXT;
    current++;
    return OK;
}

int cuCtxPopCurrent_v2(void **popped) {
    if (current == 0) return INVALID_CONTEXT;
    current--;
    *popped = &context;
    return OK;
}

int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes) {
    return current ? begin_copy((void *)to, (void *)from, bytes) : INVALID_CONTEXT;
}

int cuStreamSynchronize(void *stream) { return stream == NULL && current ? end_copy() : INVALID_CONTEXT; }

int cuMemRetainAllocationHandle(unsigned long long *handle, void *address) {
    if (gpu_owns(address) != 2) return INVALID_VALUE;
    *handle = 7;
    return OK;
}

int cuMemRelease(unsigned long long handle) { return handle == 7 ? OK : INVALID_VALUE; }
