/* MPI_BOTTOM with absolute addresses: the buffer argument is a null pointer, the data lies wherever the type says.
 * All ranks use it, or only the root, or all but the root.
 */
#include "rondo_test.h"

enum { INTS = 5000, DOUBLES = 3000 };

static int *ints;
static double *doubles;
static char letter;

/* One element covers three objects in unrelated places. */
static MPI_Datatype absolute(void) {
    int lengths[] = {INTS, 1, DOUBLES};
    MPI_Aint at[3];
    MPI_Datatype parts[] = {MPI_INT, MPI_CHAR, MPI_DOUBLE}, t;
    MPI_Get_address(ints, &at[0]);
    MPI_Get_address(&letter, &at[1]);
    MPI_Get_address(doubles, &at[2]);
    MPI_Type_create_struct(3, lengths, at, parts, &t);
    MPI_Type_commit(&t);
    return t;
}

static void set(int root) {
    for (int i = 0; i < INTS; i++) ints[i] = test.rank == root ? i : -1;
    for (int i = 0; i < DOUBLES; i++) doubles[i] = test.rank == root ? i / 2.0 : -1;
    letter = test.rank == root ? 'r' : '?';
}

static void look(void) {
    int bad = letter != 'r';
    for (int i = 0; i < INTS; i++) bad += ints[i] != i;
    for (int i = 0; i < DOUBLES; i++) bad += doubles[i] != i / 2.0;
    CHECK(bad == 0);
}

/* A single dense block at an absolute address: contiguous, but not at the buffer argument. */
static void dense(int root, int root_uses_bottom, int others_use_bottom) {
    int length = INTS;
    MPI_Aint at;
    MPI_Datatype t;
    MPI_Get_address(ints, &at);
    MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &t);
    MPI_Type_commit(&t);
    set(root);
    if (test.rank == root ? root_uses_bottom : others_use_bottom)
        bcast(MPI_BOTTOM, 1, t, root, MPI_COMM_WORLD);
    else
        bcast(ints, INTS, MPI_INT, root, MPI_COMM_WORLD);
    int bad = 0;
    for (int i = 0; i < INTS; i++) bad += ints[i] != i;
    CHECK(bad == 0);
    CHECK(letter == (test.rank == root ? 'r' : '?'));
    MPI_Type_free(&t);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "bottom");
    ints = malloc(sizeof *ints * INTS);
    doubles = malloc(sizeof *doubles * DOUBLES);
    MPI_Datatype t = absolute();
    for (int root = 0; root < test.ranks; root++) {
        set(root);
        bcast(MPI_BOTTOM, 1, t, root, MPI_COMM_WORLD);
        look();
        dense(root, 1, 1);
        dense(root, 1, 0);
        dense(root, 0, 1);
    }
    MPI_Type_free(&t);
    free(ints);
    free(doubles);
    return finish();
}
