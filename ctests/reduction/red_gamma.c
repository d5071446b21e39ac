/* Long allreduces of four kinds, of which Rondo measures what it takes to reduce: integers and doubles, which it joins
 * itself; pairs, which the MPI library joins; and an operator of the program's, which is slow.
 */
#include "rondo_test.h"

enum { N = 1 << 17, CALLS = 6 };

struct pair {
    double value;
    int place;
};

static int whole[N], wholes[N];
static double real[N], sum[N];
static struct pair pairs[N], greatest[N];

/* A sum that takes many times as long as another one. */
static void slow_sum(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    const double *left = in;
    double *to = inout;
    for (int i = 0; i < *count; i++) {
        volatile double wait = left[i];
        for (int k = 0; k < 25; k++) wait = wait + 1.0;
        to[i] += wait - 25.0;
    }
}

static void doubles(MPI_Op op) {
    for (int i = 0; i < N; i++) real[i] = test.rank + i;
    CHECK(MPI_Allreduce(real, sum, N, MPI_DOUBLE, op, MPI_COMM_WORLD) == MPI_SUCCESS);
    int p = test.ranks;
    for (int i = 0; i < N; i += 997) CHECK(sum[i] == p * (p - 1) / 2.0 + (double)p * i);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_gamma");
    MPI_Op slow;
    MPI_Op_create(slow_sum, 1, &slow);
    for (int call = 0; call < CALLS; call++) {
        doubles(MPI_SUM);
        doubles(slow);
        for (int i = 0; i < N; i++) {
            whole[i] = test.rank + i;
            pairs[i] = (struct pair){(test.rank + i) % test.ranks, test.rank};
        }
        CHECK(MPI_Allreduce(whole, wholes, N, MPI_INT, MPI_MAX, MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(MPI_Allreduce(pairs, greatest, N, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD) == MPI_SUCCESS);
        for (int i = 0; i < N; i += 997) {
            CHECK(wholes[i] == test.ranks - 1 + i);
            CHECK(greatest[i].value == test.ranks - 1);
            CHECK((greatest[i].place + i) % test.ranks == test.ranks - 1);
        }
    }
    MPI_Op_free(&slow);
    return finish();
}
