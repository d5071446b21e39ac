/* Times MPI_Allgatherv by the host MPI library and by Rondo in turns within one run, for several distributions.
 *
 *     allgatherv [-i REPETITIONS] [-d DIST[,DIST...]] [-a] [-b] BYTES...
 *
 * BYTES is the total over all ranks. DIST says what part of it rank r of p contributes (default: all of them):
 *     same        equal parts
 *     mod3        in proportion to r mod 3
 *     decreasing  in proportion to p - r
 *     skewed      the first five ranks have 99 % in equal parts; the others share the rest
 *     one         rank p/2 has all
 * Parts are rounded down and the last rank that contributes takes what is left, so all distributions have the same
 * total. Blocks are of MPI_BYTE, one behind the other; the send buffer is separate.
 *     -a  times MPI_Allgather, too, as a distribution "allgather" (BYTES rounded down to a multiple of p)
 *     -b  times Rondo's MPI_Bcast of BYTES from rank p/2, too
 *
 * To be run with librondo.so preloaded: the functions by their own names are then Rondo's, and the host's are fetched
 * from the MPI library by its handle. All that is measured for one total is measured in turns: in each repetition every
 * distribution runs once by each implementation, and the order is reversed from one repetition to the next. The time of
 * a call is that of its slowest rank, the figure is the minimum over the repetitions (and the median in brackets).
 * Every answer is checked on every rank.
 *
 * Columns: distribution, bytes, milliseconds of the host, milliseconds of Rondo, host/Rondo, Rondo's time over its time
 * for `same`, Rondo's MB/s, the algorithm of Rondo's that ran ("host" if it passed the calls on); with -b also
 * milliseconds of Rondo's broadcast, Rondo's time over it, and the algorithm of the broadcast.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int allgatherv_fn(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm);
typedef int allgather_fn(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
typedef unsigned long long calls_fn(const char *, const char *);

enum { SAME, MOD3, DECREASING, SKEWED, ONE, ALLGATHER, BCAST, KINDS, DISTRIBUTIONS = ALLGATHER };
static const char *const NAMES[] = {"same", "mod3", "decreasing", "skewed", "one", "allgather", "bcast"};

static const char *collective(int kind) {
    return kind == BCAST ? "bcast" : kind == ALLGATHER ? "allgather" : "allgatherv";
}

enum { CIRCULANT, BRUCK, RING, BINOMIAL, ALGORITHMS };
static const char *const ALGORITHM_NAMES[] = {"circulant", "bruck", "ring", "binomial"};

/* What takes its turn in every repetition. */
struct turn {
    int kind, by_rondo;
    double *seconds;                       /* of each repetition; in ascending order when all are measured */
    unsigned long long calls[ALGORITHMS];  /* carried out by Rondo */
    unsigned long long passed_on;          /* left to the host */
};

static int rank, ranks;
static allgatherv_fn *host_allgatherv;
static allgather_fn *host_allgather;
static calls_fn *rondo_calls;

