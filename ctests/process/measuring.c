/* What Rondo sends when the job begins: to measure the network, and for the ranks to agree. Nothing of that comes
 * again.
 *
 *   measuring MOST LEAST    to measure, so many messages of a rank, at the most, and of the rank that sends most, at
 *                           the least
 *
 * The broadcasts are one message from the root to each other rank.
 */
#include "counting.h"

enum { BYTES = 2000, ROOT = 0, AGREEMENTS = 2 };

/* The messages of this rank in a broadcast, but for those of the broadcast itself. */
static long more_than_needed(MPI_Comm comm) {
    static unsigned char buffer[BYTES];
    long before = counting.of("sends");
    bcast(buffer, BYTES, MPI_BYTE, ROOT, comm);
    return counting.of("sends") - before - (test.rank == ROOT ? test.ranks - 1 : 0);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "measuring");
    find_counting();
    CHECK(argc == 3);
    long most = atol(argv[1]), least = atol(argv[2]), first = counting.of("sends"), farthest;
    /* The ranks agree on memory and on the figures; and the lowest of a node tells the others where its memory is. */
    long more = AGREEMENTS * messages_of_an_agreement() / test.ranks + test.ranks - 1;
    fprintf(stderr, "rank %d began with %ld messages\n", test.rank, first);
    CHECK_IN(first >= 0 && first <= most + more, "%ld messages, and not %ld", first, most + more);
    CHECK_IN(counting.of("open") == 0, "%ld requests are left", counting.of("open"));
    MPI_Allreduce(&first, &farthest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    CHECK_IN(farthest >= least, "%ld messages, and not %ld", farthest, least);

    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int i = 0; i < 20; i++) {
        CHECK_IN(more_than_needed(MPI_COMM_WORLD) == 0, "call %d", i);
        CHECK_IN(more_than_needed(other) == 0, "call %d on another communicator", i);
    }
    MPI_Comm_free(&other);
    return finish();
}
