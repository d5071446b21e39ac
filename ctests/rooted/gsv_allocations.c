/* What MPI_Gatherv, MPI_Scatterv, MPI_Gather and MPI_Scatter of contiguous data allocate in Rondo.
 *
 * - After the first calls of a shape on a communicator: nothing, or next to nothing where the tree is adaptive.
 * - By calls whose blocks are far longer in all than RONDO_MAX_TMP_SIZE: not much more than that at a time, on
 *   any rank.
 *
 * A positive control shows that the count works: the first call on a communicator has to allocate.
 */
#include "allocations.h"
#include "blocks.h"

enum { BLOCK = 60000 };

static char *own, *all;
static int *counts, *displs;

/* Irregular with long blocks among short ones, irregular in place, regular; only the displacements change from call to
 * call. */
static void calls(int root, int i) {
    for (int r = 0; r < test.ranks; r++) {
        counts[r] = r % 3 == 2 ? BLOCK : r % 3 * 100;
        displs[r] = r * BLOCK + i % 2;
    }
    int mine = counts[test.rank];
    gatherv(own, mine, MPI_BYTE, all, counts, displs, MPI_BYTE, root, MPI_COMM_WORLD);
    scatterv(all, counts, displs, MPI_BYTE, own, mine, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int r = 0; r < test.ranks; r++) counts[r] = 1 + r;
    void *buffer = test.rank == root ? MPI_IN_PLACE : own;
    gatherv(buffer, counts[test.rank], MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
    scatterv(all, counts, displs, MPI_INT, buffer, counts[test.rank], MPI_INT, root, MPI_COMM_WORLD);
    gather(own, 200, MPI_BYTE, all, 200, MPI_BYTE, root, MPI_COMM_WORLD);
    scatter(all, 200, MPI_BYTE, own, 200, MPI_BYTE, root, MPI_COMM_WORLD);
}

/* Rank r has `bytes` bytes, or, where `mixed` says so, twenty times as many on every second rank. */
static void scratch(int bytes, int mixed, long limit, MPI_Comm comm) {
    int p = test.ranks, root = p / 2;
    for (int r = 0; r < p; r++) counts[r] = mixed && r % 2 ? 20 * bytes : bytes;
    lay_out(CONTIGUOUS, p, counts, 0, displs);
    int total = displs[p - 1] + counts[p - 1], mine = counts[test.rank];
    char *blocks = malloc((size_t)total), *block = malloc((size_t)mine);
    fill(block, (size_t)mine, (unsigned)test.rank);
    for (int way = 0; way < 2; way++) {
        memset(way ? block : blocks, 0, (size_t)(way ? mine : total));
        allocated.held = allocated.most = 0;
        if (way)
            scatterv(blocks, counts, displs, MPI_BYTE, block, mine, MPI_BYTE, root, comm);
        else
            gatherv(block, mine, MPI_BYTE, blocks, counts, displs, MPI_BYTE, root, comm);
        CHECK_IN(allocated.most <= limit + 16384, "%ld bytes at a time by a %s of %d bytes", allocated.most,
                 way ? "scatter" : "gather", total);
        for (int r = 0; r < p && test.rank == root; r++)
            CHECK(wrong(blocks + displs[r], (size_t)counts[r], (unsigned)r) == 0);
        CHECK(wrong(block, (size_t)mine, (unsigned)test.rank) == 0);
    }
    free(blocks);
    free(block);
}

/* Blocks that are as long as they can be to go through other ranks, and longer ones, which must not. */
static void bounded(void) {
    if (!test.expect || !getenv("RONDO_MAX_TMP_SIZE")) return;
    long limit = atol(getenv("RONDO_MAX_TMP_SIZE"));
    const int bytes[] = {(int)limit / test.ranks, 40000, 1000};
    for (int i = 0; i < 6; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        gather(own, 1, MPI_BYTE, all, 1, MPI_BYTE, test.ranks / 2, comm); /* handshake, private communicator */
        scratch(bytes[i / 2], i % 2, limit, comm);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_allocations");
    watch();
    own = calloc(1, BLOCK);
    all = calloc((size_t)test.ranks * 4 + 4, BLOCK); /* displacements count ints in one of the calls */
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);

    allocated.count = 0;
    calls(0, 0);
    CHECK(!test.expect || allocated.count > 0);
    for (int i = 0; i < 3; i++)
        for (int root = 0; root < test.ranks; root++) calls(root, i);

    allocated.count = 0;
    for (int i = 0; i < 50; i++) calls(i % test.ranks, i);
    /* How many short messages the search for an adaptive tree has under way at a time is a matter of luck. */
    const char *expect = expected("gatherv");
    unsigned long lucky = expect && !strcmp(expect, "adaptive") ? 5 : 0;
    CHECK_IN(allocated.count <= lucky, "%lu allocations in 300 calls", allocated.count);
    bounded();
    free(own);
    free(all);
    free(counts);
    free(displs);
    return finish();
}
