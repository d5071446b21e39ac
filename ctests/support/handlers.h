/* Error handlers that do not come back: what throws.cc and jumps.c have in common. Every collective, and a nonblocking
 * one, is called with a root that is none or a count that is negative, so that the host calls the handler on each rank;
 * then the communicator must be as good as before. LEAVES(call) is true if the call was left by its handler.
 */
#include "rondo_test.h"

/* The names of the calls that came back, all of which should have been left. */
static void leave_each(MPI_Comm comm) {
    int p = test.ranks, bad = p + 5, counts[64], displs[64], own[64] = {0}, all[64 * 4] = {0};
    MPI_Request request;
    for (int i = 0; i < p; i++) counts[i] = 1, displs[i] = i;
    CHECK(LEAVES(MPI_Bcast(all, p, MPI_INT, bad, comm)));
    CHECK(LEAVES(MPI_Gatherv(own, 1, MPI_INT, all, counts, displs, MPI_INT, bad, comm)));
    CHECK(LEAVES(MPI_Scatterv(all, counts, displs, MPI_INT, own, 1, MPI_INT, bad, comm)));
    CHECK(LEAVES(MPI_Gather(own, 1, MPI_INT, all, 1, MPI_INT, bad, comm)));
    CHECK(LEAVES(MPI_Scatter(all, 1, MPI_INT, own, 1, MPI_INT, bad, comm)));
    CHECK(LEAVES(MPI_Allgatherv(own, -1, MPI_INT, all, counts, displs, MPI_INT, comm)));
    CHECK(LEAVES(MPI_Allgather(own, -1, MPI_INT, all, 1, MPI_INT, comm)));
    CHECK(LEAVES(MPI_Ibcast(all, p, MPI_INT, bad, comm, &request)));
}

/* Valid calls, as if nothing had been. */
static void use(MPI_Comm comm) {
    int p = test.ranks, counts[64], displs[64], all[64];
    for (int i = 0; i < p; i++) {
        counts[i] = 1, displs[i] = i;
        all[i] = test.rank == 0 ? 10 + i : -1;
    }
    bcast(all, p, MPI_INT, 0, comm);
    for (int i = 0; i < p; i++) CHECK(all[i] == 10 + i);
    int own = 20 + test.rank;
    allgatherv(&own, 1, MPI_INT, all, counts, displs, MPI_INT, comm);
    for (int i = 0; i < p; i++) CHECK(all[i] == 20 + i);
}

static int run(int *argc, char ***argv, const char *name, MPI_Comm_errhandler_function *handler) {
    start(argc, argv, name);
    MPI_Comm comm;
    MPI_Errhandler errhandler;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    leave_each(comm); /* the first thing that Rondo sees of it */
    for (int i = 0; i < 100; i++) {
        use(comm);
        if (i % 10 == 0) leave_each(comm);
    }
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);
    return finish();
}
