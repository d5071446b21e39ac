/* Times collectives under a simulator, whose clock is the same on all ranks.
 *
 *     sim [-c] CASE:BYTES...
 *
 * CASE is bcast, same (MPI_Allgatherv, equal parts), one (MPI_Allgatherv, all from rank 0), allgather, gather, gatherv,
 * scatter, scatterv, allreduce, max (MPI_Allreduce, the largest), reduce, reduce_scatter (equal parts),
 * reduce_scatter_block, scan, exscan, barrier, alltoall, alltoallv or alltoallw; or unlike parts behind gv_
 * (MPI_Gatherv), sv_ (MPI_Scatterv) or rs_ (MPI_Reduce_scatter): one (rank 0 has all), spikes (one rank in six has what
 * these six would) or random (0 to 8 units). BYTES are those of all ranks together, of gathers and scatters those of
 * each rank, on the average, of exchanges those of each block; of reductions, which sum long integers but for max,
 * those of each rank's vector. Where all parts have the same length, a rest is left out.
 * Every case runs once to make what is made at the first call (private communicators, the host's own topology), then
 * all ranks start at the same moment, and the time is that of the last one to finish; nothing else happens in a
 * simulation, so it is always the same. Rows: case, ranks, bytes, microseconds. With -c, contents are checked as well;
 * without, the simulator may put all buffers into the same memory.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum collective {
    BCAST, ALLGATHERV, ALLGATHER, GATHER, GATHERV, SCATTER, SCATTERV, ALLREDUCE, MAX, REDUCE, REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, BARRIER, ALLTOALL, ALLTOALLV, ALLTOALLW, COLLECTIVES
};

static const char *const names[COLLECTIVES] = {
    "bcast", "same", "allgather", "gather", "gatherv", "scatter", "scatterv", "allreduce", "max", "reduce",
    "reduce_scatter", "reduce_scatter_block", "scan", "exscan", "barrier", "alltoall", "alltoallv", "alltoallw"};

struct call {
    enum collective collective;
    int total, own;
    int *counts, *displs;
    MPI_Datatype *types; /* of each block */
    unsigned char *send, *receive;
};

static int rank, ranks;

