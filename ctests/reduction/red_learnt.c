/* Short sums of doubles over nodes, for which Rondo has two ways with the same bits: it tries both, the MPI library has
 * none of the calls, and the bits are those of the first call, whoever is faster.
 *
 * With the argument "alone" only the bits count.
 */
#include "rondo_test.h"

enum { CALLS = 400, MOST = 600 };

static const double some[] = {1e16, 1, -1e16, 3.5, 1e-3, -7e15, 0.1, 3e8};

static unsigned long long by(const char *algorithm) { return test.calls ? test.calls("allreduce", algorithm) : 0; }

int main(int argc, char **argv) {
    static const int sizes[] = {1, 40, MOST};
    static double own[MOST], first[MOST], got[MOST];
    start(&argc, &argv, "red_learnt");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s];
        unsigned long long halving = by("halving"), gather = by("gather"), host = by("host");
        for (int i = 0; i < n; i++) own[i] = some[(test.rank * 5 + i) % 8] * (1 + i % 3);
        for (int k = 0; k < CALLS; k++) {
            CHECK(MPI_Allreduce(own, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
            if (k == 0) memcpy(first, got, sizeof *got * (size_t)n);
            CHECK_IN(!memcmp(first, got, sizeof *got * (size_t)n), "%d doubles, call %d", n, k);
        }
        MPI_Bcast(got, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        CHECK_IN(!memcmp(first, got, sizeof *got * (size_t)n), "%d doubles on rank 0 and on this one", n);
        if (!test.calls || argc > 1) continue;
        CHECK_IN(by("halving") > halving && by("gather") > gather, "%d doubles in one way only", n);
        CHECK_IN(by("host") == host, "%d doubles by the MPI library", n);
    }
    return finish();
}
