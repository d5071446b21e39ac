/* MPI_Gatherv and MPI_Scatterv of derived types on either side: the bytes of the type maps move, and no others.
 *
 * The type of a rank's own block and that of the blocks at the root differ, with the same signature; so may the types
 * of different ranks. In place as well, and with the addresses in the types and MPI_BOTTOM as the buffer.
 *
 * Argument: a factor for the lengths of blocks (1), so that short ones become long.
 */
#include "gsv.h"

static int factor = 1;
static int *counts, *displs;

/* Counts in elements of `all`: none to three times `units` units of 12 ints. */
static void set_counts(int shift, int units, const struct layout *all) {
    for (int r = 0; r < test.ranks; r++) counts[r] = (r + shift) % 4 * units * factor * per_unit(all);
}

static struct move between(const struct layout *own, const struct layout *all, int number) {
    return (struct move){.way = number % 2 ? SCATTER : GATHER,
                         .root = number / 2 % test.ranks,
                         .edition = (unsigned)number,
                         .own = own,
                         .all = all,
                         .counts = counts,
                         .displs = displs,
                         .comm = MPI_COMM_WORLD};
}

/* Every type of ints against every other, and in place. */
static void every_pair(void) {
    const int units[] = {1, 3, 17};
    for (int o = 0; o < INTS_MAKERS; o++)
        for (int a = 0; a < INTS_MAKERS; a++) {
            struct layout own = ints_makers[o](), all = ints_makers[a]();
            set_counts(o + a, units[(o + a) % 3], &all);
            for (int way = 0; way < WAYS; way++) {
                struct move m = between(&own, &all, 2 * (o + 3 * a) + way);
                m.in_place = o == a;
                check_dense(m);
            }
            drop(&own);
            drop(&all);
        }
}

/* Blocks of many kilobytes. */
static void long_blocks(void) {
    for (int a = 0; a < INTS_MAKERS; a++) {
        struct layout own = ints_makers[(a + 5) % INTS_MAKERS](), all = ints_makers[a]();
        set_counts(a, 301, &all);
        for (int way = 0; way < WAYS; way++) {
            struct move m = between(&own, &all, 2 * a + way);
            m.in_place = a % 3 == 0;
            check_dense(m);
        }
        drop(&own);
        drop(&all);
    }
}

/* Each rank has a type of its own, which nobody else knows. */
static void ranks_differ(void) {
    for (int step = 0; step < INTS_MAKERS; step++)
        for (int units = 1; units <= 400; units *= 20) {
            struct layout own = ints_makers[(3 * test.rank + step) % INTS_MAKERS]();
            struct layout all = ints_makers[2 * step % INTS_MAKERS]();
            set_counts(step, units, &all);
            for (int way = 0; way < WAYS; way++) {
                struct move m = between(&own, &all, 2 * (step + units) + way);
                m.in_place = step % 4 == 0;
                check_dense(m);
            }
            drop(&own);
            drop(&all);
        }
}

/* Displacements count extents, also where an extent is negative or has little to do with the size. */
static void displacements(void) {
    for (int i = 0; i < INTS_MAKERS; i++) {
        struct layout all = ints_makers[i](), plain = ints_plain();
        int at = -20;
        for (int k = 0; k < test.ranks; k++) {
            int r = k % 2 ? test.ranks - 1 - k / 2 : k / 2; /* from both ends in turn */
            counts[r] = (r + i) % 3 * factor * per_unit(&all);
            displs[r] = at;
            at += counts[r] + (i + k) % 2 * 12; /* a multiple of 12 elements keeps interleaved ones apart */
        }
        for (int way = 0; way < WAYS; way++) {
            struct move m = between(&plain, &all, 2 * i + way);
            m.in_place = i % 2;
            check_move(&m);
        }
        drop(&all);
        drop(&plain);
    }
}

/* MPI_BOTTOM as a rank's own buffer, as the root's, or as both. */
static void bottom(void) {
    for (int i = 0; i < INTS_MAKERS; i++)
        for (int where = OWN; where <= (OWN | ALL); where++) {
            struct layout own = ints_makers[i](), all = ints_makers[(3 * i + where) % INTS_MAKERS]();
            set_counts(i, where * where * 5, &all);
            lay_out(i % 2 ? REVERSED : MIDDLE, test.ranks, counts, 0, displs);
            for (int way = 0; way < WAYS; way++) {
                struct move m = between(&own, &all, 2 * (i + where) + way);
                m.bottom = where;
                m.in_place = where == ALL && i % 2;
                check_dense(m);
            }
            drop(&own);
            drop(&all);
        }
}

static void structures(void) {
    int number = 0;
    for (int o = 0; o < RECORDS; o++)
        for (int a = 0; a < RECORDS; a++)
            for (int each = 1; each <= 400; each *= 20) {
                struct layout own = records[o](), all = records[a]();
                for (int r = 0; r < test.ranks; r++) counts[r] = (r + o + a) % 3 * each * factor;
                for (int way = 0; way < WAYS; way++, number++) {
                    struct move m = between(&own, &all, number);
                    m.in_place = o == a;
                    check_dense(m);
                }
                drop(&own);
                drop(&all);
            }
}

/* Types without a byte: whatever the counts, nothing moves. */
static void zero_size(void) {
    MPI_Datatype none, wide;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_create_resized(none, 0, 32, &wide);
    MPI_Datatype types[] = {none, wide};
    unsigned char own[256], all[256];
    int root = test.ranks / 2, *zeros = calloc((size_t)test.ranks, sizeof *zeros);
    void *in_place = test.rank == root ? MPI_IN_PLACE : own;
    fill(own, sizeof own, 1);
    fill(all, sizeof all, 2);
    for (int i = 0; i < 2; i++) {
        MPI_Datatype t = types[i];
        MPI_Type_commit(&t);
        for (int r = 0; r < test.ranks; r++) {
            counts[r] = 1 + r % 3;
            displs[r] = r % 2;
        }
        int mine = counts[test.rank];
        gatherv(own, mine, t, all, counts, displs, t, root, MPI_COMM_WORLD);
        gatherv(in_place, mine, t, all, counts, displs, t, root, MPI_COMM_WORLD);
        scatterv(all, counts, displs, t, own, mine, t, root, MPI_COMM_WORLD);
        scatterv(all, counts, displs, t, in_place, mine, t, root, MPI_COMM_WORLD);
        gather(own, 5, t, all, 5, t, root, MPI_COMM_WORLD);
        scatter(all, 5, t, in_place, 5, t, root, MPI_COMM_WORLD);
        /* Elements on one side, none on the other. */
        gatherv(own, 5, t, all, zeros, displs, MPI_DOUBLE, root, MPI_COMM_WORLD);
        gatherv(own, 0, MPI_DOUBLE, all, counts, displs, t, root, MPI_COMM_WORLD);
        scatterv(all, zeros, displs, MPI_DOUBLE, own, 5, t, root, MPI_COMM_WORLD);
        scatterv(all, counts, displs, t, own, 0, MPI_DOUBLE, root, MPI_COMM_WORLD);
        CHECK(wrong(own, sizeof own, 1) == 0 && wrong(all, sizeof all, 2) == 0);
    }
    MPI_Type_free(&none);
    MPI_Type_free(&wide);
    free(zeros);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_types");
    if (argc > 1) factor = atoi(argv[1]);
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);
    every_pair();
    long_blocks();
    ranks_differ();
    displacements();
    bottom();
    structures();
    zero_size();
    free(counts);
    free(displs);
    return finish();
}
