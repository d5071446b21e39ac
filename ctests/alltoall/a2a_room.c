/* MPI_Alltoallv of short blocks, and twice of blocks for which ranks have no room but in the buffers of the program.
 * What becomes of them the statistics show.
 */
#include "blocks.h"
#include "exchanges.h"

static void exchange(int n) {
    static unsigned call;
    size_t p = (size_t)test.ranks, ints = sizeof(int) * p, bytes = (size_t)n;
    int *counts = malloc(ints), *displs = malloc(ints);
    unsigned char *own = malloc(bytes * p), *got = malloc(bytes * p);
    call++;
    for (int r = 0; r < test.ranks; r++) {
        counts[r] = n;
        displs[r] = r * n;
        fill(own + displs[r], bytes, pair_seed(test.rank, r, call));
    }
    alltoallv(own, counts, displs, MPI_BYTE, got, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < test.ranks; r++)
        CHECK_IN(wrong(got + displs[r], bytes, pair_seed(r, test.rank, call)) == 0, "%d bytes from %d", n, r);
    free(own);
    free(got);
    free(counts);
    free(displs);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "a2a_room");
    exchange(10);
    exchange(1000);
    exchange(1000);
    return finish();
}
