/* Times short calls of one collective of the program's MPI library, whatever is preloaded: what bench/short runs in
 * turns.
 *
 *     short COLLECTIVE CALLS BYTES...
 *
 * COLLECTIVE is allreduce (a sum of doubles), allreduce-int (of 64-bit integers), bcast, allgather, alltoall or
 * barrier. BYTES are those of a rank's vector or block. A line for each number of bytes: bytes, microseconds of a call
 * behind a barrier (the mean over the ranks of their medians), and of one of many calls that follow each other (the
 * slowest rank). As many calls as are timed come first, so that what is made once is not among them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void call(const char *collective, void *send, void *receive, int bytes) {
    MPI_Comm world = MPI_COMM_WORLD;
    if (strcmp(collective, "allreduce") == 0) MPI_Allreduce(send, receive, bytes / 8, MPI_DOUBLE, MPI_SUM, world);
    else if (strcmp(collective, "allreduce-int") == 0)
        MPI_Allreduce(send, receive, bytes / 8, MPI_INT64_T, MPI_SUM, world);
    else if (strcmp(collective, "bcast") == 0) MPI_Bcast(send, bytes, MPI_BYTE, 0, world);
    else if (strcmp(collective, "allgather") == 0)
        MPI_Allgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, world);
    else if (strcmp(collective, "alltoall") == 0)
        MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, world);
    else if (strcmp(collective, "barrier") == 0) MPI_Barrier(world);
    else {
        fprintf(stderr, "short: no collective \"%s\"\n", collective);
        MPI_Abort(world, 2);
    }
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc < 4 || atoi(argv[2]) < 1) {
        fprintf(stderr, "usage: short COLLECTIVE CALLS BYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int rank, ranks, calls = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *times = malloc((size_t)calls * sizeof *times);
    for (int i = 3; i < argc; i++) {
        int bytes = atoi(argv[i]);
        char *send = calloc((size_t)ranks, (size_t)bytes + 8), *receive = calloc((size_t)ranks, (size_t)bytes + 8);
        for (int n = -calls; n < calls; n++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double start = MPI_Wtime();
            call(argv[1], send, receive, bytes);
            if (n >= 0) times[n] = MPI_Wtime() - start;
        }
        qsort(times, (size_t)calls, sizeof *times, ascending);
        double own[2] = {times[calls / 2], 0}, sum, longest;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int n = 0; n < calls; n++) call(argv[1], send, receive, bytes);
        own[1] = (MPI_Wtime() - start) / calls;
        MPI_Reduce(&own[0], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(&own[1], &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%d %.2f %.2f\n", bytes, sum / ranks * 1e6, longest * 1e6);
        free(send);
        free(receive);
    }
    free(times);
    MPI_Finalize();
    return 0;
}
