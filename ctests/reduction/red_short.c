/* Short reductions as Rondo chooses: the same bits from the first call on a communicator to the last, whoever has
 * carried it out and however; and programs that make many communicators.
 *
 * With the argument "rondo" the shape is one where these calls are Rondo's, from the first one on a communicator on. A
 * number behind it says up to how many doubles that is so; there are no more then, because a host may add in another
 * order from call to call. With "root", sums of integers that go to a root are Rondo's.
 */
#include "rondo_test.h"

enum { CALLS = 50, MOST = 400, COMMS = 40 };

static const double some[] = {1e16, 1, -1e16, 3.5, 1e-3, -7e15, 0.1, 3e8};

static void sums_of_doubles(MPI_Comm comm, int n, int rondos, int in_place) {
    double own[MOST], first[MOST], got[MOST];
    struct counts before = counts_of("allreduce");
    for (int i = 0; i < n; i++) own[i] = some[(test.rank * 5 + i) % 8] * (1 + i % 3);
    for (int k = 0; k < CALLS; k++) {
        const void *from = in_place ? MPI_IN_PLACE : own;
        if (in_place) memcpy(got, own, sizeof *got * (size_t)n);
        CHECK(MPI_Allreduce(from, got, n, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS);
        if (k == 0) memcpy(first, got, sizeof *got * (size_t)n);
        CHECK_IN(!memcmp(first, got, sizeof *got * (size_t)n), "%d doubles, call %d", n, k);
    }
    MPI_Bcast(got, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CHECK_IN(!memcmp(first, got, sizeof *got * (size_t)n), "%d doubles on rank 0 and on this one", n);
    struct counts now = counts_of("allreduce");
    if (rondos) CHECK_IN(now.host == before.host && now.rondo == before.rondo + CALLS, "%d doubles by the host", n);
}

static void sums_of_integers(MPI_Comm comm, int rondos) {
    struct counts before = counts_of("allreduce");
    for (int k = 0; k < CALLS; k++) {
        int own = test.rank + k, got = 0;
        CHECK(MPI_Allreduce(&own, &got, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
        CHECK_IN(got == test.ranks * (test.ranks - 1) / 2 + k * test.ranks, "call %d: %d", k, got);
    }
    struct counts now = counts_of("allreduce");
    if (rondos) CHECK_IN(now.rondo == before.rondo + CALLS, "%llu by Rondo", now.rondo - before.rondo);
}

/* Pairs have gaps. */
static void minima_of_pairs(MPI_Comm comm) {
    struct pair {
        double value;
        int at;
    };
    for (int k = 0; k < CALLS; k++) {
        struct pair own = {(test.rank * 7 + k) % test.ranks, test.rank}, got = {-1, -1};
        CHECK(MPI_Allreduce(&own, &got, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm) == MPI_SUCCESS);
        CHECK_IN((got.at * 7 + k) % test.ranks == got.value, "call %d: %g at %d", k, got.value, got.at);
    }
}

/* Buffers that mean nothing on a rank are NULL, or one buffer has two names. */
static void sums_at_a_root(MPI_Comm comm, int rondos, int aliased) {
    struct counts before = counts_of("reduce");
    for (int k = 0; k < CALLS; k++) {
        int own = test.rank + k, got = own, is_root = test.rank == 0;
        const void *from = !aliased ? &own : is_root ? MPI_IN_PLACE : (void *)&got;
        void *to = aliased || is_root ? &got : NULL;
        CHECK(MPI_Reduce(from, to, 1, MPI_INT, MPI_SUM, 0, comm) == MPI_SUCCESS);
        if (is_root) CHECK_IN(got == test.ranks * (test.ranks - 1) / 2 + k * test.ranks, "call %d: %d", k, got);
    }
    struct counts now = counts_of("reduce");
    if (rondos) CHECK_IN(now.rondo == before.rondo + CALLS, "%llu by Rondo", now.rondo - before.rondo);
}

/* Only the last rank has a part. */
static void sums_for_one(MPI_Comm comm) {
    int counts[test.ranks], has = test.rank == test.ranks - 1;
    for (int r = 0; r < test.ranks; r++) counts[r] = r == test.ranks - 1;
    for (int k = 0; k < CALLS; k++) {
        int own = test.rank + k, got = -1;
        CHECK(MPI_Reduce_scatter(&own, has ? &got : NULL, counts, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
        if (has) CHECK_IN(got == test.ranks * (test.ranks - 1) / 2 + k * test.ranks, "call %d: %d", k, got);
    }
}

int main(int argc, char **argv) {
    static const int counts[] = {1, 2, 7, 100, MOST};
    start(&argc, &argv, "red_short");
    int rondos = argc > 1 && !strcmp(argv[1], "rondo") && test.expect && strcmp(test.expect, "off");
    int to_root = argc > 1 && !strcmp(argv[1], "root") && test.expect && strcmp(test.expect, "off");
    int longest = argc > 2 ? atoi(argv[2]) : MOST;
    MPI_Comm comm;
    for (int in_place = 0; in_place < 2; in_place++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int c = 0; c < 5 && counts[c] <= longest; c++) sums_of_doubles(comm, counts[c], rondos, in_place);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sums_of_integers(comm, rondos);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    minima_of_pairs(comm);
    MPI_Comm_free(&comm);
    for (int way = 0; way < 3; way++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (way < 2)
            sums_at_a_root(comm, to_root, way);
        else
            sums_for_one(comm);
        MPI_Comm_free(&comm);
    }
    for (int k = 0; k < COMMS; k++) {
        double own = some[(test.rank + k) % 8], got = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        CHECK(MPI_Allreduce(&own, &got, 1, MPI_DOUBLE, MPI_MAX, comm) == MPI_SUCCESS);
        CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
        double most = some[k % 8];
        for (int r = 0; r < test.ranks; r++)
            if (some[(r + k) % 8] > most) most = some[(r + k) % 8];
        CHECK_IN(got == most, "communicator %d: %g", k, got);
        MPI_Comm_free(&comm);
    }
    return finish();
}
