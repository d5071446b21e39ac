/* Allreduces by operators that not every algorithm can carry out: three sums of doubles, two sums of integers, four
 * maxima of integers, and five calls of an operator that does not commute. The rows of the list say which algorithm
 * each of them must have, and for what reason. Each kind has a length of its own, and so a line of the trace.
 */
#include "rondo_test.h"

enum { N = 100000 };

static int whole[N], got[N];
static double real[N], sum[N];

/* What comes last stays. */
static void last(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}

static void integers(MPI_Op op, int n, int want, int times) {
    for (int k = 0; k < times; k++) {
        for (int i = 0; i < n; i++) whole[i] = test.rank + i;
        CHECK(MPI_Allreduce(whole, got, n, MPI_INT, op, MPI_COMM_WORLD) == MPI_SUCCESS);
        for (int i = 0; i < n; i += 997) {
            int expected = op == MPI_SUM ? want + test.ranks * i : want + i;
            CHECK_IN(got[i] == expected, "%d of %d: %d, not %d", k, i, got[i], expected);
        }
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_reasons");
    int p = test.ranks;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < N; i++) real[i] = test.rank + i;
        CHECK(MPI_Allreduce(real, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
        for (int i = 0; i < N; i += 997) CHECK(sum[i] == p * (p - 1) / 2.0 + (double)p * i);
    }
    integers(MPI_SUM, N, p * (p - 1) / 2, 2);
    integers(MPI_MAX, N / 2, p - 1, 4);
    MPI_Op op;
    MPI_Op_create(last, 0, &op);
    integers(op, N / 4, p - 1, 5);
    MPI_Op_free(&op);
    return finish();
}
