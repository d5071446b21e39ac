/* The root of a gather sleeps. How many calls does any other rank get through meanwhile, each of which may leave
 * something in the root's memory?
 *
 *   gsv_ahead CALLS BYTES MOST    so many gathers of so many bytes from each rank, of which MOST may be complete before
 *                                 the root wakes
 */
#include "rondo_test.h"
#include <unistd.h>

/* Counted until well before the root wakes: on busy cores others may leave the barrier later than it. */
enum { BYTES_MAX = 1 << 16, SLEEP_US = 6000000, COUNT_US = 3000000 };

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_ahead");
    CHECK(argc == 4);
    long calls = atol(argv[1]), most = atol(argv[3]), ahead = 0, farthest = 0;
    int bytes = atoi(argv[2]), last = test.ranks - 1;
    CHECK_IN(bytes > 0 && bytes <= BYTES_MAX, "%d bytes", bytes);
    unsigned char own[BYTES_MAX], *all = malloc((size_t)test.ranks * BYTES_MAX);
    double start = 0;
    struct counts before = counts_of("gather");
    for (long i = -3; i < calls; i++) {
        /* What is made at the first calls is there when it counts. */
        if (i == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            start = MPI_Wtime();
            if (test.rank == 0) usleep(SLEEP_US);
        }
        int value = (int)((i + 3) % 251);
        memset(own, value, (size_t)bytes);
        int rc = MPI_Gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        CHECK_IN(rc == MPI_SUCCESS, "call %ld", i);
        const unsigned char *got = all + bytes * last;
        CHECK_IN(test.rank || (got[0] == value && got[bytes - 1] == value), "call %ld", i);
        if (i >= 0 && MPI_Wtime() - start < COUNT_US * 1e-6) ahead = i + 1;
    }
    check_counts(before, (unsigned long long)calls + 3, 0);
    MPI_Allreduce(&ahead, &farthest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (test.rank == 0 && names_algorithm()) {
        fprintf(stderr, "a rank was %ld calls ahead\n", farthest);
        CHECK_IN(farthest > 0, "all waited %s", "for the root at once");
        CHECK_IN(farthest <= most, "%ld calls, and not %ld", farthest, most);
    }
    free(all);
    return finish();
}
