/* Times collectives with a root by the host MPI library and by Rondo in turns within one run.
 *
 *     rooted [-i REPETITIONS] [-k CALLS] [-c COLLECTIVE[,...]] [-d DIST[,...]] [-r ROOT] [-s] BYTES...
 *
 * COLLECTIVE is gatherv, scatterv, gather or scatter (default: all of them), ROOT a rank (default: p/2). BYTES is the
 * average block b. DIST says how long the block of rank r of p is, divisions rounded down (default: all of them):
 *     same        b
 *     random      1 to 2b by chance
 *     bucket      b/2 and 1 to b by chance
 *     spikes      5b with probability 1/5, else 1
 *     decreasing  2b(p - r)/p + 1
 *     increasing  2b(r + 1)/p + 1
 *     alternating b + b/2 for even r, b - b/2 for odd r
 *     skewed      the first five ranks bp/5, the others 1
 *     two         the first and the last rank bp/2, the others 0
 * Chance is the same in every run. Gather and scatter take `same` only. Blocks are of MPI_BYTE, at the root one behind
 * the other; a rank's own block is separate, at the root, too.
 *
 * With librondo.so preloaded the functions by their own names are Rondo's, and the host's are fetched from the MPI
 * library by its handle. Without it there are only the host's columns. All that is measured for one b is measured in
 * turns: in each repetition everything runs once by each implementation, and the order is reversed from one repetition
 * to the next. A timing is that of CALLS calls in a row between barriers, on its slowest rank, divided by CALLS; the
 * figure is the minimum over the repetitions (and the median in brackets). Without -k, CALLS is a power of 2 that lasts
 * 200 us or more by the faster implementation, hence 1 for large blocks. The answer of the last call is checked, at
 * the root or on every rank.
 *
 * What the figures do not say: calls in a row overlap, since no rank waits for the others in between, so figures of
 * different CALLS do not compare. And ranks leave a barrier one after the other, where there are more ranks than cores
 * by far more than a small call takes: a root that leaves it last finds all messages there, its own time is short, and
 * the minimum chooses such repetitions. That flatters algorithms in which all send to the root at once.
 *     -s  a timing lasts from the start of the first rank to the end of the last one instead, by a clock that all ranks
 *         must share, hence on one machine only. It contains what the barrier leaves between the ranks.
 *
 * Columns: collective, distribution, b, CALLS, microseconds of the host, microseconds of Rondo, host/Rondo, the
 * algorithm of Rondo's that ran on rank 0 ("host" if it passed the calls on).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int gatherv_fn(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, int, MPI_Comm);
typedef int scatterv_fn(const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
typedef int gather_fn(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm); /* scatter's, too */
typedef unsigned long long calls_fn(const char *, const char *);

enum { GATHERV, SCATTERV, GATHER, SCATTER, COLLECTIVES };
static const char *const COLLECTIVE_NAMES[] = {"gatherv", "scatterv", "gather", "scatter"};

enum { SAME, RANDOM, BUCKET, SPIKES, DECREASING, INCREASING, ALTERNATING, SKEWED, TWO, DISTRIBUTIONS };
static const char *const DISTRIBUTION_NAMES[] = {"same",       "random",      "bucket", "spikes", "decreasing",
                                                 "increasing", "alternating", "skewed", "two"};

enum { HYBRID, ADAPTIVE, BINOMIAL, LINEAR, ALGORITHMS };
static const char *const ALGORITHM_NAMES[] = {"hybrid", "adaptive", "binomial", "linear"};

enum { HOST, RONDO, SIDES };
enum { TRIES = 3, MOST_CALLS = 1024, RHO = 5 };
static const double LEAST_SECONDS = 200e-6;

/* A row of the table. */
struct row {
    int collective, distribution;
    int *counts, *displs, total, calls;
    double *seconds[SIDES];               /* of each repetition; in ascending order when all are measured */
    unsigned long long ours[ALGORITHMS];  /* calls carried out by Rondo, by algorithm */
    unsigned long long all_ours;          /* by any algorithm */
};

static int rank, ranks, root, span;
static gatherv_fn *host_gatherv;
static scatterv_fn *host_scatterv;
static gather_fn *host_gather, *host_scatter;
static calls_fn *rondo_calls; /* NULL without Rondo */

