/* What MPI_Allgatherv and MPI_Allgather of contiguous data allocate in Rondo.
 *
 * - After the first calls of a shape on a communicator: nothing.
 * - By the first long call: two messages of a round, the table of schedules, and less than 100 bytes for each rank and
 *   block of a part, however long the data are.
 *
 * The program's own malloc, calloc and realloc count those calls whose return address lies in librondo.so. A positive
 * control shows that the count works: the first call on a communicator has to allocate.
 */
#include "rondo_test.h"
#include <link.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static unsigned long from, to, count, bytes;

static int find(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    if (!strstr(object->dlpi_name, "librondo.so")) return 0;
    from = object->dlpi_addr;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD)
            to = from + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
    return 1;
}

static void note(void *caller, size_t n) {
    if ((unsigned long)caller < from || (unsigned long)caller >= to) return;
    count++;
    bytes += n;
}
void *malloc(size_t n) { note(__builtin_return_address(0), n); return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { note(__builtin_return_address(0), n * m); return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { note(__builtin_return_address(0), n); return __libc_realloc(p, n); }

enum { BLOCK = 60000 };

static char *sent, *got;
static int *counts, *displs;

/* Three calls: irregular, irregular in place, regular. Only the displacements change from call to call. */
static void calls(int i) {
    for (int r = 0; r < test.ranks; r++) {
        counts[r] = r % 3 * BLOCK / 2;
        displs[r] = r * BLOCK + i % 2;
    }
    allgatherv(sent, counts[test.rank], MPI_BYTE, got, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < test.ranks; r++) counts[r] = r == 1 ? BLOCK / 4 : 10;
    allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, counts, displs, MPI_INT, MPI_COMM_WORLD);
    allgather(sent, 1000, MPI_BYTE, got, 1000, MPI_BYTE, MPI_COMM_WORLD);
}

/* 8 MB in unequal parts, the first call of more than some bytes on a communicator; RONDO_BLOCK_BYTES is the length of
 * all that a rank sends in a round. */
static void scratch(void) {
    enum { TOTAL = 8000000, TABLE = 32 };
    if (!test.expect || !getenv("RONDO_BLOCK_BYTES")) return;
    int round = atoi(getenv("RONDO_BLOCK_BYTES")), given = 0;
    char *all = malloc(TOTAL), *own = malloc(TOTAL);
    for (int r = 0; r < test.ranks; r++) {
        displs[r] = given;
        counts[r] = r + 1 < test.ranks ? TOTAL / (test.ranks + 1) / (r % 2 + 1) : TOTAL - given;
        given += counts[r];
    }
    fill(own, (size_t)counts[test.rank], (unsigned)test.rank);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    allgather(own, 1, MPI_BYTE, all, 1, MPI_BYTE, comm); /* handshake, private communicator */
    bytes = 0;
    allgatherv(own, counts[test.rank], MPI_BYTE, all, counts, displs, MPI_BYTE, comm);
    for (int r = 0; r < test.ranks; r++) CHECK(wrong(all + displs[r], (size_t)counts[r], (unsigned)r) == 0);
    unsigned long ranks = (unsigned long)test.ranks, blocks = TOTAL / (unsigned long)round + 1;
    unsigned long most = 2 * ((unsigned long)round + ranks) + ranks * (TABLE + 100) + ranks * blocks / 8 + 16384;
    CHECK_IN(bytes > 0 && bytes <= most, "%lu bytes, and not %lu", bytes, most);
    MPI_Comm_free(&comm);
    free(all);
    free(own);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_allocations");
    dl_iterate_phdr(find, NULL);
    sent = calloc(1, BLOCK);
    got = calloc((size_t)test.ranks * 4 + 4, BLOCK); /* displacements count ints in one of the calls */
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);

    count = 0;
    calls(0);
    CHECK(!test.expect || count > 0);
    calls(1);

    count = 0;
    for (int i = 0; i < 50; i++) calls(i);
    CHECK_IN(count == 0, "%lu allocations in 150 calls", count);
    scratch();
    free(sent);
    free(got);
    free(counts);
    free(displs);
    return finish();
}
