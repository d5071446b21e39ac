/* A stand-in for the driver of a GPU: Level Zero's functions of which Rondo makes use. The MPI library copies. At first
 * the stand-in says that the program has not initialised it, then that it has no driver. Later it has two, of which the
 * first knows no memory, and says so by an error, as some do. With GPU_ASKED=1, a process with many buffers there of
 * which Rondo did not ask ends in a signal. */
#include "gpu_memory.h"
#include <stdint.h>

enum { OK = 0, UNINITIALIZED = 0x78000001, INVALID_ARGUMENT = 0x78000004 };
enum { CONTEXT_DESC = 0xd, MEMORY_ALLOCATION_PROPERTIES = 0x17 };
enum { TYPE_UNKNOWN, TYPE_HOST, TYPE_DEVICE, TYPE_SHARED };
enum { DRIVERS = 2, REFUSALS = 20, WITHOUT = 10 };

struct description {
    int stype;
    const void *next;
    uint32_t flags;
};

struct properties {
    int stype;
    void *next;
    int type;
    uint64_t id, page_size;
};

/* A driver is its number, from 1 on, and so is its context. */
static char drivers[DRIVERS], contexts[DRIVERS];
static int asked, made[DRIVERS];

int zeInit(unsigned flags);
int zeDriverGet(uint32_t *count, void **found);
int zeContextCreate(void *driver, const struct description *description, void **context);
int zeMemGetAllocProperties(void *context, const void *address, struct properties *found, void **device);

int zeInit(unsigned flags) {
    (void)begin_copy;
    (void)end_copy;
    return (int)flags;
}

int zeDriverGet(uint32_t *count, void **found) {
    if (asked++ < REFUSALS) return UNINITIALIZED;
    if (asked <= REFUSALS + WITHOUT) {
        *count = 0;
        return OK;
    }
    if (*count == 0 || found == NULL) {
        *count = DRIVERS;
        return OK;
    }
    if (*count > DRIVERS) *count = DRIVERS;
    for (uint32_t i = 0; i < *count; i++) found[i] = &drivers[i];
    return OK;
}

int zeContextCreate(void *driver, const struct description *description, void **context) {
    ptrdiff_t i = (char *)driver - drivers;
    if (i < 0 || i >= DRIVERS || description->stype != CONTEXT_DESC || description->next || description->flags) abort();
    if (made[i]++) abort(); /* one for each is enough */
    *context = &contexts[i];
    return OK;
}

int zeMemGetAllocProperties(void *context, const void *address, struct properties *found, void **device) {
    static const int types[] = {[DEVICE] = TYPE_DEVICE,  [MAPPED] = TYPE_DEVICE, [POOLED] = TYPE_DEVICE,
                                [MANAGED] = TYPE_SHARED, [PINNED] = TYPE_HOST,   [NOT_KNOWN] = TYPE_UNKNOWN};
    ptrdiff_t i = (char *)context - contexts;
    if (i < 0 || i >= DRIVERS || found->stype != MEMORY_ALLOCATION_PROPERTIES || found->next) abort();
    if (i == 0) return INVALID_ARGUMENT;
    found->type = types[gpu_kind(address)];
    if (device) *device = NULL;
    return OK;
}

__attribute__((destructor)) static void check(void) {
    enum { MANY = 200 };
    if (getenv("GPU_ASKED") && gpu_allocations > MANY && (asked <= REFUSALS + WITHOUT || !made[DRIVERS - 1])) abort();
}
