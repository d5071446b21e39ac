/* A stand-in for the driver of a GPU: HIP's functions of which Rondo makes use. Managed and pinned memory both have an
 * address for the processor; only managed memory says that it is managed. A program must not see an error that it did
 * not make, so the process ends in a signal if one is left. */
#include "gpu_memory.h"

enum { OK = 0, INVALID_VALUE = 1, BY_ADDRESS = 4, OF_PROCESSOR = 1, OF_DEVICE = 2 };

struct attributes {
    int kind, device;
    void *on_device, *on_processor;
    int is_managed;
    unsigned flags;
};

static int last;

int hipPointerGetAttributes(struct attributes *found, const void *address);
int hipMemcpy(void *to, const void *from, size_t bytes, int kind);
int hipStreamSynchronize(void *stream);
int hipGetLastError(void);

int hipPointerGetAttributes(struct attributes *found, const void *address) {
    if (last) abort();
    enum gpu_kind kind = gpu_kind(address);
    if (kind == NOT_KNOWN) return last = INVALID_VALUE;
    int both = kind == MANAGED || kind == PINNED;
    found->kind = kind == PINNED ? OF_PROCESSOR : OF_DEVICE;
    found->device = 0;
    found->on_device = (void *)address;
    found->on_processor = both ? (void *)address : NULL;
    found->is_managed = kind == MANAGED;
    found->flags = 0;
    return OK;
}

int hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
    if (last) abort();
    return kind == BY_ADDRESS ? begin_copy(to, from, bytes) : INVALID_VALUE;
}

int hipStreamSynchronize(void *stream) { return stream == NULL ? end_copy() : INVALID_VALUE; }

int hipGetLastError(void) {
    int error = last;
    last = OK;
    return error;
}
