/* What Rondo allocates: the program's own malloc, calloc, realloc and free note the calls whose return address lies in
 * librondo.so, between watch() and the end of the program. They can refuse it memory: see refuse().
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include "rondo_test.h"
#include <errno.h>
#include <link.h>
#include <malloc.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static struct {
    unsigned long from, to; /* the library */
    unsigned long count, bytes; /* of all calls so far */
    long held, most;            /* bytes held now, and at a time, more than when this was set to 0 */
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

/* What is refused. */
static struct {
    size_t least; /* bytes from which on requests count; 0: nothing is refused */
    long at;      /* which of them is refused; 0: all */
    long counted, bytes; /* requests that counted, and bytes of the last one that was refused */
} refusal;

/* From now on Rondo gets no memory where it asks for `least` bytes and more at once, or only the `at`-th time not. */
static MAYBE_UNUSED void refuse(size_t least, long at) {
    refusal.least = least;
    refusal.at = at;
    refusal.counted = refusal.bytes = 0;
}

static int is_refused(size_t n) {
    if (!refusal.least || n < refusal.least) return 0;
    refusal.counted++;
    if (refusal.at && refusal.counted != refusal.at) return 0;
    refusal.bytes = (long)n;
    errno = ENOMEM;
    return 1;
}

/* Calls on the rank that has most. */
static MAYBE_UNUSED unsigned long most_allocations(void) {
    unsigned long own = allocated.count, most = 0;
    MPI_Allreduce(&own, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static MAYBE_UNUSED void watch(void) { dl_iterate_phdr(find_library, NULL); }

static int from_rondo(void *caller) {
    return (unsigned long)caller >= allocated.from && (unsigned long)caller < allocated.to;
}

static void *note(void *caller, size_t n, void *memory) {
    if (!from_rondo(caller)) return memory;
    allocated.count++;
    allocated.bytes += n;
    allocated.held += (long)malloc_usable_size(memory);
    if (allocated.held > allocated.most) allocated.most = allocated.held;
    return memory;
}

static void note_end(void *caller, void *memory) {
    if (from_rondo(caller)) allocated.held -= (long)malloc_usable_size(memory);
}

void *malloc(size_t n) {
    void *caller = __builtin_return_address(0);
    return from_rondo(caller) && is_refused(n) ? NULL : note(caller, n, __libc_malloc(n));
}
void *calloc(size_t n, size_t m) {
    void *caller = __builtin_return_address(0);
    return from_rondo(caller) && is_refused(n * m) ? NULL : note(caller, n * m, __libc_calloc(n, m));
}
void *realloc(void *p, size_t n) {
    if (from_rondo(__builtin_return_address(0)) && is_refused(n)) return NULL;
    note_end(__builtin_return_address(0), p);
    return note(__builtin_return_address(0), n, __libc_realloc(p, n));
}
void free(void *p) {
    note_end(__builtin_return_address(0), p);
    __libc_free(p);
}

#endif