static int find_functions(void) {
    const char *names[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY);
    if (!library) return 0;
    host_gatherv = (gatherv_fn *)dlsym(library, "PMPI_Gatherv");
    host_scatterv = (scatterv_fn *)dlsym(library, "PMPI_Scatterv");
    host_gather = (gather_fn *)dlsym(library, "PMPI_Gather");
    host_scatter = (gather_fn *)dlsym(library, "PMPI_Scatter");
    rondo_calls = (calls_fn *)dlsym(RTLD_DEFAULT, "rondo_calls");
    return host_gatherv && host_scatterv && host_gather && host_scatter;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The first seed for which `spikes` has 2, 3 and 6 large blocks on 8, 16 and 32 ranks, a fifth as on many ranks. */
enum { SEED = 23 };

/* A number below n that looks like chance, the same on every rank for the same r. */
static long long chance(int distribution, int r, long long n) {
    unsigned long long x = 0x9e3779b97f4a7c15ull * (r + 1ull) + SEED + (unsigned long long)distribution;
    for (int i = 0; i < 3; i++) x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    return (long long)((x >> 32) % (unsigned long long)n);
}

static long long block(int distribution, long long b, int r) {
    long long p = ranks;
    switch (distribution) {
    case RANDOM: return 1 + chance(distribution, r, 2 * b);
    case BUCKET: return b / 2 + 1 + chance(distribution, r, b);
    case SPIKES: return chance(distribution, r, RHO) ? 1 : RHO * b;
    case DECREASING: return 2 * b * (p - r) / p + 1;
    case INCREASING: return 2 * b * (r + 1) / p + 1;
    case ALTERNATING: return r % 2 ? b - b / 2 : b + b / 2;
    case SKEWED: return r < RHO ? b * p / RHO : 1;
    case TWO: return r == 0 || r == p - 1 ? b * p / 2 : 0;
    default: return b;
    }
}

/* Sets the blocks of a row; 0 if an int does not hold their total. */
static int distribute(struct row *row, int bytes) {
    long long at = 0;
    for (int r = 0; r < ranks; r++) {
        long long count = block(row->distribution, bytes, r);
        if (at + count > INT_MAX) return 0;
        row->counts[r] = (int)count;
        row->displs[r] = (int)at;
        at += count;
    }
    row->total = (int)at;
    return 1;
}

static int gathers(int collective) { return collective == GATHERV || collective == GATHER; }

/* The byte at a place of the root's buffer. Blocks at wrong places show, because no distance repeats the bytes. */
static unsigned char expected(int place, int seed) {
    return (unsigned char)(((unsigned)place + 977u * (unsigned)seed) * 2654435761u >> 24);
}

/* Writes what is expected at a number of places from `at` on, or, inverted, what differs from it in every byte. */
static void fill(unsigned char *buffer, int at, int bytes, int seed, int inverted) {
    for (int i = 0; i < bytes; i++) buffer[i] = (unsigned char)(expected(at + i, seed) ^ (inverted ? 0xff : 0));
}

static int differs(const unsigned char *buffer, int at, int bytes, int seed) {
    for (int i = 0; i < bytes; i++)
        if (buffer[i] != expected(at + i, seed)) return 1;
    return 0;
}

static void call(const struct row *row, int side, unsigned char *own, unsigned char *all) {
    const int *counts = row->counts, *displs = row->displs, mine = counts[rank];
    MPI_Comm world = MPI_COMM_WORLD;
    switch (row->collective) {
    case GATHERV:
        (side == HOST ? host_gatherv : MPI_Gatherv)(own, mine, MPI_BYTE, all, counts, displs, MPI_BYTE, root, world);
        break;
    case SCATTERV:
        (side == HOST ? host_scatterv : MPI_Scatterv)(all, counts, displs, MPI_BYTE, own, mine, MPI_BYTE, root, world);
        break;
    case GATHER:
        (side == HOST ? host_gather : MPI_Gather)(own, mine, MPI_BYTE, all, mine, MPI_BYTE, root, world);
        break;
    case SCATTER:
        (side == HOST ? host_scatter : MPI_Scatter)(all, mine, MPI_BYTE, own, mine, MPI_BYTE, root, world);
        break;
    }
}

/* Seconds since a time that is the same for all processes of a machine, which that of MPI_Wtime need not be. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A number of calls in a row; the time of one on the slowest rank, or with -s over all ranks. */
static double once(struct row *row, int side, int calls, unsigned char *own, unsigned char *all, int seed) {
    const char *name = COLLECTIVE_NAMES[row->collective];
    int mine = row->counts[rank], at = row->displs[rank], gather = gathers(row->collective), wrong = 0;
    fill(own, at, mine, seed, !gather);
    if (rank == root) fill(all, 0, row->total, seed, gather);

    unsigned long long before[ALGORITHMS] = {0}, all_before = 0;
    if (side == RONDO) {
        all_before = rondo_calls(name, NULL);
        for (int a = 0; a < ALGORITHMS; a++) before[a] = rondo_calls(name, ALGORITHM_NAMES[a]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now();
    for (int i = 0; i < calls; i++) call(row, side, own, all);
    double end = now();
    if (side == RONDO) {
        row->all_ours += rondo_calls(name, NULL) - all_before;
        for (int a = 0; a < ALGORITHMS; a++) row->ours[a] += rondo_calls(name, ALGORITHM_NAMES[a]) - before[a];
    }

    if (!gather) wrong = differs(own, at, mine, seed);
    else if (rank == root) wrong = differs(all, 0, row->total, seed);
    if (span) MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    double seconds = end - start, slowest;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (wrong) {
        fprintf(stderr, "rooted: wrong data: %s, %s, %d bytes in all, by %s\n", name,
                DISTRIBUTION_NAMES[row->distribution], row->total, side == RONDO ? "Rondo" : "the host");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return slowest / calls;
}

/* Who carried out the calls of Rondo's side, of which there were so many, on this rank, from the counters. */
static const char *who(const struct row *row, unsigned long long calls) {
    const char *name = row->all_ours < calls ? "host" : NULL;
    if (!row->all_ours) return "host";
    for (int a = 0; a < ALGORITHMS; a++)
        if (row->ours[a]) name = name ? "mixed" : ALGORITHM_NAMES[a];
    return name ? name : "Rondo"; /* by an algorithm that this program has no name for */
}

/* How many calls in a row last LEAST_SECONDS by the faster implementation. All ranks find the same. */
static int calibrate(struct row *row, int sides, unsigned char *own, unsigned char *all) {
    for (int calls = 1;; calls *= 2) {
        double least = 1e9;
        for (int i = 0; i < TRIES * sides; i++) {
            double seconds = once(row, i % sides, calls, own, all, i) * calls;
            if (seconds < least) least = seconds;
        }
        if (least >= LEAST_SECONDS || calls >= MOST_CALLS) return calls;
    }
}

/* Measures all rows for one average block. */
static void measure(struct row *rows, int n, int bytes, int calls, int repetitions) {
    int sides = rondo_calls ? SIDES : 1, longest = 1, largest = 1;
    for (int j = 0; j < n; j++) {
        struct row *row = &rows[j];
        if (!distribute(row, bytes)) {
            if (rank == 0) fprintf(stderr, "rooted: blocks of %d bytes are too large\n", bytes);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        if (row->counts[rank] > longest) longest = row->counts[rank];
        if (row->total > largest) largest = row->total;
    }
    unsigned char *own = malloc(longest), *all = rank == root ? malloc(largest) : NULL;

    for (int j = 0; j < n; j++) {
        for (int side = 0; side < sides; side++) once(&rows[j], side, 1, own, all, side); /* connections, page faults */
        rows[j].calls = calls ? calls : calibrate(&rows[j], sides, own, all);
        rows[j].all_ours = 0;
        memset(rows[j].ours, 0, sizeof rows[j].ours);
    }
    for (int i = 0; i < repetitions; i++) {
        for (int turn = 0; turn < n * sides; turn++) {
            int place = i & 1 ? n * sides - 1 - turn : turn, side = place % sides;
            struct row *row = &rows[place / sides];
            row->seconds[side][i] = once(row, side, row->calls, own, all, i * n * sides + turn);
        }
    }
    for (int j = 0; j < n; j++)
        for (int side = 0; side < sides; side++) qsort(rows[j].seconds[side], repetitions, sizeof(double), by_value);
    free(own);
    free(all);
}

static void print_row(const struct row *row, int bytes, int repetitions) {
    const double *host = row->seconds[HOST], *rondo = row->seconds[RONDO];
    printf("%-8s %-11s %8d %5d %11.2f [%10.2f]", COLLECTIVE_NAMES[row->collective],
           DISTRIBUTION_NAMES[row->distribution], bytes, row->calls, host[0] * 1e6, host[repetitions / 2] * 1e6);
    if (rondo_calls)
        printf(" %11.2f [%10.2f] %7.2f  %s", rondo[0] * 1e6, rondo[repetitions / 2] * 1e6, host[0] / rondo[0],
               who(row, (unsigned long long)row->calls * (unsigned long long)repetitions));
    printf("\n");
}

/* Marks the names of a list as NAME,NAME among n; 0 if there is one that is none of them. */
static int choose(char *list, const char *const *names, int n, int *chosen) {
    memset(chosen, 0, sizeof(int) * n);
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        int i = 0;
        while (i < n && strcmp(name, names[i])) i++;
        if (i == n) return 0;
        chosen[i] = 1;
    }
    return 1;
}

/* A number from least to most, or -1 if the text is none. */
static int number(const char *text, int least, int most) {
    char *end;
    long long value = strtoll(text, &end, 10);
    return end == text || *end || value < least || value > most ? -1 : (int)value;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int repetitions = 10, calls = 0, collectives[COLLECTIVES], distributions[DISTRIBUTIONS], fine = find_functions();
    for (int i = 0; i < COLLECTIVES; i++) collectives[i] = 1;
    for (int i = 0; i < DISTRIBUTIONS; i++) distributions[i] = 1;
    root = ranks / 2;
    opterr = 0;
    for (int option; (option = getopt(argc, argv, "+i:k:c:d:r:s")) != -1;) {
        switch (option) {
        case 'i': fine = (repetitions = number(optarg, 1, INT_MAX)) > 0 && fine; break;
        case 'k': fine = (calls = number(optarg, 1, INT_MAX)) > 0 && fine; break;
        case 'c': fine = choose(optarg, COLLECTIVE_NAMES, COLLECTIVES, collectives) && fine; break;
        case 'd': fine = choose(optarg, DISTRIBUTION_NAMES, DISTRIBUTIONS, distributions) && fine; break;
        case 'r': fine = (root = number(optarg, 0, ranks - 1)) >= 0 && fine; break;
        case 's': span = 1; break;
        default: fine = 0;
        }
    }
    for (int i = optind; i < argc; i++) fine = fine && number(argv[i], 1, INT_MAX) > 0;

    struct row rows[COLLECTIVES * DISTRIBUTIONS] = {0};
    int n = 0;
    for (int c = 0; c < COLLECTIVES && fine; c++) {
        for (int d = 0; d < DISTRIBUTIONS; d++) {
            if (!collectives[c] || !distributions[d] || (d != SAME && c != GATHERV && c != SCATTERV)) continue;
            rows[n].collective = c;
            rows[n].distribution = d;
            rows[n].counts = malloc(sizeof(int) * ranks);
            rows[n].displs = malloc(sizeof(int) * ranks);
            for (int side = 0; side < SIDES; side++) rows[n].seconds[side] = malloc(sizeof(double) * repetitions);
            n++;
        }
    }
    if (!n || optind >= argc) {
        if (rank == 0)
            fprintf(stderr, "usage: rooted [-i N] [-k CALLS] [-c gatherv,scatterv,gather,scatter] [-r ROOT] [-s]\n"
                            "              [-d same,random,bucket,spikes,decreasing,increasing,alternating,skewed,two] "
                            "BYTES...\n");
        MPI_Finalize();
        return 2;
    }
    if (rank == 0) {
        printf("%-8s %-11s %8s %5s %24s", "coll", "dist", "block", "calls", "host us");
        printf(rondo_calls ? " %24s %7s  %s\n" : "\n", "Rondo us", "ratio", "by");
    }
    for (; optind < argc; optind++) {
        int bytes = number(argv[optind], 1, INT_MAX);
        measure(rows, n, bytes, calls, repetitions);
        for (int j = 0; j < n && rank == 0; j++) print_row(&rows[j], bytes, repetitions);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
