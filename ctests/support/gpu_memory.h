/* Memory of a GPU that is not there: mapped without rights, so that the processor cannot touch it. What the driver and
 * an MPI library that knows GPUs may touch is a second mapping of the same memory. Stand-ins for drivers have it in
 * them, and are loaded with RTLD_GLOBAL:
 *
 *   gpu_allocate(bytes)   memory, every second time of the kind that says it is the processor's
 *   gpu_free()            gives all of it back
 *   gpu_distance(p)       bytes from p to the same byte in the second mapping; 0: p is the processor's
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

/* Bytes of each of the two kinds. */
static const size_t HALF = (size_t)1 << 29;

static unsigned char *gpu_memory, *gpu_reachable;
static size_t gpu_used[2];
static int gpu_kind;

__attribute__((constructor)) static void map_memory(void) {
    int file = memfd_create("gpu", 0);
    if (file < 0 || ftruncate(file, (off_t)(2 * HALF)) != 0) abort();
    gpu_memory = mmap(NULL, 2 * HALF, PROT_NONE, MAP_SHARED, file, 0);
    gpu_reachable = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (gpu_memory == MAP_FAILED || gpu_reachable == MAP_FAILED) abort();
    close(file);
}

void *gpu_allocate(size_t bytes) {
    gpu_kind = !gpu_kind;
    size_t at = gpu_used[gpu_kind];
    if (bytes > HALF - at) abort();
    gpu_used[gpu_kind] = (at + bytes + 511) / 256 * 256;
    return gpu_memory + (size_t)gpu_kind * HALF + at;
}

void gpu_free(void) { gpu_used[0] = gpu_used[1] = 0; }

/* 0: not of the GPU; 1: of the GPU; 2: the same, but it says that it is the processor's. */
static int gpu_owns(const void *p) {
    if ((const unsigned char *)p < gpu_memory || (const unsigned char *)p >= gpu_memory + 2 * HALF) return 0;
    return (const unsigned char *)p < gpu_memory + HALF ? 1 : 2;
}

ptrdiff_t gpu_distance(const void *p) { return gpu_owns(p) ? gpu_reachable - gpu_memory : 0; }

/* A copy that has begun: it is made when the program waits for it. */
static struct {
    void *to;
    const void *from;
    size_t bytes;
} gpu_copy;

static int begin_copy(void *to, const void *from, size_t bytes) {
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
