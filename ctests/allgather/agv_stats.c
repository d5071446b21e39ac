/* A fixed list of calls, whose number and bytes the statistics must show: of MPI_Allgatherv 6 with 12000 bytes in all,
 * 5000 from the first rank and 7000 from the last, and 2 without a byte; of MPI_Allgather 3 with 8 bytes from each
 * rank.
 */
#include "agv.h"

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_stats");
    int counts[64] = {0}, displs[64] = {0};
    static char send[7000], recv[12000];
    int last = test.ranks - 1;
    for (int i = 0; i < 2; i++) allgatherv(send, 0, MPI_BYTE, recv, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
    counts[0] = 5000;
    counts[last] = 7000;
    displs[last] = 5000;
    fill(send, sizeof send, (unsigned)test.rank);
    for (int i = 0; i < 6; i++)
        allgatherv(send, counts[test.rank], MPI_BYTE, recv, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
    CHECK(wrong(recv, 5000, 0) == 0 && wrong(recv + 5000, 7000, (unsigned)last) == 0);
    for (int i = 0; i < 3; i++) allgather(send, 8, MPI_BYTE, recv, 8, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < test.ranks; r++) CHECK(wrong(recv + 8 * r, 8, (unsigned)r) == 0);
    return finish();
}
