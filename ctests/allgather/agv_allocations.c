/* What MPI_Allgatherv and MPI_Allgather of contiguous data allocate in Rondo.
 *
 * - After the first calls of a shape on a communicator: nothing.
 * - By the first long call: 512 KiB for messages each way, or two messages if they are longer, the table of schedules,
 *   and less than 100 bytes for each rank and block of a part, however long the data are.
 *
 * A positive control shows that the count works: the first call on a communicator has to allocate.
 */
#include "allocations.h"

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
    allocated.bytes = 0;
    allgatherv(own, counts[test.rank], MPI_BYTE, all, counts, displs, MPI_BYTE, comm);
    for (int r = 0; r < test.ranks; r++) CHECK(wrong(all + displs[r], (size_t)counts[r], (unsigned)r) == 0);
    unsigned long ranks = (unsigned long)test.ranks, blocks = TOTAL / (unsigned long)round + 1;
    unsigned long message = (unsigned long)round + ranks, staged = 2 * message > 512 << 10 ? 2 * message : 512 << 10;
    unsigned long most = 2 * staged + ranks * (TABLE + 100) + ranks * blocks / 8 + 16384;
    CHECK_IN(allocated.bytes > 0 && allocated.bytes <= most, "%lu bytes, and not %lu", allocated.bytes, most);
    MPI_Comm_free(&comm);
    free(all);
    free(own);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_allocations");
    watch();
    sent = calloc(1, BLOCK);
    got = calloc((size_t)test.ranks * 4 + 4, BLOCK); /* displacements count ints in one of the calls */
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);

    allocated.count = 0;
    calls(0);
    CHECK(!test.expect || allocated.count > 0);
    calls(1);

    unsigned long most = 1;
    for (int round = 0; round < 6 && most; round++) { /* see allocations.c */
        allocated.count = 0;
        for (int i = 0; i < 50; i++) calls(i);
        most = most_allocations();
    }
    CHECK_IN(most == 0, "%lu allocations in 150 calls", most);
    scratch();
    free(sent);
    free(got);
    free(counts);
    free(displs);
    return finish();
}
