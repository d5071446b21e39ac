/* MPI_Bcast_c and PMPI_Bcast_c, where the host has them: taken like MPI_Bcast, with counts of type MPI_Count. */
#include "layouts.h"

static void one(MPI_Count count, MPI_Datatype type, int size, int root, int lower) {
    size_t bytes = (size_t)count * (size_t)size;
    unsigned char *b = malloc(bytes + 1);
    fill(b, bytes, test.rank == root ? 1 : 2);
    struct counts before = counts_now();
    int takes = is_rondos((int)count, type, MPI_COMM_WORLD);
    int rc = lower ? PMPI_Bcast_c(b, count, type, root, MPI_COMM_WORLD)
                   : MPI_Bcast_c(b, count, type, root, MPI_COMM_WORLD);
    CHECK(rc == MPI_SUCCESS);
    check_counts(before, (unsigned long long)takes, (unsigned long long)!takes);
    CHECK(wrong(b, bytes, 1) == 0);
    free(b);
}

/* Some ranks call MPI_Bcast and some MPI_Bcast_c: it is one collective. */
static void mixed(int root) {
    static unsigned char b[60000];
    fill(b, sizeof b, test.rank == root ? 1 : 2);
    if (test.rank % 2)
        CHECK(MPI_Bcast(b, sizeof b, MPI_BYTE, root, MPI_COMM_WORLD) == MPI_SUCCESS);
    else
        CHECK(MPI_Bcast_c(b, sizeof b, MPI_BYTE, root, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(wrong(b, sizeof b, 1) == 0);
}

/* A type made by a large-count constructor, whose contents MPI_Type_get_contents cannot give. */
static void large_constructor(int root) {
    struct layout l = new_layout("vector_c of 100 x 2 ints, stride 3", 1196);
    MPI_Datatype t;
    MPI_Type_vector_c(100, 2, 3, MPI_INT, &t);
    for (int i = 0; i < 100; i++) add(&l, 12L * i, 8);
    l = commit(l, t);
    bcast_layouts(&l, 50, &l, 50, root, MPI_COMM_WORLD);
    drop(&l);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "bcastc");
    for (int root = 0; root < test.ranks; root++)
        for (int lower = 0; lower < 2; lower++) {
            one(0, MPI_INT, 4, root, lower);
            one(1, MPI_BYTE, 1, root, lower);
            one(12345, MPI_DOUBLE, 8, root, lower);
            mixed(root);
            large_constructor(root);
        }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int class, b[4];
    MPI_Error_class(MPI_Bcast_c(b, 4, MPI_INT, test.ranks, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_ROOT);
    MPI_Error_class(MPI_Bcast_c(b, -1, MPI_INT, 0, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_COUNT);
    return finish();
}
