/* A rank that comes very late. The others wait; with RONDO_TIMEOUT_S they end the job and name the collective.
 * Argument: how many seconds late. */
#include "rondo_test.h"
#include <unistd.h>

int main(int argc, char **argv) {
    start(&argc, &argv, "late");
    bcast_bytes(5000, 0, MPI_COMM_WORLD);
    if (test.rank == 0) sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 0);
    bcast_bytes(5000, 0, MPI_COMM_WORLD);
    return finish();
}
