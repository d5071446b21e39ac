/* Memory of a GPU that is not there: mapped without rights, so that the processor cannot touch it. What the driver and
 * an MPI library that knows GPUs may touch is a second mapping of the same memory. Stand-ins for drivers have it in
 * them, and are loaded with RTLD_GLOBAL:
 *
 *   gpu_allocate(bytes)   memory, of one kind after the other
 *   gpu_free()            gives all of it back
 *   gpu_distance(p)       bytes from p to the same byte in the second mapping; 0: p is the processor's
 *
 * A driver tells the kinds apart in different ways (see there). Managed memory moves to whoever touches it: the
 * processor could, but is not to, so here it cannot. Pinned memory is the processor's though the driver knows it.
 */
#ifndef GPU_MEMORY_H
#define GPU_MEMORY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *gpu_allocate(size_t bytes);
void gpu_free(void);
ptrdiff_t gpu_distance(const void *p);

enum gpu_kind { DEVICE, MAPPED, POOLED, MANAGED, PINNED, KINDS, NOT_KNOWN };

/* Bytes of each kind, and of all. */
static const size_t PART = (size_t)1 << 28, ALL = KINDS * ((size_t)1 << 28);

static unsigned char *gpu_memory, *gpu_reachable;
static size_t gpu_used[KINDS], gpu_allocations;

__attribute__((constructor)) static void map_memory(void) {
    int file = memfd_create("gpu", 0);
    if (file < 0 || ftruncate(file, (off_t)ALL) != 0) abort();
    gpu_memory = mmap(NULL, ALL, PROT_NONE, MAP_SHARED, file, 0);
    gpu_reachable = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (gpu_memory == MAP_FAILED || gpu_reachable == MAP_FAILED) abort();
    if (mprotect(gpu_memory + PINNED * PART, PART, PROT_READ | PROT_WRITE) != 0) abort();
    close(file);
}

void *gpu_allocate(size_t bytes) {
    size_t kind = gpu_allocations++ % KINDS, at = gpu_used[kind];
    if (bytes > PART - at) abort();
    gpu_used[kind] = (at + bytes + 511) / 256 * 256;
    return gpu_memory + kind * PART + at;
}

void gpu_free(void) { memset(gpu_used, 0, sizeof gpu_used); }

/* The kind of memory that an address is in. */
static enum gpu_kind gpu_kind(const void *p) {
    const unsigned char *at = p;
    return at < gpu_memory || at >= gpu_memory + ALL ? NOT_KNOWN : (enum gpu_kind)((size_t)(at - gpu_memory) / PART);
}

ptrdiff_t gpu_distance(const void *p) { return gpu_kind(p) < PINNED ? gpu_reachable - gpu_memory : 0; }

/* A copy that has begun: it is made when the program waits for it. */
static struct {
    void *to;
    const void *from;
    size_t bytes;
} gpu_copy;

/* Between two places of the processor's nobody is to trouble a driver. */
static int begin_copy(void *to, const void *from, size_t bytes) {
    if (gpu_distance(to) == 0 && gpu_distance(from) == 0) abort();
    gpu_copy.to = (unsigned char *)to + gpu_distance(to);
    gpu_copy.from = (const unsigned char *)from + gpu_distance(from);
    gpu_copy.bytes = bytes;
    return 0;
}

static int end_copy(void) {
    if (gpu_copy.bytes) memcpy(gpu_copy.to, gpu_copy.from, gpu_copy.bytes);
    gpu_copy.bytes = 0;
    return 0;
}

#endif
