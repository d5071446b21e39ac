/* Times MPI_Bcast by the host MPI library and by Rondo in turns within one run.
 *
 *     bcast [-i REPETITIONS] [-r ROOT] BYTES...
 *
 * To be run with librondo.so preloaded: MPI_Bcast is then Rondo's, and the host's is fetched from the MPI library by
 * its handle. Every repetition times one broadcast of each between barriers; the time of a repetition is that of its
 * slowest rank, the figure is the minimum over the repetitions (and the median in brackets). Every answer is checked.
 * Columns: bytes, milliseconds of the host, milliseconds of Rondo, host/Rondo, Rondo's MB/s, how Rondo did it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int bcast_fn(void *, int, MPI_Datatype, int, MPI_Comm);
typedef unsigned long long calls_fn(const char *, const char *);

static bcast_fn *host_bcast(void) {
    const char *names[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY);
        if (library) return (bcast_fn *)dlsym(library, "PMPI_Bcast");
    }
    return NULL;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill(unsigned char *buffer, int bytes, int seed) {
    for (int i = 0; i < bytes; i++) buffer[i] = (unsigned char)(i * 13 + i / 255 + seed);
}

/* One broadcast; its time on the slowest rank. */
static double once(bcast_fn *bcast, unsigned char *buffer, int bytes, int root, int seed) {
    int rank, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == root) fill(buffer, bytes, seed);
    else memset(buffer, 0, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    bcast(buffer, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    double mine = MPI_Wtime() - start, slowest;
    for (int i = 0; i < bytes && !wrong; i++) wrong = buffer[i] != (unsigned char)(i * 13 + i / 255 + seed);
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (wrong) {
        fprintf(stderr, "bcast: wrong data\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return slowest;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, repetitions = 10, root = 0, arg = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (; arg + 1 < argc && argv[arg][0] == '-'; arg += 2) {
        if (!strcmp(argv[arg], "-i")) repetitions = atoi(argv[arg + 1]);
        else if (!strcmp(argv[arg], "-r")) root = atoi(argv[arg + 1]);
    }
    bcast_fn *host = host_bcast();
    calls_fn *calls = (calls_fn *)dlsym(RTLD_DEFAULT, "rondo_calls");
    if (!host || !calls || repetitions < 1 || arg >= argc) {
        if (rank == 0) fprintf(stderr, "usage: bcast [-i N] [-r ROOT] BYTES..., with librondo.so preloaded\n");
        MPI_Finalize();
        return 2;
    }
    if (rank == 0) printf("%10s %20s %20s %7s %8s  %s\n", "bytes", "host ms", "Rondo ms", "ratio", "MB/s", "by");
    double *times[2] = {malloc(sizeof(double) * repetitions), malloc(sizeof(double) * repetitions)};
    for (; arg < argc; arg++) {
        int bytes = atoi(argv[arg]);
        unsigned char *buffer = malloc(bytes + 1);
        once(host, buffer, bytes, root, 1); /* connections, page faults */
        once(MPI_Bcast, buffer, bytes, root, 2);
        unsigned long long before = calls("bcast", NULL);
        for (int i = 0; i < repetitions; i++) {
            times[0][i] = once(host, buffer, bytes, root, i);
            times[1][i] = once(MPI_Bcast, buffer, bytes, root, i + 7);
        }
        int ours = calls("bcast", NULL) > before;
        for (int i = 0; i < 2; i++) qsort(times[i], repetitions, sizeof(double), by_value);
        double h = times[0][0], r = times[1][0];
        if (rank == 0)
            printf("%10d %10.3f [%7.3f] %10.3f [%7.3f] %7.2f %8.1f  %s\n", bytes, h * 1e3,
                   times[0][repetitions / 2] * 1e3, r * 1e3, times[1][repetitions / 2] * 1e3, h / r,
                   bytes / r / 1e6, ours ? "Rondo" : "host");
        fflush(stdout);
        free(buffer);
    }
    MPI_Finalize();
    return 0;
}
