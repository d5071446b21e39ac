/* What measured selection costs and what it gains: every row by the MPI library alone, by Rondo alone, and as Rondo
 * chooses while it learns, in turns in one run, each on communicators of its own, new for every row.
 *
 *   learn COLLECTIVE... [SIZE...]     bcast same one gatherv scatterv; bytes: of the message (bcast), of all ranks
 *                                     together (same, one: allgatherv), of a block
 *
 * Rondo is preloaded. A time is that of a call with a barrier behind it, on the slowest rank, the mean of a batch.
 * Columns: the medians over batches after learning, in microseconds; the better of host and Rondo over auto; and the
 * same of the sums of the first calls, which include whatever is made and tried at first. Long calls are fewer than
 * 100: the last column says how many.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOST, RONDO, AUTO, SIDES };

static int rank, p;
static char *own, *all;
static int *counts, *displs;

struct row {
    const char *name;
    const char *collective, *algorithm;
    long size;
};

static void prepare(const struct row *r) {
    int one = !strcmp(r->name, "one");
    long block = !strcmp(r->collective, "allgatherv") ? r->size / p : r->size, at = 0;
    for (int i = 0; i < p; i++) {
        counts[i] = (int)(one ? (i == p / 2 ? r->size : 0) : block);
        displs[i] = (int)at;
        at += counts[i];
    }
}

static void call(const struct row *r, MPI_Comm comm) {
    switch (r->name[0]) {
    case 'b': MPI_Bcast(all, (int)r->size, MPI_BYTE, 0, comm); break;
    case 'g': MPI_Gatherv(own, counts[rank], MPI_BYTE, all, counts, displs, MPI_BYTE, 0, comm); break;
    case 's':
        if (r->name[1] == 'c') {
            MPI_Scatterv(all, counts, displs, MPI_BYTE, own, counts[rank], MPI_BYTE, 0, comm);
            break;
        }
        /* fall through */ /* same */
    default: MPI_Allgatherv(own, counts[rank], MPI_BYTE, all, counts, displs, MPI_BYTE, comm);
    }
}

/* Seconds of a batch on the slowest rank. Barrier and reduction are the host's. */
static double batch(const struct row *r, MPI_Comm comm, int calls) {
    PMPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++) {
        call(r, comm);
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    double took = MPI_Wtime() - start;
    PMPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return took;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double least(double a, double b) { return a < b ? a : b; }

static void measure(const struct row *r) {
    int (*rules)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "rondo_rules");
    MPI_Comm comm[SIDES];
    const char *by[SIDES] = {"host", r->algorithm, NULL};
    prepare(r);
    for (int side = 0; side < SIDES; side++) {
        char text[200] = "{\"rules\": []}";
        if (by[side])
            snprintf(text, sizeof text, "{\"rules\": [{\"collective\": \"%s\", \"algorithm\": \"%s\"}]}", r->collective,
                     by[side]);
        rules(text);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[side]);
        MPI_Bcast(all, 0, MPI_BYTE, 0, comm[side]); /* the handshake, under these rules; nothing else is made yet */
    }

    /* The first calls: of auto all, of the others as many as there is time for. */
    double total[SIDES] = {0}, limit[SIDES] = {2, 2, 6};
    int done[SIDES] = {0};
    for (int turn = 0; turn < 100; turn++)
        for (int i = 0; i < SIDES; i++) {
            int side = turn % 2 ? SIDES - 1 - i : i, calls = 1;
            if (total[side] > limit[side]) continue;
            total[side] += batch(r, comm[side], calls);
            done[side] += calls;
        }
    double mean[SIDES];
    for (int i = 0; i < SIDES; i++) mean[i] = total[i] / done[i];
    int first = done[AUTO];

    /* On to where trials are over. */
    double each = least(mean[HOST], mean[RONDO]), spent = 0;
    while (done[AUTO] < 30 || (spent < 3 && done[AUTO] < 100000)) {
        int calls = each > 0.02 ? 1 : each > 0.0002 ? 20 : 500;
        spent += batch(r, comm[AUTO], calls);
        done[AUTO] += calls;
    }

    /* In turns, batches of about 5 ms. */
    enum { BATCHES = 15 };
    static double times[SIDES][BATCHES];
    int calls[SIDES], batches = each > 0.1 ? 3 : each > 0.02 ? 7 : BATCHES;
    for (int i = 0; i < SIDES; i++) {
        double took = i == AUTO ? each : mean[i];
        calls[i] = took > 0.005 ? 1 : (int)(0.005 / took) + 1;
    }
    for (int b = 0; b < batches; b++)
        for (int i = 0; i < SIDES; i++) {
            int side = b % 2 ? SIDES - 1 - i : i;
            if (side != AUTO && mean[side] > 10 * each && b > 0) { /* no need to wait for that */
                times[side][b] = times[side][0];
                continue;
            }
            times[side][b] = batch(r, comm[side], calls[side]) / calls[side];
        }
    for (int i = 0; i < SIDES; i++) qsort(times[i], (size_t)batches, sizeof times[i][0], ascending);
    double h = times[HOST][batches / 2], o = times[RONDO][batches / 2], a = times[AUTO][batches / 2];
    if (rank == 0) {
        printf("%-9s %9ld %12.1f %12.1f %12.1f %7.2f %7.2f %5d\n", r->name, r->size, 1e6 * h, 1e6 * o, 1e6 * a,
               least(h, o) / a, least(mean[HOST], mean[RONDO]) / mean[AUTO], first);
        fflush(stdout);
    }
    for (int side = 0; side < SIDES; side++) MPI_Comm_free(&comm[side]);
}

int main(int argc, char **argv) {
    static const struct row rows[] = {
        {"bcast", "bcast", "circulant", 0},      {"same", "allgatherv", "circulant", 0},
        {"one", "allgatherv", "circulant", 0},   {"gatherv", "gatherv", "hybrid", 0},
        {"scatterv", "scatterv", "hybrid", 0},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    counts = calloc((size_t)p, sizeof *counts), displs = calloc((size_t)p, sizeof *displs);
    if (rank == 0)
        printf("%-9s %9s %12s %12s %12s %7s %7s %5s\n", "row", "bytes", "host", "rondo", "auto", "after", "first",
               "calls");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int a = 1; a < argc; a++) {
            if (strcmp(argv[a], rows[i].name)) continue;
            for (int s = 1; s < argc; s++) {
                struct row r = rows[i];
                if ((r.size = atol(argv[s])) <= 0) continue;
                int rooted = r.name[0] == 'g' || !strcmp(r.name, "scatterv");
                size_t bytes = (size_t)r.size * (size_t)(rooted ? p : 1) + 1;
                own = calloc((size_t)r.size + 1, 1), all = calloc(bytes, 1);
                measure(&r);
                free(own), free(all);
            }
        }
    return MPI_Finalize();
}
