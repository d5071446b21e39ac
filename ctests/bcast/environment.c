/* A launcher that does not forward the environment: the ranks start with different RONDO_* settings. Rank 0's are used
 * by all, on MPI_COMM_WORLD and, by its own rank 0, on a communicator in reverse order. Nothing hangs.
 */
#include "rondo_test.h"

int main(int argc, char **argv) {
    /* Rondo reads the environment at the first call it intercepts, so this is as good as a launcher's doing. */
    start(&argc, &argv, "environment");
    if (test.rank % 3 == 1) setenv("RONDO", "off", 1);
    if (test.rank % 3 == 2) setenv("RONDO_BCAST", "host", 1), setenv("RONDO_BLOCK_BYTES", "77", 1);
    if (test.rank == test.ranks - 1 && test.rank > 0) setenv("RONDO_BLOCK_BYTES", "1M", 1), unsetenv("RONDO_BCAST");
    for (int root = 0; root < test.ranks; root++) bcast_bytes(50000, root, MPI_COMM_WORLD);

    MPI_Comm reverse;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &reverse);
    unsigned char b[5000];
    fill(b, sizeof b, test.rank == 0 ? 3 : 4);
    MPI_Bcast(b, sizeof b, MPI_BYTE, test.ranks - 1, reverse);
    CHECK(wrong(b, sizeof b, 3) == 0);
    MPI_Comm_free(&reverse);
    return finish();
}
