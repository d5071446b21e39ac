/* Times collectives inside a node by the host MPI library and by Rondo in turns within one run.
 *
 *     node [-i BATCHES] [-r ROOT] [-c COLLECTIVE[,COLLECTIVE...]] BYTES...
 *
 * COLLECTIVE is bcast, allgather, allgatherv, gather, gatherv, scatter or scatterv (default: all). BYTES are those of
 * the message of a broadcast, and for the others those of all ranks together (rounded down to a multiple of their
 * number).
 *
 * To be run with librondo.so preloaded: the functions by their own names are then Rondo's, and the host's are fetched
 * from the MPI library by its handle. A batch is a number of calls of one of them, each followed by a barrier of the
 * host, so that no rank runs ahead; its time is that from a barrier before it to its end on the slowest rank, barriers
 * included. Batches of host and Rondo take turns, and their order is reversed each time. Single calls are not timed:
 * where ranks share a core, a rank that starts its clock late finds the work done.
 * Columns: collective, bytes, microseconds of a call of the host and of Rondo (median over the batches, least in
 * brackets), host/Rondo of the medians and of the least, GB/s into the receive buffers of all ranks by Rondo, by memcpy
 * of as many bytes (each rank for itself, all at the same time), who carried the calls out.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long calls_fn(const char *, const char *);

static void *library;

/* The host's function of this name. */
static void *host(const char *name) {
    const char *names[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"};
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY);
    void *function = library ? dlsym(library, name) : NULL;
    if (!function) {
        fprintf(stderr, "node: no %s in the MPI library\n", name);
        exit(2);
    }
    return function;
}

