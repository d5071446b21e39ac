/* The program's floating-point environment is its own: with traps for exceptions no collective ends it, none leaves a
 * flag behind, and ranks that round in different ways get the same results.
 *
 * And the greatest and the least of numbers, among them NaN, 0 and -0, have the same bits in each call.
 */
#include "rondo_test.h"
#include <fenv.h>
#include <math.h>

enum { CALLS = 40, MOST = 20000 };
static const int TRAPS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW;

static double reals[MOST], summed[MOST * 2];
static float singles[MOST], singles_summed[MOST];
static int whole[MOST], whole_summed[MOST];

/* All that Rondo may take, of `n` elements. */
static void collectives(int n) {
    int p = test.ranks, part = n / p;
    MPI_Bcast(reals, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allgather(reals, part, MPI_DOUBLE, summed, part, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Gather(reals, part, MPI_DOUBLE, summed, part, MPI_DOUBLE, p - 1, MPI_COMM_WORLD);
    MPI_Scatter(reals, part, MPI_DOUBLE, summed, part, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Alltoall(reals, part, MPI_DOUBLE, summed, part, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Allreduce(reals, summed, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(summed[n - 1] == p);
    MPI_Allreduce(singles, singles_summed, n, MPI_FLOAT, MPI_PROD, MPI_COMM_WORLD);
    CHECK(singles_summed[n - 1] == 1);
    MPI_Allreduce(reals, summed, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Reduce(singles, singles_summed, n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(whole, whole_summed, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(whole_summed[n - 1] == p);
    MPI_Reduce_scatter_block(reals, summed, part, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(reals, summed, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(summed[n - 1] == test.rank + 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void nobody_sees_exceptions(void) {
    static const int sizes[] = {1, 40, 900, MOST};
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(TRAPS);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < CALLS; k++) collectives(sizes[i]);
    fedisableexcept(TRAPS);
    CHECK_IN(fetestexcept(TRAPS) == 0, "flags %x", fetestexcept(TRAPS));
}

static void ranks_round_as_they_like(void) {
    static const int ways[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fesetround(ways[test.rank % 4]);
    for (int n = 1; n <= MOST; n = n * 3 + 1) collectives(n);
    /* A size for which the row of the list has two ways that take equally long. */
    for (int k = 0; k < CALLS; k++) collectives(320 * test.ranks);
    CHECK(fegetround() == ways[test.rank % 4]);
    fesetround(FE_TONEAREST);
}

/* What the program has under way is computed as the program wants it, also while Rondo waits in the host. */
static void sums_under_way_are_rounded_up(void) {
    for (int k = 0; k < 10; k++) {
        MPI_Comm fresh;
        MPI_Request request;
        double own[4], sum[4];
        for (int i = 0; i < 4; i++) own[i] = test.rank ? 0x1p-70 : 1;
        MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
        fesetround(FE_UPWARD);
        MPI_Iallreduce(own, sum, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 3; i++) MPI_Bcast(whole, 100, MPI_INT, 0, fresh);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_IN(sum[0] > 1, "round %d", k);
        fesetround(FE_TONEAREST);
        MPI_Comm_free(&fresh);
    }
}

/* Hosts may give other bits from call to call: it is Rondo's calls that count. */
static void extremes_are_the_same_in_each_call(MPI_Op op, int n) {
    static const double some[] = {1, 0.0, -0.0, -3, 7, 12};
    double own[64], first[64], got[64];
    for (int i = 0; i < n; i++) {
        int of = (test.rank * 5 + i * 3) % 8;
        own[i] = of < 6 ? some[of] : (double)NAN;
    }
    unsigned long long before = counts_of("allreduce").rondo;
    for (int k = 0; k < 2 * CALLS; k++) {
        MPI_Allreduce(own, got, n, MPI_DOUBLE, op, MPI_COMM_WORLD);
        if (k == 0) memcpy(first, got, sizeof *got * (size_t)n);
        if (counts_of("allreduce").rondo == before) return;
        CHECK_IN(!memcmp(first, got, sizeof *got * (size_t)n), "%d numbers, call %d", n, k);
    }
    MPI_Bcast(got, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CHECK_IN(!memcmp(first, got, sizeof *got * (size_t)n), "%d numbers on rank 0 and on this one", n);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "floats");
    for (int i = 0; i < MOST; i++) reals[i] = singles[i] = (float)(whole[i] = 1);
    for (int n = 1; n <= 30; n++) {
        extremes_are_the_same_in_each_call(MPI_MAX, n);
        extremes_are_the_same_in_each_call(MPI_MIN, n);
    }
    nobody_sees_exceptions();
    ranks_round_as_they_like();
    sums_under_way_are_rounded_up();
    return finish();
}
