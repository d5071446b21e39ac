/* Memory of a GPU that is not there: mapped without rights, so that the processor cannot touch it. What an MPI library
 * that knows GPUs may touch is a second mapping of the same memory. Stand-ins for drivers have it in them, and are
 * loaded with RTLD_GLOBAL:
 *
 *   gpu_allocate(bytes)   memory
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
#include <sys/mman.h>
#include <unistd.h>

void *gpu_allocate(size_t bytes);
void gpu_free(void);
ptrdiff_t gpu_distance(const void *p);

/* Bytes of it. */
static const size_t ALL = (size_t)1 << 30;

static unsigned char *gpu_memory, *gpu_reachable;
static size_t gpu_used;

__attribute__((constructor)) static void map_memory(void) {
    int file = memfd_create("gpu", 0);
    if (file < 0 || ftruncate(file, (off_t)ALL) != 0) abort();
    gpu_memory = mmap(NULL, ALL, PROT_NONE, MAP_SHARED, file, 0);
    gpu_reachable = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (gpu_memory == MAP_FAILED || gpu_reachable == MAP_FAILED) abort();
    close(file);
}

void *gpu_allocate(size_t bytes) {
    unsigned char *memory = gpu_memory + gpu_used;
    if (bytes > ALL - gpu_used) abort();
    gpu_used += (bytes + 511) / 256 * 256;
    return memory;
}

void gpu_free(void) { gpu_used = 0; }

ptrdiff_t gpu_distance(const void *p) {
    const unsigned char *at = p;
    return at < gpu_memory || at >= gpu_memory + ALL ? 0 : gpu_reachable - gpu_memory;
}

#endif
