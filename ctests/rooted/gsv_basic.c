/* MPI_Gatherv and MPI_Scatterv of named types, blocks one behind the other, in every distribution over the ranks, from
 * and to every root.
 *
 * - Who receives has every byte afterwards; the bytes around them and those that were sent are as before.
 * - Ranks may have nothing, all but one, or all of them; their buffers may then be NULL.
 * - The root's own block is somewhere else, or in place.
 * - On MPI_COMM_SELF and on communicators of at most two ranks the host carries the call out.
 *
 * Argument: the largest average block in bytes (64 KiB), for runs with many ranks.
 */
#include "gsv.h"

static int most = 1 << 16;
static int *counts;

/* From one root to the next: every root, or, where there are more ranks, some of them. */
static int root_step(void) { return test.ranks > 4 ? test.ranks / 4 + 1 : 1; }

static void one(enum way way, enum distribution kind, int each, int root, MPI_Datatype type, unsigned edition,
                MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    distribute(kind, p, root, each, edition, counts);
    struct piece piece;
    struct layout l = dense(type, &piece);
    check_dense((struct move){.way = way,
                              .root = root,
                              .in_place = edition % 3 == 0,
                              .edition = edition,
                              .own = &l,
                              .all = &l,
                              .counts = counts,
                              .comm = comm});
}

/* 64 is the length from which on blocks go straight where RONDO_SHORT_MSG says so. */
static const int sizes[] = {0, 1, 7, 8, 63, 64, 65, 1000, 4099, 1 << 16};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void every_distribution(void) {
    unsigned edition = 0;
    for (int i = 0; i < SIZES && sizes[i] <= most; i++)
        for (int kind = 0; kind < DISTRIBUTIONS; kind++) {
            /* The long ones take their time, so there each distribution has one root. */
            int step = sizes[i] > 1000 ? test.ranks : root_step();
            for (int root = (kind + i) % step; root < test.ranks; root += step)
                for (int way = 0; way < WAYS; way++)
                    one((enum way)way, (enum distribution)kind, sizes[i], root, MPI_BYTE, edition++, MPI_COMM_WORLD);
        }
}

static void named_types(void) {
    const MPI_Datatype types[] = {MPI_CHAR,     MPI_SHORT,  MPI_INT,   MPI_LONG_LONG,        MPI_FLOAT,
                                  MPI_DOUBLE,   MPI_2INT,   MPI_AINT,  MPI_LONG_DOUBLE,      MPI_UNSIGNED,
                                  MPI_UINT16_T, MPI_C_BOOL, MPI_WCHAR, MPI_C_DOUBLE_COMPLEX};
    const int some[] = {1, 13, 700};
    unsigned edition = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int i = 0; i < 3; i++)
            for (int way = 0; way < WAYS; way++, edition++)
                one((enum way)way, (enum distribution)(edition % DISTRIBUTIONS), some[i], (int)edition % test.ranks,
                    types[t], edition, MPI_COMM_WORLD);
}

/* No data at all, with buffers and without. */
static void nothing(void) {
    unsigned char kept[8];
    int *none = calloc((size_t)test.ranks, sizeof *none);
    fill(kept, sizeof kept, 1);
    for (int root = 0; root < test.ranks; root += root_step()) {
        void *own = test.rank == root ? MPI_IN_PLACE : NULL;
        gatherv(kept, 0, MPI_INT, kept + 4, none, none, MPI_INT, root, MPI_COMM_WORLD);
        gatherv(NULL, 0, MPI_DOUBLE, NULL, none, none, MPI_DOUBLE, root, MPI_COMM_WORLD);
        gatherv(own, 0, MPI_BYTE, NULL, none, none, MPI_BYTE, root, MPI_COMM_WORLD);
        scatterv(kept, none, none, MPI_INT, kept + 4, 0, MPI_INT, root, MPI_COMM_WORLD);
        scatterv(NULL, none, none, MPI_DOUBLE, NULL, 0, MPI_DOUBLE, root, MPI_COMM_WORLD);
        scatterv(NULL, none, none, MPI_BYTE, own, 0, MPI_BYTE, root, MPI_COMM_WORLD);
    }
    CHECK(wrong(kept, sizeof kept, 1) == 0);
    free(none);
}

/* Ranks without data of their own pass NULL, and the others' data still come. */
static void null_buffers(void) {
    enum { BLOCK = 1000 };
    int p = test.ranks, root = p / 2, given = 0, *displs = malloc(sizeof *displs * (size_t)p);
    unsigned char *all = malloc((size_t)p * BLOCK), mine[BLOCK];
    for (int r = 0; r < p; r++) {
        counts[r] = r % 2 ? 0 : BLOCK;
        displs[r] = given;
        given += counts[r];
    }
    void *own = counts[test.rank] ? mine : NULL;
    fill(mine, sizeof mine, (unsigned)test.rank);
    memset(all, 0xa5, (size_t)p * BLOCK);
    gatherv(own, counts[test.rank], MPI_BYTE, all, counts, displs, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int r = 0; r < p && test.rank == root; r += 2)
        CHECK_IN(wrong(all + displs[r], BLOCK, (unsigned)r) == 0, "block of rank %d", r);
    for (int i = test.rank == root ? given : 0; i < p * BLOCK; i++) CHECK(all[i] == 0xa5);

    for (int r = 0; r < p; r += 2) fill(all + displs[r], BLOCK, 200 + (unsigned)r);
    scatterv(all, counts, displs, MPI_BYTE, own, counts[test.rank], MPI_BYTE, root, MPI_COMM_WORLD);
    if (own) CHECK(wrong(mine, sizeof mine, 200 + (unsigned)test.rank) == 0);
    free(displs);
    free(all);
}

static void alone(void) {
    unsigned edition = 0;
    for (int each = 1; each <= 10000; each *= 10)
        for (int way = 0; way < WAYS; way++)
            for (int i = 0; i < 3; i++) one((enum way)way, SAME, each, 0, MPI_INT, edition++, MPI_COMM_SELF);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_basic");
    if (argc > 1) most = atoi(argv[1]);
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    every_distribution();
    named_types();
    nothing();
    null_buffers();
    alone();
    free(counts);
    return finish();
}
