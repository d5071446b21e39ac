/* The bits of sums of doubles, which depend on the order of operands: all ranks have the same, they are the same each
 * time, and they are what RONDO_REPRODUCIBLE promises.
 *
 * order      those of the loop ((x0 + x1) + x2) + ...
 * placement  those of any other communicator of as many ranks, wherever its ranks are
 *
 * With BITS=halving, an allreduce has the bits of halving among all ranks, which are computed here: whether these go
 * through memory that they share or by messages.
 */
#include "rondo_test.h"
#include <stdint.h>

enum { TIMES = 5 };

static int p;

/* Element i of a rank: large ones that cancel, small ones that are lost or not, and random ones of many magnitudes. */
static double operand(int rank, long i) {
    static const double some[] = {1e16, 1, -1e16, 3.5, 1e-3, -7e15};
    uint64_t x = ((uint64_t)i * 1000003 + (uint64_t)rank + 1) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 31;
    x *= 0xd1b54a32d192ed03ULL;
    if (x >> 62 != 0) return some[(x >> 32) % 6];
    return ((double)(int64_t)x / 9.3e18) * (double)(1LL << (x >> 8) % 50);
}

static double *operands_of(int rank, long n) {
    double *own = malloc(sizeof *own * (size_t)(n + 1));
    for (long i = 0; i < n; i++) own[i] = operand(rank, i);
    return own;
}

/* The loop over ranks 0 to `ranks`, which is not among them. */
static double *serial(int ranks, long n) {
    double *sum = operands_of(0, n);
    for (int r = 1; r < ranks; r++)
        for (long i = 0; i < n; i++) sum[i] += operand(r, i);
    return sum;
}

/* What halving makes of a vector: of each rank's part, in rounds, the ranks below join what the ones above have. */
static double *halved(long n) {
    double *all = malloc(sizeof *all * (size_t)n + 1), *terms = malloc(sizeof *terms * (size_t)p);
    long i = 0;
    for (int owner = 0; owner < p; owner++) {
        long end = i + n / p + (owner < n % p);
        for (; i < end; i++) {
            for (int r = 0; r < p; r++) terms[r] = operand(r, i);
            for (int high = p; high > 1; high = (high + 1) / 2)
                for (int low = (high + 1) / 2, k = low; k < high; k++) {
                    int left = (owner - k + p) % p, to = (owner - k + low + p) % p;
                    terms[to] = terms[left] + terms[to];
                }
            all[i] = terms[owner];
        }
    }
    free(terms);
    return all;
}

static long different(const double *x, const double *y, long n) {
    long bad = 0;
    for (long i = 0; i < n; i++) bad += memcmp(&x[i], &y[i], sizeof *x) != 0;
    return bad;
}

static int promises(const char *what) {
    const char *promise = getenv("RONDO_REPRODUCIBLE");
    return test.expect && strcmp(test.expect, "off") && promise && !strcmp(promise, what);
}

/* What each call gives this rank, one behind the other: allreduce, reduce, reduce_scatter_block, reduce_scatter, scan,
 * exscan. A rank's part of a vector has n elements, so that the vectors there have p times as many. */
enum { ALLREDUCE, REDUCE, BLOCK, SCATTER, SCAN, EXSCAN, CALLS };

static const char *const names[] = {"allreduce", "reduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan"};

/* Does Rondo carry the call out? A host may add in another order from call to call, as MPICH 5.0 does. */
static int reduce(int call, const double *own, double *got, int n, int root, MPI_Comm comm) {
    int *counts = malloc(sizeof *counts * (size_t)p), rc = MPI_SUCCESS;
    for (int r = 0; r < p; r++) counts[r] = n;
    struct counts before = counts_of(names[call]);
    switch (call) {
    case ALLREDUCE: rc = MPI_Allreduce(own, got, n, MPI_DOUBLE, MPI_SUM, comm); break;
    case REDUCE: rc = MPI_Reduce(own, got, n, MPI_DOUBLE, MPI_SUM, root, comm); break;
    case BLOCK: rc = MPI_Reduce_scatter_block(own, got, n, MPI_DOUBLE, MPI_SUM, comm); break;
    case SCATTER: rc = MPI_Reduce_scatter(own, got, counts, MPI_DOUBLE, MPI_SUM, comm); break;
    case SCAN: rc = MPI_Scan(own, got, n, MPI_DOUBLE, MPI_SUM, comm); break;
    default: rc = MPI_Exscan(own, got, n, MPI_DOUBLE, MPI_SUM, comm);
    }
    check_call(before, rc, 8LL * n, comm);
    /* Both promises cover calls that Rondo would otherwise leave to the host; so somebody carries them out. */
    if ((promises("order") || promises("placement")) && is_rondos_comm(comm))
        CHECK_IN(counts_of(names[call]).host == before.host, "%s of %d by the host", names[call], n);
    /* An algorithm that sums of doubles do not allow gives way to another one of Rondo's. */
    const char *named = getenv("RONDO_ALLREDUCE");
    if (test.expect && named && !strcmp(named, "census") && call == ALLREDUCE && is_rondos_comm(comm))
        CHECK_IN(counts_of(names[call]).rondo == before.rondo + 1, "%s of %d by the host", names[call], n);
    free(counts);
    return counts_of(names[call]).rondo > before.rondo;
}

