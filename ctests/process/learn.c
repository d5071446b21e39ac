/* Rondo finds out who is faster while the program runs. Whoever has a call, the answer is right, every call is counted
 * once, and on a rank that makes a call of its own kind in between, nothing gets out of step: sizes change from call to
 * call, another communicator has other calls, and the root moves.
 */
#include "agv.h"
#include "gsv.h"

enum { CALLS = 120 };

/* Broadcasts of two size classes, and one of the smallest. */
static void broadcasts(MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < CALLS; i++) {
        bcast_bytes(40000 + i, i % p, comm);
        bcast_bytes(200000 - i, (i / 3) % p, comm);
        if (i % 4 == 0) bcast_bytes(1 + i, 0, comm);
    }
}

static void allgathers(MPI_Comm comm) {
    for (int i = 0; i < CALLS; i++) {
        allgather_bytes(9000 + 5 * i, comm);
        if (i % 3 == 0) allgather_bytes(10 + i, comm);
    }
}

static void there_and_back(MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < CALLS; i++) {
        both_ways(50 + i, i % p, comm);
        both_ways_regular(300, (i + 1) % p, comm);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "learn");
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, -test.rank, &half);
    broadcasts(MPI_COMM_WORLD);
    broadcasts(half);
    allgathers(MPI_COMM_WORLD);
    there_and_back(MPI_COMM_WORLD);
    allgathers(half);
    there_and_back(half);
    MPI_Comm_free(&half);
    return finish();
}
