/* What sums by a function of the program's take, and how often each rank calls it.
 *
 *   calls [MICROSECONDS]
 *
 * MPI_Allreduce of 16 KiB to 4 MiB of doubles by MPI_COMM_WORLD, added up by a function that takes so many
 * microseconds (0) more in each call, as one that an interpreter runs does. Run it without Rondo and with it preloaded.
 * The figures are microseconds on the slowest rank: the least of 40 calls, each behind a barrier of the MPI library.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double more;
static long calls;

static void sum(void *in, void *inout, int *count, MPI_Datatype *datatype) {
    const double *left = in;
    double *right = inout, start = MPI_Wtime();
    (void)datatype;
    calls++;
    for (int i = 0; i < *count; i++) right[i] += left[i];
    while (more > 0 && MPI_Wtime() - start < more) continue;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Op op;
    more = argc > 1 ? atof(argv[1]) * 1e-6 : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(sum, 1, &op);
    for (int bytes = 16 << 10; bytes <= 4 << 20; bytes *= 4) {
        int n = bytes / (int)sizeof(double);
        double *own = calloc((size_t)n, sizeof *own), *all = calloc((size_t)n, sizeof *all), least = 1e9;
        for (int i = 0; i < 40; i++) {
            PMPI_Barrier(MPI_COMM_WORLD);
            calls = 0;
            double start = MPI_Wtime();
            MPI_Allreduce(own, all, n, MPI_DOUBLE, op, MPI_COMM_WORLD);
            double us = (MPI_Wtime() - start) * 1e6;
            PMPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (us < least) least = us;
        }
        if (rank == 0) printf("%d bytes: %.0f us, %ld calls\n", bytes, least, calls);
        free(own);
        free(all);
    }
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