typedef int bcast_fn(void *, int, MPI_Datatype, int, MPI_Comm);
typedef int allgather_fn(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
typedef int allgatherv_fn(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm);
typedef int gather_fn(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
typedef int gatherv_fn(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, int, MPI_Comm);
typedef int scatterv_fn(const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);

enum kind { BCAST, ALLGATHER, ALLGATHERV, GATHER, GATHERV, SCATTER, SCATTERV, KINDS };
static const char *const words[] = {"bcast", "allgather", "allgatherv", "gather", "gatherv", "scatter", "scatterv"};
static const char *const symbols[] = {"PMPI_Bcast",   "PMPI_Allgather", "PMPI_Allgatherv", "PMPI_Gather",
                                      "PMPI_Gatherv", "PMPI_Scatter",   "PMPI_Scatterv"};
static void *const rondos[] = {(void *)MPI_Bcast,   (void *)MPI_Allgather, (void *)MPI_Allgatherv, (void *)MPI_Gather,
                               (void *)MPI_Gatherv, (void *)MPI_Scatter,   (void *)MPI_Scatterv};
static void *hosts[KINDS];
static int (*barrier)(MPI_Comm);

static int rank, ranks, root, *counts, *displs;
static unsigned char *block, *all;

/* One call: `each` bytes of every rank, for a broadcast of the root. */
static void call(enum kind kind, void *function, int each) {
    MPI_Comm comm = MPI_COMM_WORLD;
    switch (kind) {
    case BCAST: ((bcast_fn *)function)(all, each, MPI_BYTE, root, comm); break;
    case ALLGATHER: ((allgather_fn *)function)(block, each, MPI_BYTE, all, each, MPI_BYTE, comm); break;
    case ALLGATHERV: ((allgatherv_fn *)function)(block, each, MPI_BYTE, all, counts, displs, MPI_BYTE, comm); break;
    case GATHER: ((gather_fn *)function)(block, each, MPI_BYTE, all, each, MPI_BYTE, root, comm); break;
    case GATHERV: ((gatherv_fn *)function)(block, each, MPI_BYTE, all, counts, displs, MPI_BYTE, root, comm); break;
    case SCATTER: ((gather_fn *)function)(all, each, MPI_BYTE, block, each, MPI_BYTE, root, comm); break;
    default: ((scatterv_fn *)function)(all, counts, displs, MPI_BYTE, block, each, MPI_BYTE, root, comm);
    }
}

static double slowest(double mine) {
    double all_of_them;
    MPI_Allreduce(&mine, &all_of_them, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all_of_them;
}

/* Microseconds of a call in a batch of `calls`. */
static double batch(enum kind kind, void *function, int each, int calls) {
    barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++) {
        call(kind, function, each);
        barrier(MPI_COMM_WORLD);
    }
    return slowest(MPI_Wtime() - start) / calls * 1e6;
}

static unsigned char value(int of, int i) { return (unsigned char)(of * 37 + i * 13 + i / 255); }

/* Is the answer right? */
static void check(enum kind kind, int each) {
    int wrong = 0, parts = kind == BCAST ? 1 : ranks;
    for (int r = 0; r < parts; r++)
        for (int i = 0; i < each; i++) {
            unsigned char v = value(kind == BCAST ? root : r, i);
            if (kind == BCAST || kind == SCATTER || kind == SCATTERV ? rank == root : 1)
                all[(size_t)r * each + i] = kind == BCAST || kind >= SCATTER ? v : 0;
            else all[(size_t)r * each + i] = 0;
        }
    for (int i = 0; i < each; i++) block[i] = kind >= SCATTER ? 0 : value(rank, i);
    call(kind, rondos[kind], each);
    if (kind >= SCATTER)
        for (int i = 0; i < each; i++) wrong |= block[i] != value(rank, i);
    else if (kind == GATHER || kind == GATHERV ? rank == root : 1)
        for (int r = 0; r < parts; r++)
            for (int i = 0; i < each; i++) wrong |= all[(size_t)r * each + i] != value(kind == BCAST ? root : r, i);
    if (slowest(wrong) > 0) {
        fprintf(stderr, "node: wrong data by MPI_%s\n", words[kind]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* GB/s of all ranks together when each copies `bytes` bytes by itself. */
static double memcpy_rate(double bytes, int calls) {
    size_t part = (size_t)bytes;
    unsigned char *from = malloc(part), *to = malloc(part);
    memset(from, 1, part);
    memset(to, 2, part);
    double best = 1e30;
    for (int i = 0; i < 3; i++) {
        barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int j = 0; j < calls; j++) {
            memcpy(to, from, part);
            __asm__ volatile("" : : "r"(to) : "memory");
        }
        barrier(MPI_COMM_WORLD);
        double time = slowest(MPI_Wtime() - start) / calls;
        if (time < best) best = time;
    }
    free(from);
    free(to);
    return bytes * ranks / best / 1e9;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int batches = 11, wanted = (1 << KINDS) - 1, first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        if (argv[first][1] == 'i') batches = atoi(argv[first + 1]);
        if (argv[first][1] == 'r') root = atoi(argv[first + 1]);
        if (argv[first][1] == 'c') {
            wanted = 0;
            for (char *word = strtok(argv[first + 1], ","); word; word = strtok(NULL, ","))
                for (int k = 0; k < KINDS; k++) wanted |= strcmp(word, words[k]) == 0 ? 1 << k : 0;
        }
    }
    if (batches < 1 || batches > 1000 || root < 0 || root >= ranks || first >= argc) {
        if (rank == 0) fprintf(stderr, "node [-i BATCHES] [-r ROOT] [-c COLLECTIVE,...] BYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    calls_fn *calls_by = (calls_fn *)dlsym(RTLD_DEFAULT, "rondo_calls");
    barrier = (int (*)(MPI_Comm))host("PMPI_Barrier");
    counts = malloc(2 * ranks * sizeof *counts);
    displs = counts + ranks;
    if (rank == 0)
        printf("%-10s %10s  %22s  %22s  %6s %6s  %6s %6s  %s\n", "collective", "bytes", "host us", "Rondo us", "ratio",
               "least", "GB/s", "memcpy", "by");
    for (int k = 0; k < KINDS; k++) {
        if (!(wanted >> k & 1)) continue;
        enum kind kind = (enum kind)k;
        hosts[k] = host(symbols[k]);
        for (int a = first; a < argc; a++) {
            int bytes = atoi(argv[a]), each = kind == BCAST ? bytes : bytes / ranks;
            block = malloc((size_t)each + 1);
            all = malloc(kind == BCAST ? (size_t)each + 1 : (size_t)each * ranks + 1);
            memset(all, 0, kind == BCAST ? (size_t)each : (size_t)each * ranks);
            for (int r = 0; r < ranks; r++) counts[r] = each, displs[r] = each * r;
            check(kind, each);
            int calls = bytes < 32768 ? 200 : bytes < (1 << 20) ? 40 : bytes < (8 << 20) ? 8 : 2;
            unsigned long long before = calls_by ? calls_by(words[k], "host") : 0;
            double times[2][1000];
            for (int i = 0; i < batches; i++)
                for (int turn = 0; turn < 2; turn++) {
                    int which = (i + turn) % 2;
                    times[which][i] = batch(kind, which ? rondos[k] : hosts[k], each, calls);
                }
            /* Some calls may have been the host's: Rondo tries it once in a while. */
            unsigned long long by_host = calls_by ? calls_by(words[k], "host") - before : 0;
            unsigned long long most = (unsigned long long)batches * calls / 2;
            const char *by = !calls_by ? "no Rondo" : by_host > most ? "host" : "Rondo";
            double landed = kind == BCAST        ? (double)each * (ranks - 1)
                            : kind <= ALLGATHERV ? (double)each * ranks * ranks
                                                 : (double)each * ranks;
            double copied = memcpy_rate(landed / ranks, calls);
            for (int w = 0; w < 2; w++) qsort(times[w], batches, sizeof **times, by_value);
            double *h = times[0], *r = times[1];
            int m = batches / 2;
            if (rank == 0) {
                printf("%-10s %10d  %10.1f [%9.1f]  %10.1f [%9.1f]  %6.2f %6.2f  %6.2f %6.2f  %s\n", words[k], bytes,
                       h[m], h[0], r[m], r[0], h[m] / r[m], h[0] / r[0], landed / r[m] / 1e3, copied, by);
                fflush(stdout);
            }
            free(block);
            free(all);
        }
    }
    MPI_Finalize();
    return 0;
}