/* Does this rank get a result of a call? */
static int gets(int call, int root) {
    if (call == REDUCE) return test.rank == root;
    return call != EXSCAN || test.rank > 0;
}

static void sums(int call, int n, MPI_Comm same, MPI_Comm reversed) {
    int scatters = call == BLOCK || call == SCATTER, root = p / 2;
    long total = scatters ? (long)n * p : n;
    double *own = operands_of(test.rank, total), *got = calloc((size_t)n + 1, sizeof *got);
    double *again = calloc((size_t)n + 1, sizeof *again);
    int rondos = reduce(call, own, got, n, root, MPI_COMM_WORLD);
    /* Long vectors cost the most time and differ the least from shorter ones. */
    for (int k = 1; k < (n > 20000 ? 2 : TIMES); k++) {
        int comparable = reduce(call, own, again, n, root, MPI_COMM_WORLD) && rondos;
        if (comparable && gets(call, root))
            CHECK_IN(different(got, again, n) == 0, "%s of %d, time %d", names[call], n, k);
    }
    if (call == ALLREDUCE) {
        memcpy(again, got, sizeof *got * (size_t)n);
        MPI_Bcast(again, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        CHECK_IN(different(got, again, n) == 0, "%d elements on rank 0 and on this one", n);
    }
    const char *bits = getenv("BITS");
    if (call == ALLREDUCE && bits && !strcmp(bits, "halving") && p >= 3) {
        double *want = halved(n);
        CHECK_IN(different(got, want, n) == 0, "%d, %ld not as by halving", n, different(got, want, n));
        free(want);
    }
    if (promises("order")) {
        double *want = serial(call == SCAN ? test.rank + 1 : call == EXSCAN ? test.rank : p, total);
        if (gets(call, root))
            CHECK_IN(different(got, want + (scatters ? (long)test.rank * n : 0), n) == 0, "%s of %d, %ld not in order",
                     names[call], n, different(got, want + (scatters ? (long)test.rank * n : 0), n));
        free(want);
    }
    int comparable = reduce(call, own, again, n, root, same) && rondos;
    if (comparable && gets(call, root))
        CHECK_IN(different(got, again, n) == 0, "%s of %d on a duplicate", names[call], n);
    /* A communicator with the ranks the other way round, and so elsewhere; each has the operand of its rank. */
    if (promises("placement")) {
        int me = p - 1 - test.rank;
        double *there = operands_of(me, total), *moved = calloc((size_t)n + 1, sizeof *moved);
        reduce(call, there, again, n, root, reversed);
        MPI_Sendrecv(again, n, MPI_DOUBLE, me, 1, moved, n, MPI_DOUBLE, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (gets(call, root)) CHECK_IN(different(got, moved, n) == 0, "%s of %d, other places", names[call], n);
        free(there);
        free(moved);
    }
    free(own);
    free(got);
    free(again);
}

int main(int argc, char **argv) {
    static const int counts[] = {1, 7, 1000, 20000, 50000};
    start(&argc, &argv, "red_bits");
    p = test.ranks;
    MPI_Comm same, reversed;
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &reversed);
    for (int call = 0; call < CALLS; call++)
        for (int c = 0; c < 5; c++) {
            /* The vectors of reduce-scatters are p times as long. */
            int n = call == BLOCK || call == SCATTER ? (counts[c] + p - 1) / p : counts[c];
            sums(call, n, same, reversed);
        }
    MPI_Comm_free(&same);
    MPI_Comm_free(&reversed);
    return finish();
}
