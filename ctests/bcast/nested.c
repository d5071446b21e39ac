/* Types inside types, many deep: a struct that has the same struct twice, 25 deep, so that there are 2^25 ways through
 * it, of which one has data. And duplicates of duplicates, 50,000 of them.
 */
#include "rondo_test.h"

enum { STRUCTS = 25, DUPLICATES = 50000, COUNT = 500 };

/* Broadcasts elements of a type that has the bytes of an int. */
static void use(MPI_Datatype type, const char *name) {
    int values[COUNT + 1];
    MPI_Type_commit(&type);
    for (int root = 0; root < test.ranks; root++) {
        for (int i = 0; i <= COUNT; i++) values[i] = test.rank == root ? 7 * i + root : -1;
        bcast(values, COUNT, type, root, MPI_COMM_WORLD);
        int bad = 0;
        for (int i = 0; i < COUNT; i++) bad += values[i] != 7 * i + root;
        CHECK_IN(bad == 0, "%s from %d: %d", name, root, bad);
        CHECK(values[COUNT] == (test.rank == root ? 7 * COUNT + root : -1));
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "nested");
    static MPI_Datatype types[DUPLICATES + 1];
    const MPI_Aint at[] = {0, 0};
    const int lengths[] = {1, 0};
    types[0] = MPI_INT;
    for (int i = 0; i < STRUCTS; i++) {
        const MPI_Datatype both[] = {types[i], types[i]};
        MPI_Type_create_struct(2, lengths, at, both, &types[i + 1]);
    }
    use(types[STRUCTS], "structs");
    for (int i = STRUCTS; i > 0; i--) MPI_Type_free(&types[i]);

    MPI_Type_contiguous(1, MPI_INT, &types[0]);
    MPI_Type_commit(&types[0]);
    for (int i = 0; i < DUPLICATES; i++) MPI_Type_dup(types[i], &types[i + 1]);
    use(types[DUPLICATES], "duplicates");
    /* From the last on, so that no type goes with the one that is made of it. */
    for (int i = DUPLICATES; i >= 0; i--) MPI_Type_free(&types[i]);
    return finish();
}