static void fail(const char *what) {
    fprintf(stderr, "sim: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void *memory(size_t bytes) {
    void *memory = malloc(bytes + 1);
    if (!memory) fail("out of memory");
    return memory;
}

static unsigned char expected(int i) { return (unsigned char)(i * 13 + i / 251 + 5); }

/* Of the block of one rank for another. */
static unsigned char in_block(int from, int to, int i) { return expected(from * 31 + to * 7 + i); }

/* Has every rank a part of the result? */
static int is_scattered(const struct call *c) {
    return c->collective == REDUCE_SCATTER || c->collective == REDUCE_SCATTER_BLOCK;
}

static int is_reduction(const struct call *c) {
    return c->collective == ALLREDUCE || c->collective == MAX || c->collective == REDUCE || is_scattered(c) ||
        c->collective == SCAN || c->collective == EXSCAN;
}

static int is_exchange(const struct call *c) {
    return c->collective == ALLTOALL || c->collective == ALLTOALLV || c->collective == ALLTOALLW;
}

static int is_scatter(const struct call *c) { return c->collective == SCATTER || c->collective == SCATTERV; }

/* Bytes are those of a rank, or of a block. */
static int has_blocks(const struct call *c) {
    return is_exchange(c) || is_scatter(c) || c->collective == GATHER || c->collective == GATHERV;
}

static void fill(const struct call *c) {
    if (is_reduction(c)) {
        for (int i = 0; i < c->own / 8; i++) ((long *)c->send)[i] = rank + 3L * i;
        return;
    }
    memset(c->receive, 0, c->total);
    if (c->collective == BCAST && rank != 0) return;
    if (is_scatter(c)) {
        for (int i = 0; rank == 0 && i < c->total; i++) c->send[i] = expected(i);
        return;
    }
    if (is_exchange(c)) {
        int block = c->own / ranks;
        for (int i = 0; i < c->own; i++) c->send[i] = in_block(rank, i / block, i % block);
        return;
    }
    for (int i = 0; i < c->own; i++) c->send[i] = expected(c->displs[rank] + i);
}

static void check(const struct call *c) {
    if (is_reduction(c)) {
        int scattered = is_scattered(c), n = scattered ? c->counts[rank] : c->own / 8;
        int first = scattered ? c->displs[rank] : 0;
        /* The first ones of all ranks are the operands. */
        long operands = c->collective == SCAN ? rank + 1 : c->collective == EXSCAN ? rank : ranks;
        if (c->collective == REDUCE && rank != 0) return;
        if (c->collective == MAX) {
            for (int i = 0; i < n; i++)
                if (((long *)c->receive)[i] != ranks - 1 + 3L * i) fail("wrong data");
            return;
        }
        for (int i = 0; operands && i < n; i++)
            if (((long *)c->receive)[i] != (operands - 1) * operands / 2 + 3L * (first + i) * operands)
                fail("wrong data");
        return;
    }
    if (c->collective == BARRIER) return;
    if ((c->collective == GATHER || c->collective == GATHERV) && rank != 0) return;
    if (is_scatter(c)) {
        for (int i = 0; i < c->counts[rank]; i++)
            if (c->receive[i] != expected(c->displs[rank] + i)) fail("wrong data");
        return;
    }
    if (is_exchange(c)) {
        int block = c->total / ranks;
        for (int i = 0; i < c->total; i++)
            if (c->receive[i] != in_block(i / block, rank, i % block)) fail("wrong data");
        return;
    }
    for (int i = 0; i < c->total; i++)
        if (c->receive[i] != expected(i)) fail("wrong data");
}

static void run(const struct call *c) {
    switch (c->collective) {
    case BCAST: MPI_Bcast(c->receive, c->total, MPI_BYTE, 0, MPI_COMM_WORLD); break;
    case ALLGATHERV:
        MPI_Allgatherv(c->send, c->own, MPI_BYTE, c->receive, c->counts, c->displs, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case ALLGATHER:
        MPI_Allgather(c->send, c->own, MPI_BYTE, c->receive, c->own, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case GATHER:
        MPI_Gather(c->send, c->own, MPI_BYTE, c->receive, c->own, MPI_BYTE, 0, MPI_COMM_WORLD);
        break;
    case SCATTER: {
        int block = c->counts[rank];
        MPI_Scatter(c->send, block, MPI_BYTE, c->receive, block, MPI_BYTE, 0, MPI_COMM_WORLD);
        break;
    }
    case SCATTERV:
        MPI_Scatterv(c->send, c->counts, c->displs, MPI_BYTE, c->receive, c->counts[rank], MPI_BYTE, 0,
                     MPI_COMM_WORLD);
        break;
    case GATHERV:
        MPI_Gatherv(c->send, c->own, MPI_BYTE, c->receive, c->counts, c->displs, MPI_BYTE, 0, MPI_COMM_WORLD);
        break;
    case ALLREDUCE: MPI_Allreduce(c->send, c->receive, c->own / 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); break;
    case MAX: MPI_Allreduce(c->send, c->receive, c->own / 8, MPI_LONG, MPI_MAX, MPI_COMM_WORLD); break;
    case REDUCE: MPI_Reduce(c->send, c->receive, c->own / 8, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD); break;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter(c->send, c->receive, c->counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block(c->send, c->receive, c->counts[rank], MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        break;
    case SCAN: MPI_Scan(c->send, c->receive, c->own / 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); break;
    case EXSCAN: MPI_Exscan(c->send, c->receive, c->own / 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); break;
    case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
    case ALLTOALL: {
        int block = c->own / ranks;
        MPI_Alltoall(c->send, block, MPI_BYTE, c->receive, block, MPI_BYTE, MPI_COMM_WORLD);
        break;
    }
    case ALLTOALLV:
        MPI_Alltoallv(c->send, c->counts, c->displs, MPI_BYTE, c->receive, c->counts, c->displs, MPI_BYTE,
                      MPI_COMM_WORLD);
        break;
    case ALLTOALLW:
        MPI_Alltoallw(c->send, c->counts, c->displs, c->types, c->receive, c->counts, c->displs, c->types,
                      MPI_COMM_WORLD);
        break;
    case COLLECTIVES: fail("no such case");
    }
}

/* Ranks leave a barrier one after another, so they agree on a moment after it. */
static double start_together(void) {
    double now = MPI_Wtime(), latest;
    MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double start = latest + 0.1, left = start - MPI_Wtime();
    if (left < 0) fail("the clock is not the simulator's");
    struct timespec pause = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    nanosleep(&pause, NULL);
    return start;
}

/* The collective of a case whose parts are unlike. */
static enum collective uneven(const char *name) {
    return !strncmp(name, "rs_", 3) ? REDUCE_SCATTER
        : !strncmp(name, "gv_", 3)  ? GATHERV
        : !strncmp(name, "sv_", 3)  ? SCATTERV
                                    : COLLECTIVES;
}

/* How much a rank has in such a case, next to the others. */
static int weight(const char *parts, int r) {
    if (!strcmp(parts, "one")) return r == 0;
    if (!strcmp(parts, "spikes")) return r % 6 == 0;
    if (!strcmp(parts, "random")) return (int)((unsigned)r * 2654435761u >> 16) % 9;
    fail("no such parts");
    return 0;
}

static void measure(const char *name, int bytes, int checked) {
    struct call c = {0};
    c.counts = memory(sizeof(int) * ranks);
    c.displs = memory(sizeof(int) * ranks);
    c.types = memory(sizeof(MPI_Datatype) * ranks);
    for (int r = 0; r < ranks; r++) c.types[r] = MPI_BYTE;
    int is_uneven = uneven(name) != COLLECTIVES;
    if (is_uneven) c.collective = uneven(name);
    else
        while (c.collective < COLLECTIVES && strcmp(name, names[c.collective]) &&
               (c.collective != ALLGATHERV || strcmp(name, "one")))
            c.collective = (enum collective)(c.collective + 1);
    if (c.collective == COLLECTIVES) fail("no such case");
    int units = is_reduction(&c) ? bytes / 8 : bytes, weights = 0;
    if (c.collective == ALLGATHER || c.collective == REDUCE_SCATTER_BLOCK) units = units / ranks * ranks;
    for (int r = 0; r < ranks && is_uneven; r++) weights += weight(name + 3, r);
    for (int r = 0; r < ranks; r++) {
        int equal = units / ranks + (r < units % ranks);
        long all = has_blocks(&c) ? (long)bytes * ranks : units;
        c.counts[r] = is_uneven ? (int)(all * weight(name + 3, r) / weights)
            : has_blocks(&c) ? bytes
            : !strcmp(name, "same") || c.collective == ALLGATHER || is_reduction(&c) ? equal
            : r == 0 ? bytes : 0;
        c.displs[r] = c.total;
        c.total += c.counts[r];
    }
    c.own = is_reduction(&c) ? bytes : is_exchange(&c) || is_scatter(&c) ? c.total : c.counts[rank];
    c.receive = memory(is_reduction(&c) ? bytes : c.total);
    c.send = c.collective == BCAST ? c.receive : memory(c.own);
    if (checked) fill(&c);
    run(&c);
    if (checked) {
        check(&c);
        fill(&c);
    }
    double start = start_together();
    run(&c);
    double mine = MPI_Wtime(), last;
    if (checked) check(&c);
    MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s,%d,%d,%.3f\n", name, ranks, bytes, (last - start) * 1e6);
    fflush(stdout);
    if (c.send != c.receive) free(c.send);
    free(c.receive);
    free(c.types);
    free(c.counts);
    free(c.displs);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int checked = argc > 1 && !strcmp(argv[1], "-c");
    for (int i = 1 + checked; i < argc; i++) {
        char name[24];
        int bytes;
        if (sscanf(argv[i], "%23[a-z_]:%d", name, &bytes) != 2 || bytes < 1) fail("usage: sim [-c] CASE:BYTES...");
        measure(name, bytes, checked);
    }
    MPI_Finalize();
    return 0;
}
