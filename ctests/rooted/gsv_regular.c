/* MPI_Gather and MPI_Scatter: blocks of equal size, from and to every root, separate and in place, of named and
 * derived types, also such that ranks describe the same blocks differently. What surrounds the received data, and what
 * was sent, is as before. Each is taken by its PMPI_ name too.
 *
 * Argument: "portable" leaves out what Open MPI 4.1 by itself fails at: ranks that differ, and negative extents.
 */
#include "gsv.h"

static int portable;

static const int sizes[] = {1, 2, 3, 8, 63, 64, 65, 100, 1000, 4099, 32768, 65537};
enum { SIZES = sizeof sizes / sizeof *sizes };

static struct move number(unsigned n, const struct layout *own, const struct layout *all, MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    return (struct move){.way = n % 2 ? SCATTER : GATHER,
                         .root = (int)(n / 2) % p,
                         .in_place = n % 3 == 0,
                         .edition = n,
                         .own = own,
                         .all = all,
                         .comm = comm};
}

static void bytes_and_ints(MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    struct piece piece[2];
    struct layout byte = dense(MPI_BYTE, &piece[0]), whole = dense(MPI_INT, &piece[1]);
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < 2 * (p < 8 ? p : 8); k++) {
            unsigned n = (unsigned)(5 * i + k);
            check_regular(number(n, &byte, &byte, comm), sizes[i]);
            check_regular(number(n, &byte, &whole, comm), (sizes[i] + 3) / 4);
        }
}

static void named_types(void) {
    const MPI_Datatype types[] = {MPI_CHAR,   MPI_SHORT,    MPI_LONG_LONG,   MPI_FLOAT, MPI_DOUBLE,
                                  MPI_C_BOOL, MPI_UINT16_T, MPI_LONG_DOUBLE, MPI_AINT,  MPI_C_DOUBLE_COMPLEX};
    unsigned n = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int count = 1; count <= 500; count *= 21)
            for (int way = 0; way < WAYS; way++) {
                struct piece piece;
                struct layout l = dense(types[t], &piece);
                check_regular(number(n++, &l, &l, MPI_COMM_WORLD), count);
            }
}

/* `units` units of 12 ints for each rank. */
static void derived(unsigned n, int o, int a, int units) {
    if (portable && (ints_makers[o] == ints_negative_extent || ints_makers[a] == ints_negative_extent)) return;
    struct layout own = ints_makers[o](), all = ints_makers[a]();
    check_regular(number(n, &own, &all, MPI_COMM_WORLD), units * per_unit(&all));
    drop(&own);
    drop(&all);
}

static void derived_types(void) {
    unsigned n = 0;
    for (int o = 0; o < INTS_MAKERS; o++)
        for (int a = 0; a < INTS_MAKERS; a++, n++) derived(n + n / INTS_MAKERS % 2, o, a, (o + 2 * a) % 3 ? 1 + a : 60);
    for (int step = 0; step < INTS_MAKERS && !portable; step++)
        for (int units = 1; units <= 400; units *= 20)
            for (int way = 0; way < WAYS; way++)
                derived(n++, (3 * test.rank + step) % INTS_MAKERS, 2 * step % INTS_MAKERS, units);
}

static void nothing(void) {
    unsigned char own[16], all[16];
    fill(own, sizeof own, 1);
    fill(all, sizeof all, 2);
    for (int root = 0; root < test.ranks; root++) {
        void *in_place = test.rank == root ? MPI_IN_PLACE : NULL;
        gather(own, 0, MPI_INT, all, 0, MPI_INT, root, MPI_COMM_WORLD);
        gather(in_place, 0, MPI_DOUBLE, all, 0, MPI_DOUBLE, root, MPI_COMM_WORLD);
        gather(NULL, 0, MPI_BYTE, NULL, 0, MPI_BYTE, root, MPI_COMM_WORLD);
        scatter(all, 0, MPI_INT, own, 0, MPI_INT, root, MPI_COMM_WORLD);
        scatter(all, 0, MPI_DOUBLE, in_place, 0, MPI_DOUBLE, root, MPI_COMM_WORLD);
        scatter(NULL, 0, MPI_BYTE, NULL, 0, MPI_BYTE, root, MPI_COMM_WORLD);
    }
    CHECK(wrong(own, sizeof own, 1) == 0 && wrong(all, sizeof all, 2) == 0);
}

/* Checks that the calls of `before` have each moved by one since, by whom we expect for calls of the PMPI_ name. */
static void one_of_each(const struct counts before[4]) {
    unsigned long long rondos = test.ranks >= 3;
    for (int i = 0; i < 4; i++) check_counts(before[i], rondos, !rondos);
}

static void lower_names(void) {
    enum { BLOCK = 500 };
    int p = test.ranks, *counts = malloc(sizeof *counts * (size_t)p), *displs = malloc(sizeof *displs * (size_t)p);
    unsigned char *all = malloc((size_t)p * BLOCK), own[BLOCK];
    for (int r = 0; r < p; r++) {
        counts[r] = BLOCK;
        displs[r] = r * BLOCK;
    }
    for (int root = 0; root < p; root++) {
        const struct counts before[] = {counts_of("gatherv"), counts_of("gather"), counts_of("scatterv"),
                                        counts_of("scatter")};
        MPI_Comm world = MPI_COMM_WORLD;
        for (int regular = 0; regular < 2; regular++) {
            fill(own, BLOCK, (unsigned)test.rank);
            memset(all, 0, (size_t)p * BLOCK);
            if (regular)
                CHECK(!PMPI_Gather(own, BLOCK, MPI_BYTE, all, BLOCK, MPI_BYTE, root, world));
            else
                CHECK(!PMPI_Gatherv(own, BLOCK, MPI_BYTE, all, counts, displs, MPI_BYTE, root, world));
            for (int r = 0; r < p; r++)
                CHECK(test.rank != root || wrong(all + r * BLOCK, BLOCK, (unsigned)r) == 0);
            for (int r = 0; r < p; r++) fill(all + r * BLOCK, BLOCK, 100 + (unsigned)r);
            if (regular)
                CHECK(!PMPI_Scatter(all, BLOCK, MPI_BYTE, own, BLOCK, MPI_BYTE, root, world));
            else
                CHECK(!PMPI_Scatterv(all, counts, displs, MPI_BYTE, own, BLOCK, MPI_BYTE, root, world));
            CHECK(wrong(own, BLOCK, 100 + (unsigned)test.rank) == 0);
        }
        one_of_each(before);
    }
    free(counts);
    free(displs);
    free(all);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_regular");
    portable = argc > 1 && !strcmp(argv[1], "portable");
    bytes_and_ints(MPI_COMM_WORLD);
    bytes_and_ints(MPI_COMM_SELF);
    named_types();
    derived_types();
    nothing();
    lower_names();
    return finish();
}
