/* MPI_Allgatherv of named types, blocks one behind the other, in every distribution over the ranks.
 *
 * - Every rank holds every block afterwards; the bytes around them and those that were sent are as before.
 * - Ranks may contribute nothing, all but one, or all of them; their buffers may then be NULL.
 * - Separate buffers and MPI_IN_PLACE.
 * - On MPI_COMM_SELF and on communicators of at most two ranks the host carries the call out.
 *
 * Argument: the largest total in bytes (1 MiB), for runs in which blocks are tiny.
 */
#include "agv.h"

static int most = 1 << 20;
static int *counts;

enum kind { SAME, MOD3, DECREASING, INCREASING, ONE, TWO, SKEWED, RANDOM, KINDS };

/* Sets the counts of p ranks, whose sum is about p * each. `pick` selects the ranks that differ from the others. */
static void distribute(enum kind kind, int each, int p, int pick) {
    for (int r = 0; r < p; r++) {
        unsigned hash = (unsigned)(r + 1) * 2654435761u ^ (unsigned)(each + 7 * pick) * 2246822519u;
        hash ^= hash >> 15;
        switch (kind) {
        case SAME: counts[r] = each; break;
        case MOD3: counts[r] = r % 3 * each; break;
        case DECREASING: counts[r] = 2 * each * (p - r) / (p + 1); break;
        case INCREASING: counts[r] = 2 * each * (r + 1) / (p + 1); break;
        case ONE: counts[r] = r == pick % p ? p * each : 0; break;
        case TWO:
            counts[r] = r == pick % p ? p * each / 3 + 1 : r == (pick + p / 2) % p ? p * each * 2 / 3 : 0;
            break;
        /* Nearly all is with every eighth rank; the others hold 0 to 2 elements. */
        case SKEWED: counts[r] = (r + pick) % 8 == 0 ? (p < 8 ? p : 8) * each : (int)(hash % 3); break;
        case RANDOM: counts[r] = hash % 5 < 3 ? 0 : (int)(hash / 5 % (unsigned)(5 * each)); break;
        case KINDS: break;
        }
    }
}

static void one(enum kind kind, int each, int pick, MPI_Datatype type, int in_place, MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    distribute(kind, each, p, pick);
    struct piece piece;
    struct layout l = dense(type, &piece);
    allgather_counts(in_place ? NULL : &l, &l, counts, comm);
}

/* Totals around powers of two, odd ones, and ones that no block count divides. */
static const int totals[] = {1, 2, 5, 16, 63, 100, 257, 1000, 4096, 10007, 40001, 65536, 131101, 400000, 1 << 20};
enum { TOTALS = sizeof totals / sizeof *totals };

static void every_kind_and_total(void) {
    int p = test.ranks;
    for (int i = 0; i < TOTALS && totals[i] <= most; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            int each = totals[i] < p ? 1 : totals[i] / p;
            one(kind, each, i + kind, MPI_BYTE, (i + kind) % 2, MPI_COMM_WORLD);
        }
}

/* Each rank in turn is the only one with data: a broadcast, in effect. */
static void every_single_one(void) {
    const int some[] = {1, 6, 1001, 20011};
    for (int r = 0; r < test.ranks; r++)
        for (int i = 0; i < 4; i++) {
            if (some[i] > most) continue;
            for (int k = 0; k < test.ranks; k++) counts[k] = k == r ? some[i] : 0;
            struct piece piece;
            struct layout l = dense(MPI_BYTE, &piece);
            allgather_counts((r + i) % 2 ? NULL : &l, &l, counts, MPI_COMM_WORLD);
        }
}

static void named_types(void) {
    const MPI_Datatype types[] = {MPI_CHAR,     MPI_SHORT,  MPI_INT,   MPI_LONG_LONG,        MPI_FLOAT,
                                  MPI_DOUBLE,   MPI_2INT,   MPI_AINT,  MPI_LONG_DOUBLE,      MPI_UNSIGNED,
                                  MPI_UINT16_T, MPI_C_BOOL, MPI_WCHAR, MPI_C_DOUBLE_COMPLEX};
    const int some[] = {1, 13, 700};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int i = 0; i < 3; i++)
            if (some[i] * 16 * test.ranks <= most)
                one((enum kind)((t + (size_t)i) % KINDS), some[i], (int)t, types[t], (int)(t + (size_t)i) % 2,
                    MPI_COMM_WORLD);
}

/* No data at all, with buffers and without. */
static void nothing(void) {
    unsigned char kept[8];
    int *displs = calloc((size_t)test.ranks, sizeof *displs);
    for (int r = 0; r < test.ranks; r++) counts[r] = 0;
    fill(kept, sizeof kept, 1);
    allgatherv(kept, 0, MPI_INT, kept + 4, counts, displs, MPI_INT, MPI_COMM_WORLD);
    allgatherv(NULL, 0, MPI_DOUBLE, NULL, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
    allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, NULL, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
    CHECK(wrong(kept, sizeof kept, 1) == 0);
    free(displs);
}

/* Ranks without data of their own pass NULL and the others' data still come. */
static void null_send_buffers(void) {
    int p = test.ranks, *displs = malloc(sizeof *displs * (size_t)p);
    unsigned char *got = malloc((size_t)p * 1000), mine[1000];
    int given = 0;
    for (int r = 0; r < p; r++) {
        counts[r] = r % 2 ? 0 : 1000;
        displs[r] = given;
        given += counts[r];
    }
    fill(mine, sizeof mine, (unsigned)test.rank);
    memset(got, 0xa5, (size_t)p * 1000);
    allgatherv(counts[test.rank] ? mine : NULL, counts[test.rank], MPI_BYTE, got, counts, displs, MPI_BYTE,
               MPI_COMM_WORLD);
    for (int r = 0; r < p; r += 2) CHECK_IN(wrong(got + displs[r], 1000, (unsigned)r) == 0, "block of rank %d", r);
    for (int i = given; i < p * 1000; i++) CHECK(got[i] == 0xa5);
    free(displs);
    free(got);
}

static void alone(void) {
    for (int each = 1; each <= 10000; each *= 10)
        for (int in_place = 0; in_place < 2; in_place++) one(SAME, each, 0, MPI_INT, in_place, MPI_COMM_SELF);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_basic");
    if (argc > 1) most = atoi(argv[1]);
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    every_kind_and_total();
    every_single_one();
    named_types();
    nothing();
    null_send_buffers();
    alone();
    free(counts);
    return finish();
}
