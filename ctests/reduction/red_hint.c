/* What is promised of the bits of sums on one communicator, by the hint rondo_reproducible: in the order of ranks on a
 * duplicate, whatever holds elsewhere. A hint counts before the first collective on its communicator, and is that of
 * rank 0. A value that is none, and hints of others, change nothing.
 */
#include "rondo_test.h"

enum { N = 500 };

static double operand(int rank, int i) {
    static const double some[] = {1e16, 1, -1e16, 3.5, 1e-3, -7e15, 0.1};
    return some[(rank * 3 + i) % 7] * (1 + i % 5);
}

/* How many calls Rondo carries out in a sum, and whether the bits are those of a loop over the ranks. */
static unsigned long long sum(MPI_Comm comm, int *in_order) {
    double own[N], got[N];
    for (int i = 0; i < N; i++) own[i] = operand(test.rank, i);
    unsigned long long before = test.expect ? test.calls("allreduce", NULL) : 0;
    MPI_Allreduce(own, got, N, MPI_DOUBLE, MPI_SUM, comm);
    *in_order = 1;
    for (int i = 0; i < N; i++) {
        double all = operand(0, i);
        for (int r = 1; r < test.ranks; r++) all += operand(r, i);
        if (memcmp(&all, &got[i], sizeof all)) *in_order = 0;
    }
    return test.expect ? test.calls("allreduce", NULL) - before : 0;
}

static MPI_Info info_of(const char *key, const char *value) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static MPI_Comm with(const char *value) {
    MPI_Comm comm;
    MPI_Info info = info_of("rondo_reproducible", value);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

/* Sums on the communicator are Rondo's, in order; or the host's. */
static void check_sums(MPI_Comm comm, int ordered, const char *which) {
    int in_order, rondos = test.expect && test.ranks >= 3 && ordered;
    for (int k = 0; k < 3; k++) {
        unsigned long long calls = sum(comm, &in_order);
        CHECK_IN(calls == (unsigned long long)rondos, "%s: %llu by Rondo", which, calls);
        CHECK_IN(in_order || !rondos, "%s: not in order", which);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_hint");
    MPI_Comm comm = with("order");
    check_sums(comm, 1, "order");
    MPI_Comm again;
    MPI_Comm_dup(comm, &again);
    check_sums(again, 0, "a duplicate without hints");
    MPI_Comm_free(&again);
    MPI_Comm_free(&comm);

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Info info = info_of("rondo_reproducible", "Order");
    MPI_Comm_set_info(comm, info);
    check_sums(comm, 1, "set");
    MPI_Comm_free(&comm);

    /* Too late. */
    check_sums(MPI_COMM_WORLD, 0, "the world");
    MPI_Comm_set_info(MPI_COMM_WORLD, info);
    check_sums(MPI_COMM_WORLD, 0, "the world, afterwards");
    MPI_Info_free(&info);

    comm = with(test.rank == 0 ? "order" : "host");
    check_sums(comm, 1, "as rank 0 has it");
    MPI_Comm_free(&comm);
    comm = with("sometimes");
    check_sums(comm, 0, "no promise");
    MPI_Comm_free(&comm);

    info = info_of("something_else", "order");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    check_sums(comm, 0, "another hint");
    MPI_Comm_free(&comm);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    check_sums(comm, 0, "without hints");
    MPI_Comm_free(&comm);
    return finish();
}
