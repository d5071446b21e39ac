/* A fixed list of broadcasts, whose number and bytes the statistics must show:
 * 10 of 100000 bytes and 5 of 8 bytes on MPI_COMM_WORLD, 3 of no byte there, 4 of 1000 bytes on MPI_COMM_SELF.
 */
#include "rondo_test.h"

int main(int argc, char **argv) {
    start(&argc, &argv, "stats");
    for (int i = 0; i < 10; i++) bcast_bytes(100000, i % test.ranks, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) bcast_bytes(8, i % test.ranks, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) bcast_bytes(0, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) bcast_bytes(1000, 0, MPI_COMM_SELF);
    return finish();
}
