/* Sums of doubles after MPI_Comm_idup, which Open MPI mixes up with what Rondo would agree on by a nonblocking
 * reduction: they are Rondo's, and keep their bits.
 *
 *   red_idup [SUMS]   so many sums before it, and 40 behind
 */
#include "rondo_test.h"

enum { N = 1 << 15 };

enum { AFTER = 40 };

static void sum(int sums) {
    static double own[N], first[N], got[N];
    MPI_Comm comm, again;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    static const double some[] = {1e16, -1e16, 3.25};
    for (int i = 0; i < N; i++) own[i] = some[(test.rank + i) % 3] * (1 + i % 7);
    struct counts before = counts_of("allreduce");
    for (int k = 0; k < sums + AFTER; k++) {
        if (k == sums) {
            MPI_Comm_idup(comm, &again, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Allreduce(own, got, N, MPI_DOUBLE, MPI_SUM, comm);
        if (k == 0) memcpy(first, got, sizeof got);
        if (test.expect) CHECK_IN(!memcmp(first, got, sizeof got), "call %d", k);
    }
    struct counts now = counts_of("allreduce");
    if (test.expect) CHECK_IN(now.host == before.host, "%llu by the host", now.host - before.host);
    if (test.expect) CHECK(now.rondo - before.rondo == (unsigned long long)(sums + AFTER));
    MPI_Comm_free(&again), MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_idup");
    sum(argc > 1 ? atoi(argv[1]) : 0);
    return finish();
}
