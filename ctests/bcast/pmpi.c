/* PMPI_Bcast is the name by which Fortran layers and other profilers call. Rondo takes it as it takes MPI_Bcast, each
 * call once.
 */
#include "rondo_test.h"

/* Carries `bytes` from `root` through PMPI_Bcast. */
static void lower(size_t bytes, int root) {
    unsigned char *b = malloc(bytes);
    fill(b, bytes, test.rank == root ? 8 : 9);
    CHECK(PMPI_Bcast(b, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(wrong(b, bytes, 8) == 0);
    free(b);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "pmpi");
    int takes = test.ranks >= 3;
    for (int root = 0; root < test.ranks; root++) {
        struct counts before = counts_now();
        lower(50000, root);
        lower(1, root);
        check_counts(before, takes ? 2 : 0, takes ? 0 : 2);
        bcast_bytes(50000, root, MPI_COMM_WORLD);
    }
    return finish();
}
