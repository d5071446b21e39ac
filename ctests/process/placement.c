/* Communicators on some of the nodes, on all, and on both once more: broadcasts on each. One that was there before any
 * network was measured has its broadcasts last. */
#include "rondo_test.h"

static void broadcasts(MPI_Comm comm) {
    char buffer[4000];
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 3; i++) {
        memset(buffer, rank == 0 ? i : -1, sizeof buffer);
        MPI_Bcast(buffer, sizeof buffer, MPI_BYTE, 0, comm);
        CHECK(buffer[0] == i && buffer[sizeof buffer - 1] == i);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "placement");
    MPI_Comm some[2], all, early;
    MPI_Comm_dup(MPI_COMM_WORLD, &early);
    MPI_Barrier(early);
    for (int i = 0; i < 2; i++) MPI_Comm_split(MPI_COMM_WORLD, test.rank == test.ranks - 1, 0, &some[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    broadcasts(some[0]);
    broadcasts(MPI_COMM_WORLD);
    broadcasts(some[1]);
    broadcasts(all);
    broadcasts(early);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&some[i]);
    MPI_Comm_free(&all);
    MPI_Comm_free(&early);
    return finish();
}
