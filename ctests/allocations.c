/* After the first broadcasts on a communicator, broadcasts of contiguous data allocate nothing in Rondo.
 *
 * The program's own malloc, calloc and realloc count those calls whose return address lies in librondo.so. A positive
 * control shows that the count works: the first call on a communicator has to allocate.
 */
#include "rondo_test.h"
#include <link.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static unsigned long from, to, count;

static int find(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    if (!strstr(object->dlpi_name, "librondo.so")) return 0;
    from = object->dlpi_addr;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD)
            to = from + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
    return 1;
}

static void note(void *caller) { count += (unsigned long)caller >= from && (unsigned long)caller < to; }
void *malloc(size_t n) { note(__builtin_return_address(0)); return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { note(__builtin_return_address(0)); return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { note(__builtin_return_address(0)); return __libc_realloc(p, n); }

int main(int argc, char **argv) {
    start(&argc, &argv, "allocations");
    dl_iterate_phdr(find, NULL);
    enum { BYTES = 300000 };
    char *b = malloc(BYTES);
    memset(b, 1, BYTES);
    MPI_Datatype row; /* contiguous, though derived */
    MPI_Type_contiguous(100, MPI_INT, &row);
    MPI_Type_commit(&row);
    count = 0;
    bcast(b, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(!test.expect || count > 0);
    bcast(b, BYTES / 400, row, 0, MPI_COMM_WORLD);

    count = 0;
    for (int i = 0; i < 200; i++) {
        bcast(b, i % 3 ? BYTES : 1000, MPI_BYTE, i % test.ranks, MPI_COMM_WORLD);
        bcast(b, i + 1, row, i % test.ranks, MPI_COMM_WORLD);
    }
    CHECK_IN(count == 0, "%lu allocations in 400 calls", count);
    MPI_Type_free(&row);
    free(b);
    return finish();
}
