/* An MPI library of an ABI that nobody knows, by the file name of one of the vendors' libraries. It has no more than
 * the collectives, which it counts and which fail before MPI_Init, and what says whether that was called. What needs
 * its handles ends the process. */
#include <stdio.h>
#include <stdlib.h>

static int initialized, calls;

int MPI_Init(int *argc, char ***argv) {
    (void)argc, (void)argv;
    initialized = 1;
    return 0;
}

int PMPI_Initialized(int *yes) {
    *yes = initialized;
    return 0;
}

/* How many calls came here. */
int fake_calls(void) { return calls; }

int PMPI_Comm_rank(void *comm, int *rank) {
    (void)rank;
    printf("fake: MPI_Comm_rank was called with the communicator %p, which this library never gave\n", comm);
    exit(3);
}

static int call(void) {
    if (!initialized) return 1;
    calls++;
    return 0;
}

/* A collective by both names. */
#define COLLECTIVE(name) \
    int PMPI_##name(void) { return call(); } \
    int MPI_##name(void) { return PMPI_##name(); }

COLLECTIVE(Bcast)
COLLECTIVE(Allgatherv)
COLLECTIVE(Allgather)
COLLECTIVE(Gatherv)
COLLECTIVE(Gather)
COLLECTIVE(Scatterv)
COLLECTIVE(Scatter)
COLLECTIVE(Allreduce)
COLLECTIVE(Reduce)
COLLECTIVE(Reduce_scatter)
COLLECTIVE(Reduce_scatter_block)
COLLECTIVE(Scan)
COLLECTIVE(Exscan)
COLLECTIVE(Barrier)
COLLECTIVE(Alltoall)
COLLECTIVE(Alltoallv)
COLLECTIVE(Alltoallw)
