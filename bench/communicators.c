/* What the first calls on new communicators take: a program that makes many, and has a few calls on each.
 *
 *   communicators [-s | -d] CALLS [BYTES [COMMUNICATORS]]
 *
 * Every communicator is a duplicate of MPI_COMM_WORLD, and is freed before the next one is made. CALLS calls are timed
 * on each, of MPI_Allgather with BYTES bytes of all ranks together (80), or of sums of BYTES bytes by MPI_Allreduce, of
 * integers with -s and of doubles with -d. Run it without Rondo and with it preloaded. The figures are microseconds of
 * a communicator on the slowest rank: the median of all calls on it, with the barrier of the MPI library behind them,
 * and the mean.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int doubles = argc > 1 && !strcmp(argv[1], "-d");
    int rank, p, sums = doubles || (argc > 1 && !strcmp(argv[1], "-s"));
    char **of = argv + sums;
    int calls = argc - sums > 1 ? atoi(of[1]) : 1, bytes = argc - sums > 2 ? atoi(of[2]) : 80;
    int communicators = argc - sums > 3 ? atoi(of[3]) : 200;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    char *own = calloc(1, (size_t)bytes + 8), *all = calloc(1, (size_t)bytes + 8);
    double *us = malloc(sizeof *us * (size_t)communicators), sum = 0;
    for (int i = 0; i < 20; i++) MPI_Allgather(own, bytes / p, MPI_BYTE, all, bytes / p, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < communicators; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        PMPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int call = 0; call < calls; call++) {
            if (doubles) MPI_Allreduce(own, all, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
            else if (sums) MPI_Allreduce(own, all, bytes / 4, MPI_INT, MPI_SUM, comm);
            else MPI_Allgather(own, bytes / p, MPI_BYTE, all, bytes / p, MPI_BYTE, comm);
        }
        PMPI_Barrier(MPI_COMM_WORLD);
        us[i] = (MPI_Wtime() - start) * 1e6;
        PMPI_Allreduce(MPI_IN_PLACE, &us[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        sum += us[i];
        MPI_Comm_free(&comm);
    }
    qsort(us, (size_t)communicators, sizeof *us, ascending);
    if (rank == 0)
        printf("%d calls of %d bytes on each of %d communicators: median %.1f us, mean %.1f us\n", calls, bytes,
               communicators, us[communicators / 2], sum / communicators);
    free(us);
    free(own);
    free(all);
    MPI_Finalize();
    return 0;
}
