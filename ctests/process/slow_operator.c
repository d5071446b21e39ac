/* Long allreduces by an operator of the program's that takes much longer than any network. */
#include "rondo_test.h"
#include <unistd.h>

enum { N = 1 << 16, CALLS = 12, SLOW_US = 2000 };

static void slow_sum(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    const double *left = in;
    double *to = inout;
    for (int i = 0; i < *count; i++) to[i] += left[i];
    usleep(SLOW_US);
}

int main(int argc, char **argv) {
    static double own[N], sum[N];
    start(&argc, &argv, "slow_operator");
    MPI_Op slow;
    MPI_Op_create(slow_sum, 1, &slow);
    int p = test.ranks;
    for (int call = 0; call < CALLS; call++) {
        for (int i = 0; i < N; i++) own[i] = test.rank + i;
        CHECK(MPI_Allreduce(own, sum, N, MPI_DOUBLE, slow, MPI_COMM_WORLD) == MPI_SUCCESS);
        for (int i = 0; i < N; i += 997) CHECK(sum[i] == p * (p - 1) / 2.0 + (double)p * i);
    }
    MPI_Op_free(&slow);
    return finish();
}
