/* The standard asks that what rank r sends and what every rank receives from it have equal type signatures, not equal
 * (count, datatype). So each rank describes its own block, and all the blocks it receives, in its own way.
 *
 * regular    blocks of N ints: N x int on some ranks, 1 x contiguous(N) or 2 x contiguous(N/2) on others, as vector, or
 *            in reverse order; on the sending side, on the receiving side and on both
 * irregular  blocks of different lengths, and per rank any of the types of agv.h on either side
 *
 * Arguments: each an N, for the regular part alone with these N.
 */
#include "agv.h"

static struct layout whole(int ints) {
    struct layout l = new_layout("contiguous of a whole block", 4L * ints);
    MPI_Datatype t;
    MPI_Type_contiguous(ints, MPI_INT, &t);
    add(&l, 0, 4L * ints);
    return commit(l, t);
}

static struct layout half(int ints) { return whole(ints / 2); }

static struct layout single(int ints) {
    (void)ints;
    return ints_plain();
}

static struct layout pairs(int ints) {
    struct layout l = new_layout("vector of pairs, stride 3", 4L * (3 * (ints / 2) - 1));
    MPI_Datatype t;
    MPI_Type_vector(ints / 2, 2, 3, MPI_INT, &t);
    for (int i = 0; i < ints / 2; i++) add(&l, 12L * i, 8);
    return commit(l, t);
}

/* Dense, and the message runs from the last int to the first. */
static struct layout reverse(int ints) {
    struct layout l = new_layout("a block in reverse", 4L * ints);
    int *at = malloc(sizeof *at * (size_t)ints);
    for (int i = 0; i < ints; i++) {
        at[i] = ints - 1 - i;
        add(&l, 4L * at[i], 4);
    }
    MPI_Datatype t;
    MPI_Type_create_indexed_block(ints, 1, at, MPI_INT, &t);
    free(at);
    return commit(l, t);
}

typedef struct layout (*block_maker)(int ints);
static const block_maker forms[] = {single, whole, half, pairs, reverse};
enum { SINGLE, WHOLE, FORMS = sizeof forms / sizeof *forms };

/* Blocks of `ints` ints (even), which this rank sends and receives in these forms; a negative one is in place. */
static void one(int ints, int sends, int receives) {
    struct layout send = forms[sends < 0 ? 0 : sends](ints), recv = forms[receives](ints);
    int *counts = malloc(sizeof *counts * (size_t)test.ranks);
    for (int r = 0; r < test.ranks; r++) counts[r] = (int)(4L * ints / layout_bytes(&recv));
    allgather_counts(sends < 0 ? NULL : &send, &recv, counts, MPI_COMM_WORLD);
    free(counts);
    drop(&send);
    drop(&recv);
}

static void regular(int ints) {
    int me = test.rank, last = test.ranks - 1;
    one(ints, me == 0 ? WHOLE : SINGLE, SINGLE);
    one(ints, me == 0 ? SINGLE : WHOLE, SINGLE);
    one(ints, me == last ? WHOLE : SINGLE, WHOLE);
    one(ints, SINGLE, me == 0 ? WHOLE : SINGLE);
    one(ints, SINGLE, me % 2 ? WHOLE : SINGLE);
    one(ints, WHOLE, me == 1 % test.ranks ? SINGLE : WHOLE);
    for (int step = 0; step < FORMS; step++) {
        one(ints, (me + step) % FORMS, SINGLE);
        one(ints, SINGLE, (me + step) % FORMS);
        one(ints, (me + step) % FORMS, (2 * me + step) % FORMS);
        one(ints, -1, (me + step) % FORMS);
    }
}

static void irregular(int each) {
    int *units = malloc(sizeof *units * (size_t)test.ranks);
    for (int step = 0; step < INTS_MAKERS; step++) {
        struct layout send = ints_makers[(test.rank * 3 + step) % INTS_MAKERS]();
        struct layout recv = ints_makers[(test.rank * 5 + 2 * step) % INTS_MAKERS]();
        for (int r = 0; r < test.ranks; r++) units[r] = (r * r + step) % 5 * each;
        allgather_units(step % 4 ? &send : NULL, &recv, units, MPI_COMM_WORLD);
        drop(&send);
        drop(&recv);
    }
    free(units);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_signatures");
    for (int i = 1; i < argc; i++) regular(atoi(argv[i]));
    if (argc > 1) return finish();
    regular(2);
    regular(30);
    regular(1260);
    regular(20000);
    irregular(1);
    irregular(40);
    irregular(700);
    return finish();
}
