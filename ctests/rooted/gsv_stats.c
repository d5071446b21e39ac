/* A fixed list of calls, whose number and bytes the statistics must show. The first rank has 1000 bytes, the last one
 * 3000, the others none: of MPI_Gatherv 5 with data and 2 without, of MPI_Scatterv 4 with data and 1 without, of
 * MPI_Gather 3 and of MPI_Scatter 2 with 8 bytes for each rank, and of MPI_Gather 1 without a byte. Roots take turns.
 */
#include "gsv.h"

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_stats");
    int p = test.ranks, *counts = calloc((size_t)p, sizeof *counts), *displs = calloc((size_t)p, sizeof *displs);
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    struct move m = {.own = &byte, .all = &byte, .counts = counts, .displs = displs, .comm = MPI_COMM_WORLD};
    for (int i = 0; i < 12; i++) {
        m.root = i % p;
        m.way = i < 7 ? GATHER : SCATTER;
        m.edition = (unsigned)i;
        int data = i != 5 && i != 6 && i != 11;
        counts[0] = data ? 1000 : 0;
        counts[p - 1] = data ? 3000 : 0;
        check_dense(m);
    }
    for (int i = 0; i < 6; i++) {
        m.way = i % 2 && i < 4 ? SCATTER : GATHER;
        check_regular(m, i < 5 ? 8 : 0);
    }
    free(counts);
    free(displs);
    return finish();
}
