/* A stand-in for the driver of a GPU: CUDA's functions of which Rondo makes use. Only one kind of memory says that it
 * is the device's; all others say that they are the processor's. A pool's memory names its pool and no context, managed
 * memory says that it is managed, and memory that was mapped by hand has a handle. */
#include "gpu_memory.h"

enum { OK = 0, INVALID_VALUE = 1, INVALID_CONTEXT = 201 };
enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, MEMPOOL = 17 };
enum { OF_PROCESSOR = 1, OF_DEVICE = 2 };

static int context, current, pool, of_pool;

int cuPointerGetAttributes(unsigned n, const unsigned *names, void **values, unsigned long long address);
int cuCtxPushCurrent_v2(void *pushed);
int cuCtxPopCurrent_v2(void **popped);
int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes);
int cuStreamSynchronize(void *stream);
int cuMemRetainAllocationHandle(unsigned long long *handle, void *address);
int cuMemRelease(unsigned long long handle);

int cuPointerGetAttributes(unsigned n, const unsigned *names, void **values, unsigned long long address) {
    enum gpu_kind kind = gpu_kind((void *)address);
    int known = kind != NOT_KNOWN;
    for (unsigned i = 0; i < n; i++) {
        switch (names[i]) {
        case CONTEXT: *(void **)values[i] = known && kind != POOLED ? &context : NULL; break;
        case MEMORY_TYPE: *(unsigned *)values[i] = kind == DEVICE ? OF_DEVICE : known ? OF_PROCESSOR : 0; break;
        case IS_MANAGED: *(unsigned *)values[i] = kind == MANAGED; break;
        case MEMPOOL: *(void **)values[i] = kind == POOLED ? &pool : NULL; break;
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

/* Of a pool's memory the program's own context will do, which is always there. */
int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes) {
    of_pool = gpu_kind((void *)to) == POOLED || gpu_kind((void *)from) == POOLED;
    return current || of_pool ? begin_copy((void *)to, (void *)from, bytes) : INVALID_CONTEXT;
}

int cuStreamSynchronize(void *stream) {
    return stream == NULL && (current || of_pool) ? end_copy() : INVALID_CONTEXT;
}

int cuMemRetainAllocationHandle(unsigned long long *handle, void *address) {
    if (gpu_kind(address) != MAPPED) return INVALID_VALUE;
    *handle = 7;
    return OK;
}

int cuMemRelease(unsigned long long handle) { return handle == 7 ? OK : INVALID_VALUE; }
