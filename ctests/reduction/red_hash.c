/* A number for the bits of sums of doubles that Rondo carries out: of all-reductions, reductions, reduce-scatters and
 * scans of several lengths, each some times. It is the same in all runs where the bits are promised to be. Under
 * RONDO_REPRODUCIBLE=order they are also compared with a loop over the ranks.
 *
 *   bits NUMBER of CALLS calls
 */
#include "rondo_test.h"
#include <stdint.h>

enum { LONGEST = 60000, TIMES = 3, KINDS = 6 };

static const char *const names[KINDS] = {"allreduce", "reduce", "reduce_scatter_block", "reduce_scatter",
                                         "scan",      "exscan"};

/* Elements of each rank's part in a reduce-scatter whose parts differ. */
static int *counts;

static uint64_t mixed(uint64_t x) {
    x ^= x >> 31;
    x *= 0xd1b54a32d192ed03u;
    return x ^ x >> 29;
}

/* Large ones that cancel, and random ones of many magnitudes. */
static double operand(int rank, long i) {
    static const double some[] = {1e16, 1, -1e16, 3.5, 1e-3, -7e15};
    uint64_t x = mixed((uint64_t)i * 1000003 + (uint64_t)rank + 1);
    if (x >> 62 != 0) return some[(x >> 32) % 6];
    return (double)(int64_t)x / 9.3e18 * (double)(1LL << (x >> 8) % 50);
}

/* Some of a vector of n elements: for each rank one more than for the one before, and the rest for the last one. */
static void divide(int n) {
    int rest = n;
    for (int r = 0; r < test.ranks; r++) {
        counts[r] = r + 1 == test.ranks ? rest : n / test.ranks / 2 + r <= rest ? n / test.ranks / 2 + r : 0;
        rest -= counts[r];
    }
}

static void sum(int kind, const double *own, double *got, int n) {
    switch (kind) {
    case 0: MPI_Allreduce(own, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 1: MPI_Reduce(own, got, n, MPI_DOUBLE, MPI_SUM, test.ranks / 2, MPI_COMM_WORLD); break;
    case 2: MPI_Reduce_scatter_block(own, got, n / test.ranks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 3: MPI_Reduce_scatter(own, got, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 4: MPI_Scan(own, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    default: MPI_Exscan(own, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* What this rank gets of vectors of n elements: how many, from which one on, and the sums of how many ranks. */
static struct share {
    int count, first, ranks;
} share_of(int kind, int n) {
    struct share s = {n, 0, test.ranks};
    if (kind == 1 && test.rank != test.ranks / 2) s.count = 0;
    if (kind == 2) s.count = n / test.ranks, s.first = test.rank * s.count;
    if (kind == 3) s.count = counts[test.rank];
    for (int r = 0; kind == 3 && r < test.rank; r++) s.first += counts[r];
    if (kind >= 4) s.ranks = test.rank + (kind == 4);
    if (s.ranks == 0) s.count = 0;
    return s;
}

/* Are they those of a loop over the ranks? */
static void compare(int kind, struct share s, const double *got) {
    for (int i = 0; i < s.count; i++) {
        double expected = operand(0, s.first + i);
        for (int r = 1; r < s.ranks; r++) expected += operand(r, s.first + i);
        CHECK_IN(memcmp(&expected, &got[i], sizeof expected) == 0, "%s, element %d", names[kind], i);
    }
}

int main(int argc, char **argv) {
    static const int lengths[] = {3, 40, 700, 9000, LONGEST};
    const char *promise = getenv("RONDO_REPRODUCIBLE");
    start(&argc, &argv, "red_hash");
    double *own = malloc(sizeof *own * LONGEST), *got = malloc(sizeof *got * LONGEST);
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    uint64_t hash = (uint64_t)test.rank, all = 0;
    unsigned long long calls = 0;
    for (int k = 0; k < KINDS; k++)
        for (int l = 0; l < 5; l++)
            for (int time = 0; time < TIMES; time++) {
                int n = lengths[l];
                divide(n);
                struct share s = share_of(k, n);
                for (int i = 0; i < n; i++) own[i] = operand(test.rank, i);
                unsigned long long before = test.expect ? test.calls(names[k], NULL) : 0;
                sum(k, own, got, n);
                if (!test.expect || test.calls(names[k], NULL) == before) continue;
                calls++;
                for (int i = 0; i < s.count; i++) {
                    uint64_t bits;
                    memcpy(&bits, &got[i], sizeof bits);
                    hash = mixed(hash ^ bits);
                }
                if (promise && !strcmp(promise, "order")) compare(k, s, got);
            }
    PMPI_Allreduce(&hash, &all, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    if (test.rank == 0) printf("bits %016llx of %llu calls\n", (unsigned long long)all, calls);
    free(own);
    free(got);
    free(counts);
    return finish();
}
