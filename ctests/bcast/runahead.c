/* A root that goes ahead: the last rank sleeps while the others broadcast a few bytes at a time. How many calls does
 * the root get through meanwhile, each of which leaves a message in the memory of somebody who is late?
 *
 *   runahead CALLS MOST [BYTES BEFORE]    so many broadcasts of so many bytes (64), of which the root may complete MOST
 *                                          before the last rank wakes (0: any number); so many (3) come before that
 */
#include "rondo_test.h"
#include <unistd.h>

/* Counted until well before the last rank wakes: on busy cores the root may leave the barrier later than it. */
enum { BYTES = 64, BYTES_MAX = 1 << 16, SLEEP_US = 6000000, COUNT_US = 3000000 };

int main(int argc, char **argv) {
    start(&argc, &argv, "runahead");
    long calls = argc > 1 ? atol(argv[1]) : 1000, most = argc > 2 ? atol(argv[2]) : 0, ahead = 0;
    int bytes = argc > 3 ? atoi(argv[3]) : BYTES, before_it = argc > 4 ? atoi(argv[4]) : 3;
    CHECK_IN(bytes > 0 && bytes <= BYTES_MAX, "%d bytes", bytes);
    static unsigned char buffer[BYTES_MAX];
    /* What is made at the first call is there when it counts. */
    for (int i = 0; i < before_it; i++) bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (test.rank == test.ranks - 1) usleep(SLEEP_US);
    struct counts before = counts_now();
    for (long i = 0; i < calls; i++) {
        memset(buffer, test.rank == 0 ? (int)(i % 251) : 255, (size_t)bytes);
        int rc = MPI_Bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        CHECK_IN(rc == MPI_SUCCESS, "call %ld", i);
        CHECK_IN(buffer[0] == i % 251 && buffer[bytes - 1] == i % 251, "call %ld", i);
        if (MPI_Wtime() - start < COUNT_US * 1e-6) ahead = i + 1;
    }
    check_counts(before, is_rondos_comm(MPI_COMM_WORLD) ? (unsigned long long)calls : 0,
                 is_rondos_comm(MPI_COMM_WORLD) ? 0 : (unsigned long long)calls);
    if (test.rank == 0 && names_algorithm()) {
        fprintf(stderr, "the root was %ld calls ahead\n", ahead);
        CHECK_IN(ahead > 0, "it waited %s", "for the last rank at once");
        if (most) CHECK_IN(ahead <= most, "%ld calls, and not %ld", ahead, most);
    }
    return finish();
}