static int find_functions(void) {
    const char *names[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY);
    if (!library) return 0;
    host_allgatherv = (allgatherv_fn *)dlsym(library, "PMPI_Allgatherv");
    host_allgather = (allgather_fn *)dlsym(library, "PMPI_Allgather");
    rondo_calls = (calls_fn *)dlsym(RTLD_DEFAULT, "rondo_calls");
    return host_allgatherv && host_allgather && rondo_calls;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static long long weight(int kind, int r) {
    switch (kind) {
    case MOD3: return r % 3;
    case DECREASING: return ranks - r;
    case SKEWED: return ranks <= 5 ? 1 : r < 5 ? 99LL * (ranks - 5) : 5;
    case ONE: return r == ranks / 2;
    default: return 1;
    }
}

static int total_of(int kind, int bytes) { return kind == ALLGATHER ? bytes / ranks * ranks : bytes; }

/* How many bytes each rank contributes and where they go; returns the total. */
static int distribute(int kind, int bytes, int *counts, int *displs) {
    long long weights = 0;
    int last = ranks - 1, given = 0, total = total_of(kind, bytes);
    for (int r = 0; r < ranks; r++) {
        weights += weight(kind, r);
        if (weight(kind, r)) last = r;
    }
    for (int r = 0; r < ranks; r++) {
        counts[r] = weights ? (int)(total * weight(kind, r) / weights) : 0;
        given += counts[r];
    }
    counts[last] += total - given;
    for (int r = 0, at = 0; r < ranks; at += counts[r++]) displs[r] = at;
    return total;
}

/* The byte at a place of the result. Blocks at wrong places show, because no distance repeats the bytes. */
static unsigned char expected(int place, int seed) {
    return (unsigned char)(((unsigned)place + 977u * (unsigned)seed) * 2654435761u >> 24);
}

/* One call; its time on the slowest rank. */
static double once(struct turn *turn, unsigned char *own, unsigned char *all, int bytes, int seed) {
    static int *counts, *displs;
    if (!counts) {
        counts = malloc(sizeof(int) * ranks);
        displs = malloc(sizeof(int) * ranks);
    }
    int kind = turn->kind, wrong = 0, total = distribute(kind == BCAST ? ONE : kind, bytes, counts, displs);
    int mine = counts[rank];
    /* What is not written differs from what is expected in every byte. */
    for (int i = 0; i < total; i++) all[i] = (unsigned char)~expected(i, seed);
    unsigned char *source = kind == BCAST ? all : own;
    for (int i = 0; i < mine; i++) source[i] = expected(displs[rank] + i, seed);

    unsigned long long before[ALGORITHMS], passed_on = rondo_calls(collective(kind), "host");
    for (int a = 0; a < ALGORITHMS; a++) before[a] = rondo_calls(collective(kind), ALGORITHM_NAMES[a]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (kind == BCAST)
        MPI_Bcast(all, total, MPI_BYTE, ranks / 2, MPI_COMM_WORLD);
    else if (kind == ALLGATHER)
        (turn->by_rondo ? MPI_Allgather : host_allgather)(own, mine, MPI_BYTE, all, mine, MPI_BYTE, MPI_COMM_WORLD);
    else
        (turn->by_rondo ? MPI_Allgatherv : host_allgatherv)(own, mine, MPI_BYTE, all, counts, displs, MPI_BYTE,
                                                            MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start, slowest;
    turn->passed_on += rondo_calls(collective(kind), "host") - passed_on;
    for (int a = 0; a < ALGORITHMS; a++)
        turn->calls[a] += rondo_calls(collective(kind), ALGORITHM_NAMES[a]) - before[a];

    for (int i = 0; i < total; i++) wrong |= all[i] != expected(i, seed);
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (wrong) {
        fprintf(stderr, "allgatherv: wrong data: %s, %d bytes, by %s\n", NAMES[kind], total,
                turn->by_rondo ? "Rondo" : "the host");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return slowest;
}

/* Who carried out the calls of a turn of Rondo's on this rank, from the counters. */
static const char *who(const struct turn *turn) {
    const char *name = turn->passed_on ? "host" : NULL;
    for (int a = 0; a < ALGORITHMS; a++)
        if (turn->calls[a]) name = name ? "mixed" : ALGORITHM_NAMES[a];
    return name ? name : "host"; /* a collective that Rondo does not know is not counted at all */
}

static void print_row(const struct turn *host, const struct turn *rondo, const struct turn *same,
                      const struct turn *bcast, int bytes, int repetitions) {
    int total = total_of(rondo->kind, bytes);
    double h = host->seconds[0], r = rondo->seconds[0];
    printf("%-10s %10d %10.3f [%8.3f] %10.3f [%8.3f] %7.2f ", NAMES[rondo->kind], total, h * 1e3,
           host->seconds[repetitions / 2] * 1e3, r * 1e3, rondo->seconds[repetitions / 2] * 1e3, h / r);
    if (same) printf("%7.2f ", r / same->seconds[0]);
    else printf("%7s ", "-");
    printf("%8.1f  %-9s", total / r / 1e6, who(rondo));
    if (bcast)
        printf(" %10.3f [%8.3f] %7.2f  %s", bcast->seconds[0] * 1e3, bcast->seconds[repetitions / 2] * 1e3,
               r / bcast->seconds[0], who(bcast));
    printf("\n");
}

/* Marks the distributions of a list as NAME,NAME; 0 if there is a name that is none. */
static int choose(char *list, int *chosen) {
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        int kind = 0;
        while (kind < DISTRIBUTIONS && strcmp(name, NAMES[kind])) kind++;
        if (kind == DISTRIBUTIONS) return 0;
        chosen[kind] = 1;
    }
    return 1;
}

/* A number of bytes, or 0 if it is none that an int holds. */
static int bytes_of(const char *text) {
    char *end;
    long long value = strtoll(text, &end, 10);
    return *end || value < 1 || value > INT_MAX ? 0 : (int)value;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int repetitions = 10, all_of_them = 1, chosen[KINDS] = {0}, fine = find_functions();
    opterr = 0;
    for (int option; (option = getopt(argc, argv, "+i:d:ab")) != -1;) {
        switch (option) {
        case 'i': repetitions = atoi(optarg); break;
        case 'd': all_of_them = 0, fine = fine && choose(optarg, chosen); break;
        case 'a': chosen[ALLGATHER] = 1; break;
        case 'b': chosen[BCAST] = 1; break;
        default: fine = 0;
        }
    }
    for (int i = optind; i < argc; i++) fine = fine && bytes_of(argv[i]);
    if (!fine || repetitions < 1 || optind >= argc) {
        if (rank == 0)
            fprintf(stderr, "usage: allgatherv [-i N] [-d same,mod3,decreasing,skewed,one] [-a] [-b] BYTES..., "
                            "with librondo.so preloaded\n");
        MPI_Finalize();
        return 2;
    }

    struct turn turns[2 * KINDS] = {0};
    const struct turn *same = NULL, *bcast = NULL;
    int n = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        if (!chosen[kind] && !(all_of_them && kind < DISTRIBUTIONS)) continue;
        for (int by_rondo = kind == BCAST; by_rondo < 2; by_rondo++) {
            turns[n].kind = kind;
            turns[n].by_rondo = by_rondo;
            turns[n++].seconds = malloc(sizeof(double) * repetitions);
        }
        if (kind == SAME) same = &turns[n - 1];
        if (kind == BCAST) bcast = &turns[n - 1];
    }
    if (rank == 0) {
        printf("%-10s %10s %21s %21s %7s %7s %8s  %-9s", "dist", "bytes", "host ms", "Rondo ms", "ratio", "/same",
               "MB/s", "by");
        printf(bcast ? " %21s %7s  %s\n" : "\n", "bcast ms", "/bcast", "bcast by");
    }
    for (; optind < argc; optind++) {
        int bytes = bytes_of(argv[optind]);
        unsigned char *own = malloc(bytes), *all = malloc(bytes);
        for (int i = -1; i < repetitions; i++) { /* -1: connections, page faults */
            for (int j = 0; j < n; j++) {
                struct turn *turn = &turns[i & 1 ? n - 1 - j : j];
                double seconds = once(turn, own, all, bytes, i * n + j + n);
                if (i >= 0) turn->seconds[i] = seconds;
                else turn->passed_on = 0, memset(turn->calls, 0, sizeof turn->calls);
            }
        }
        for (int j = 0; j < n; j++) qsort(turns[j].seconds, repetitions, sizeof(double), by_value);
        for (int j = 0; j + 1 < n && rank == 0; j += 2)
            if (turns[j].kind != BCAST) print_row(&turns[j], &turns[j + 1], same, bcast, bytes, repetitions);
        fflush(stdout);
        free(own);
        free(all);
    }
    MPI_Finalize();
    return 0;
}
