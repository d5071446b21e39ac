/* A rank is late in a broadcast, and another, whose blocks come to it by other ways, is in the next call already when
 * a third has everything from it but still waits for the late one: nothing is wrong with that. Each rank is late in
 * turn, and the one that is ahead in some of these turns (7 ranks, 2 or 3 blocks) is the root of the next call.
 */
#define _DEFAULT_SOURCE /* usleep */
#include "rondo_test.h"
#include <unistd.h>

int main(int argc, char **argv) {
    start(&argc, &argv, "ahead");
    for (int late = 1; late < test.ranks; late++)
        for (int bytes = 2; bytes <= 3; bytes++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (test.rank == late) usleep(500000);
            bcast_bytes(bytes, 0, MPI_COMM_WORLD);
            bcast_bytes(50, (late + test.ranks - 2) % test.ranks, MPI_COMM_WORLD);
        }
    return finish();
}
