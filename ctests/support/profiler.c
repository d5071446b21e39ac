/* A profiler, as there are many: it has MPI_Bcast, MPI_Allgatherv, MPI_Ibcast and MPI_Finalize in the place of the MPI
 * library's, counts the calls, and goes on by their PMPI_ names. Preloaded before Rondo or behind it.
 */
#include <mpi.h>
#include <string.h>

static unsigned long bcasts, allgathervs, ibcasts, finalizes;

/* The calls of a function that came through here. */
unsigned long profiler_calls(const char *name) {
    if (!strcmp(name, "MPI_Finalize")) return finalizes;
    return !strcmp(name, "MPI_Bcast") ? bcasts : !strcmp(name, "MPI_Allgatherv") ? allgathervs : ibcasts;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    bcasts++;
    return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Allgatherv(const void *send, int sends, MPI_Datatype of, void *receive, const int *counts, const int *displs,
                   MPI_Datatype type, MPI_Comm comm) {
    allgathervs++;
    return PMPI_Allgatherv(send, sends, of, receive, counts, displs, type, comm);
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request) {
    ibcasts++;
    return PMPI_Ibcast(buffer, count, type, root, comm, request);
}

int MPI_Finalize(void) {
    finalizes++;
    return PMPI_Finalize();
}
