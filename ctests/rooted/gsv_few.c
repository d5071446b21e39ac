/* A few calls of MPI_Gatherv, MPI_Gather, MPI_Scatterv and MPI_Scatter, in turn: as many as the first argument says,
 * with blocks of as many bytes as the second says.
 */
#include "rondo_test.h"

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_few");
    int calls = argc > 1 ? atoi(argv[1]) : 8, bytes = argc > 2 ? atoi(argv[2]) : 16, p = test.ranks;
    unsigned char *own = malloc((size_t)bytes), *all = malloc((size_t)(p * bytes));
    int *counts = malloc((size_t)p * sizeof *counts), *displs = malloc((size_t)p * sizeof *displs);
    for (int r = 0; r < p; r++) counts[r] = bytes, displs[r] = r * bytes;
    for (int i = 0; i < calls; i++) {
        int gathers = i % 4 < 2, root = i % p;
        fill(own, (size_t)bytes, gathers ? (unsigned)test.rank : 99);
        for (int r = 0; r < p; r++) fill(all + r * bytes, (size_t)bytes, gathers ? 99 : (unsigned)r);
        switch (i % 4) {
        case 0: gatherv(own, bytes, MPI_BYTE, all, counts, displs, MPI_BYTE, root, MPI_COMM_WORLD); break;
        case 1: gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, MPI_COMM_WORLD); break;
        case 2: scatterv(all, counts, displs, MPI_BYTE, own, bytes, MPI_BYTE, root, MPI_COMM_WORLD); break;
        default: scatter(all, bytes, MPI_BYTE, own, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
        }
        if (gathers && test.rank == root)
            for (int r = 0; r < p; r++) CHECK_IN(wrong(all + r * bytes, (size_t)bytes, (unsigned)r) == 0, "call %d", i);
        if (!gathers) CHECK_IN(wrong(own, (size_t)bytes, (unsigned)test.rank) == 0, "call %d", i);
    }
    free(own);
    free(all);
    free(counts);
    free(displs);
    return finish();
}
