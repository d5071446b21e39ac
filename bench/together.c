/* Times one collective of the program's MPI library, whatever is preloaded: what bench/best runs again and again.
 *
 *     together [-w CALLS] COLLECTIVE REPETITIONS BYTES...
 *
 * With -w, so many calls of each size come first and are not timed.
 *
 * COLLECTIVE is bcast, allgather, or allgatherv with one of the distributions of bench/allgatherv.c: same (equal parts)
 * or one (one rank has all). BYTES are those that every rank has in the end. Or it is allreduce, reduce or
 * reduce_scatter: sums of doubles, or of integers with "-int" behind the name, and BYTES are those of each rank's
 * vector; or alltoall, with BYTES for all blocks of a rank; or barrier. A line for each number of bytes: bytes, the
 * least time of the slowest rank in microseconds, and the median.
 *
 * All ranks begin at a moment on which they agreed, if their clocks are the same (one machine, or nodes emulated on
 * one): behind a barrier over latency they would begin one after another, and short calls would look too fast.
 * Otherwise they begin behind two barriers, and the first column is marked by '~'.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds after the agreement at which a call begins. */
#define AHEAD 0.02
/* Clocks are the same if they differ by less than this behind a barrier. */
#define SAME_CLOCK 0.5

static int rank, ranks, same_clock;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Begins a call; the time from which it counts. */
static double begin(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (!same_clock) {
        MPI_Barrier(MPI_COMM_WORLD);
        return now();
    }
    double mine = now(), last;
    MPI_Allreduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    last += AHEAD;
    while ((mine = now()) < last)
        if (last - mine > 3e-4) usleep((useconds_t)((last - mine) * 1e6 - 200));
        else sched_yield();
    return last;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int untimed = 0;
    if (argc > 2 && !strcmp(argv[1], "-w")) untimed = atoi(argv[2]), argv += 2, argc -= 2;
    if (argc < 4) {
        if (rank == 0) fprintf(stderr, "usage: together [-w CALLS] COLLECTIVE REPETITIONS BYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    char *name = argv[1], *suffix = strstr(name, "-int");
    MPI_Datatype type = suffix ? MPI_INT64_T : MPI_DOUBLE; /* of 8 bytes, both */
    if (suffix) *suffix = 0;
    int repetitions = atoi(argv[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    double mine[2] = {now(), -now()}, most[2];
    MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    same_clock = most[0] + most[1] < SAME_CLOCK;
    double *times = calloc((size_t)repetitions, sizeof *times);
    int *counts = calloc((size_t)ranks, sizeof *counts), *places = calloc((size_t)ranks, sizeof *places);
    for (int a = 3; a < argc; a++) {
        int bytes = atoi(argv[a]), part = bytes / ranks;
        char *buffer = malloc((size_t)bytes + 1);
        memset(buffer, rank, (size_t)bytes + 1);
        int n = bytes / (int)sizeof(double), *parts = calloc((size_t)ranks, sizeof *parts);
        double *sum = malloc((size_t)bytes + sizeof *sum), *vector = malloc((size_t)bytes + sizeof *vector);
        for (int i = 0; i < n; i++) vector[i] = rank + i, sum[i] = 0;
        for (int r = 0; r < ranks; r++) parts[r] = n / ranks + (r < n % ranks);
        for (int r = 0; r < ranks; r++) {
            counts[r] = strcmp(name, "one") ? part : (r == 0) * bytes;
            places[r] = strcmp(name, "one") ? r * part : (r > 0) * bytes;
        }
        for (int i = -untimed; i < repetitions; i++) {
            double start = begin();
            if (!strcmp(name, "allreduce")) MPI_Allreduce(vector, sum, n, type, MPI_SUM, MPI_COMM_WORLD);
            else if (!strcmp(name, "reduce")) MPI_Reduce(vector, sum, n, type, MPI_SUM, 0, MPI_COMM_WORLD);
            else if (!strcmp(name, "reduce_scatter"))
                MPI_Reduce_scatter(vector, sum, parts, type, MPI_SUM, MPI_COMM_WORLD);
            else if (!strcmp(name, "alltoall"))
                MPI_Alltoall(buffer, part, MPI_BYTE, sum, part, MPI_BYTE, MPI_COMM_WORLD);
            else if (!strcmp(name, "barrier")) MPI_Barrier(MPI_COMM_WORLD);
            else if (!strcmp(name, "bcast")) MPI_Bcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
            else if (!strcmp(name, "allgather"))
                MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, buffer, part, MPI_BYTE, MPI_COMM_WORLD);
            else
                MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, buffer, counts, places, MPI_BYTE, MPI_COMM_WORLD);
            double time = now() - start;
            double slowest;
            MPI_Allreduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (i >= 0) times[i] = slowest;
        }
        qsort(times, (size_t)repetitions, sizeof *times, by_value);
        if (rank == 0)
            printf("%s%d %.1f %.1f\n", same_clock ? "" : "~", bytes, times[0] * 1e6, times[repetitions / 2] * 1e6);
        fflush(stdout);
        free(buffer), free(parts), free(sum), free(vector);
    }
    MPI_Finalize();
    return 0;
}
