/* What Rondo allocates: the program's own malloc, calloc and realloc note the calls whose return address lies in
 * librondo.so, between watch() and the end of the program.
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include "rondo_test.h"
#include <link.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static struct {
    unsigned long from, to; /* the library */
    unsigned long count, bytes;
} allocated;

static int find_library(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    if (!strstr(object->dlpi_name, "librondo.so")) return 0;
    allocated.from = object->dlpi_addr;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD)
            allocated.to = allocated.from + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
    return 1;
}

static MAYBE_UNUSED void watch(void) { dl_iterate_phdr(find_library, NULL); }

static void note(void *caller, size_t n) {
    if ((unsigned long)caller < allocated.from || (unsigned long)caller >= allocated.to) return;
    allocated.count++;
    allocated.bytes += n;
}
void *malloc(size_t n) { note(__builtin_return_address(0), n); return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { note(__builtin_return_address(0), n * m); return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { note(__builtin_return_address(0), n); return __libc_realloc(p, n); }

#endif
