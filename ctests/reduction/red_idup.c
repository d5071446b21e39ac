/* Sums of doubles after MPI_Comm_idup. Open MPI lets Rondo make no communicator then. Whether it had one before, for
 * broadcasts, may follow from clocks, so sums may not use that one; but if sums used it before, they go on by it.
 *
 *   red_idup        a broadcast makes it
 *   red_idup sums   sums do
 *   red_idup short  a broadcast makes it, and a short sum over nodes, which needs none, may use it
 *   red_idup node [SUMS]
 *                   nothing makes it but as many sums on one node, and 40 come after: none of them needs it, and all
 *                   have the same bits
 */
#include "rondo_test.h"

enum { N = 1 << 15 };

enum { AFTER = 40 };

static void on_one_node(int sums) {
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
    if (argc > 1 && !strcmp(argv[1], "node")) {
        on_one_node(argc > 2 ? atoi(argv[2]) : 0);
        return finish();
    }
    int sums = argc > 1 && !strcmp(argv[1], "sums"), is_short = argc > 1 && !sums;
    MPI_Comm comm, again;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    double *own = malloc(N * sizeof *own), *got = malloc(N * sizeof *got);
    for (int i = 0; i < N; i++) own[i] = test.rank + i;
    struct counts before = counts_of("bcast");
    MPI_Bcast(got, N, MPI_DOUBLE, 0, comm);
    check_counts(before, 1, 0);
    before = counts_of("allreduce");
    if (sums) MPI_Allreduce(own, got, N, MPI_DOUBLE, MPI_SUM, comm);
    check_counts(before, (unsigned long long)sums, 0);
    before = counts_of("allreduce");
    if (is_short) MPI_Allreduce(own, got, 1, MPI_DOUBLE, MPI_SUM, comm);
    check_counts(before, (unsigned long long)is_short, 0);
    MPI_Comm_idup(comm, &again, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    before = counts_of("allreduce");
    MPI_Allreduce(own, got, N, MPI_DOUBLE, MPI_SUM, comm);
    struct counts now = counts_of("allreduce");
    for (int i = 0; i < N; i++) CHECK(got[i] == test.ranks * (test.ranks - 1) / 2 + (double)test.ranks * i);
#ifdef OPEN_MPI
    int is_rondos = sums;
#else
    int is_rondos = 1;
#endif
    if (test.expect)
        CHECK_IN(now.rondo - before.rondo == (unsigned long long)is_rondos, "%llu by Rondo", now.rondo - before.rondo);
    MPI_Comm_free(&again), MPI_Comm_free(&comm);
    free(own), free(got);
    return finish();
}
