/* The standard asks for equal type signatures, not for equal (count, datatype): each rank describes the same
 * message of ints in its own way, and each gets it where its own description says.
 */
#include "layouts.h"

enum { INTS = 1260 }; /* divisible by all the element sizes below */

static struct layout plain(int ints) {
    struct layout l = new_layout("int", 4);
    MPI_Datatype t;
    (void)ints;
    MPI_Type_dup(MPI_INT, &t);
    add(&l, 0, 4);
    return commit(l, t);
}

static struct layout whole(int ints) {
    struct layout l = new_layout("contiguous of all ints", 4L * ints);
    MPI_Datatype t;
    MPI_Type_contiguous(ints, MPI_INT, &t);
    add(&l, 0, 4L * ints);
    return commit(l, t);
}

static struct layout pairs_with_gaps(int ints) {
    struct layout l = new_layout("vector of pairs, stride 3", 4L * (3 * (ints / 2) - 1));
    MPI_Datatype t;
    MPI_Type_vector(ints / 2, 2, 3, MPI_INT, &t);
    for (int i = 0; i < ints / 2; i++) add(&l, 12L * i, 8);
    return commit(l, t);
}

/* Dense with size equal to extent, but each pair is swapped. */
static struct layout swapped(int ints) {
    struct layout l = new_layout("swapped pair", 8);
    int at[] = {1, 0};
    MPI_Datatype t;
    (void)ints;
    MPI_Type_create_indexed_block(2, 1, at, MPI_INT, &t);
    add(&l, 4, 4);
    add(&l, 0, 4);
    return commit(l, t);
}

/* Dense again, and the whole message runs from the last int to the first. */
static struct layout reversed(int ints) {
    struct layout l = new_layout("all ints in reverse", 4L * ints);
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

static struct layout sixes(int ints) {
    struct layout l = new_layout("indexed 3, 1, 2", 40);
    int lengths[] = {3, 1, 2}, at[] = {5, 9, 0};
    MPI_Datatype t;
    (void)ints;
    MPI_Type_indexed(3, lengths, at, MPI_INT, &t);
    for (int i = 0; i < 3; i++) add(&l, 4L * at[i], 4L * lengths[i]);
    return commit(l, t);
}

static struct layout spread(int ints) {
    struct layout l = new_layout("int resized to 12 bytes", 12);
    MPI_Datatype t;
    (void)ints;
    MPI_Type_create_resized(MPI_INT, 0, 12, &t);
    add(&l, 0, 4);
    return commit(l, t);
}

static struct layout structure(int ints) {
    struct layout l = new_layout("struct of int[4] and int[3]", 40);
    int lengths[] = {4, 3};
    MPI_Aint at[] = {0, 28};
    MPI_Datatype parts[] = {MPI_INT, MPI_INT}, t;
    (void)ints;
    MPI_Type_create_struct(2, lengths, at, parts, &t);
    add(&l, 0, 16);
    add(&l, 28, 12);
    return commit(l, t);
}

typedef struct layout (*maker)(int ints);
static const maker makers[] = {whole, plain, pairs_with_gaps, swapped, reversed, sixes, spread, structure};
enum { MAKERS = sizeof makers / sizeof *makers };

/* How many elements of the layout make `ints` ints. */
static int elements(const struct layout *l, int ints) { return (int)(4L * ints / layout_bytes(l)); }

/* The root takes layout `roots`; the others take one that the rank, or a fixed choice, selects. */
static void one(int ints, int roots, int others, int root) {
    int mine = test.rank == root ? roots : (others >= 0 ? others : (test.rank + 1) % MAKERS);
    struct layout r = makers[roots](ints), l = makers[mine](ints);
    bcast_layouts(&r, elements(&r, ints), &l, elements(&l, ints), root, MPI_COMM_WORLD);
    drop(&r);
    drop(&l);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "signatures");
    /* The shortest case: the root sends one contiguous element, the others receive ints, and the other way round. */
    for (int root = 0; root < test.ranks; root++) {
        one(INTS, 0, 1, root);
        one(INTS, 1, 0, root);
    }
    /* All ranks differ. */
    for (int roots = 0; roots < MAKERS; roots++)
        for (int step = 0; step < 2; step++) one(INTS, roots, -1, (roots + step) % test.ranks);
    /* Elements larger than any block, and blocks that end inside of elements. */
    for (int roots = 0; roots < MAKERS; roots++) one(INTS * 32, roots, -1, (roots + 1) % test.ranks);
    /* A single element of the smallest kind that fits. */
    one(42, 2, -1, test.ranks - 1);
    one(42, 4, 3, 0);
    return finish();
}
