/* Many ranks send to one that sleeps. How much do they leave in its memory, all of them together, in many calls?
 *
 *   crowded KIND CALLS BYTES BEFORE LEAST MOST [FIRST]
 *
 * Rank 0 sleeps when BEFORE calls are over, and then there are CALLS more, of BYTES bytes each. A "gather" or "reduce"
 * is to rank 0, a "bcast" from each rank from FIRST (1) on in turn. So all of these send to rank 0, and leave LEAST KiB
 * there at the least and MOST at the most, with what a message takes besides its bytes.
 */
#include "counting.h"
#include <unistd.h>

/* Counted until well before rank 0 wakes: on busy cores others may leave the barrier later than it. */
enum { BYTES_MAX = 1 << 16, SLEEP_US = 6000000, COUNT_S = 3 };

int main(int argc, char **argv) {
    start(&argc, &argv, "crowded");
    find_counting();
    CHECK(argc == 7 || argc == 8);
    const char *kind = argv[1];
    long calls = atol(argv[2]), before_it = atol(argv[4]), least = atol(argv[5]), most = atol(argv[6]);
    int bytes = atoi(argv[3]), first = argc > 7 ? atoi(argv[7]) : 1, last = test.ranks - 1;
    CHECK_IN(bytes > 0 && bytes <= BYTES_MAX, "%d bytes", bytes);
    unsigned char own[BYTES_MAX], *all = malloc((size_t)test.ranks * BYTES_MAX);
    struct counts before = counts_of(kind);
    for (long i = 0; i < before_it + calls; i++) {
        if (i == before_it) {
            MPI_Barrier(MPI_COMM_WORLD);
            counting.watch(0, COUNT_S);
            if (test.rank == 0) usleep(SLEEP_US);
        }
        int value = (int)(i % 251), rc, root = first + (int)(i % (test.ranks - first));
        const unsigned char *got = own;
        memset(own, value, (size_t)bytes);
        if (!strcmp(kind, "gather")) {
            rc = MPI_Gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
            if (test.rank == 0) got = all + bytes * last;
        } else if (!strcmp(kind, "reduce")) {
            rc = MPI_Reduce(own, all, bytes, MPI_UNSIGNED_CHAR, MPI_BOR, 0, MPI_COMM_WORLD);
            if (test.rank == 0) got = all;
        } else {
            if (test.rank != root) memset(own, 255, (size_t)bytes);
            rc = MPI_Bcast(own, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
        }
        CHECK_IN(rc == MPI_SUCCESS, "call %ld", i);
        CHECK_IN(got[0] == value && got[bytes - 1] == value, "call %ld", i);
    }
    check_counts(before, (unsigned long long)(before_it + calls), 0);
    counting.end();
    long left = counting.left(), senders = left > 0, sums[2], numbers[2] = {left, senders};
    MPI_Allreduce(numbers, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (test.rank == 0 && test.expect) {
        fprintf(stderr, "%ld ranks left %ld KiB\n", sums[1], sums[0] >> 10);
        CHECK_IN(sums[1] == test.ranks - first, "only %ld sent something", sums[1]);
        CHECK_IN(sums[0] >= least << 10, "%ld bytes, and not %ld KiB", sums[0], least);
        CHECK_IN(sums[0] <= most << 10, "%ld bytes, and not %ld KiB", sums[0], most);
    }
    free(all);
    return finish();
}
