/* Rank 1 disagrees with the others about a collective: an erroneous program, which must learn of it.
 *
 * First argument: the collective. Second: elements of a block. Third, what rank 1 does:
 *
 *   more     counts a quarter more of its own than the others expect, or in a reduction than they have
 *   fewer    counts a quarter less
 *   operator reduces by another operator
 *   root     takes the last rank to be the root
 *   roots    takes itself to be the root, as do all ranks above it
 *   another  is in another collective, MPI_Bcast or MPI_Allreduce
 *
 * Fourth, the error handler: "return", where a rank that gets an error aborts the job, or "fatal".
 */
#include "rondo_test.h"

static int is(const char *argument, const char *word) { return !strcmp(argument, word); }

int main(int argc, char **argv) {
    start(&argc, &argv, "mismatch");
    if (argc < 5) return 2;
    const char *what = argv[1], *fault = argv[3];
    int n = atoi(argv[2]), p = test.ranks, room = 2 * n, root = 0, own = n;
    if (is(argv[4], "return")) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (test.rank == 1 && is(fault, "more")) own += n / 4;
    if (test.rank == 1 && is(fault, "fewer")) own -= n / 4;
    if (test.rank == 1 && is(fault, "root")) root = p - 1;
    if (test.rank >= 1 && is(fault, "roots")) root = test.rank;
    MPI_Op op = test.rank == 1 && is(fault, "operator") ? MPI_MAX : MPI_SUM;
    if (test.rank == 1 && is(fault, "another")) what = is(what, "bcast") ? "allreduce" : "bcast";

    /* Room for two blocks of each rank, so that no fault needs more memory than there is. */
    int *counts = malloc(sizeof(int) * (size_t)p), *displs = malloc(sizeof(int) * (size_t)p);
    int *sends = malloc(sizeof(int) * (size_t)p), *bytes = malloc(sizeof(int) * (size_t)p);
    MPI_Datatype *types = malloc(sizeof *types * (size_t)p);
    int *sent = calloc((size_t)p * (size_t)room, sizeof *sent), *got = calloc((size_t)p * (size_t)room, sizeof *got);
    for (int r = 0; r < p; r++) {
        counts[r] = n;
        sends[r] = r == p - 1 ? own : n;
        displs[r] = room * r;
        bytes[r] = (int)sizeof(int) * displs[r];
        types[r] = MPI_INT;
    }
    const MPI_Comm comm = MPI_COMM_WORLD;
    bcast_bytes(1000, 0, comm); /* the communicator is in use already */

    int code;
    if (is(what, "bcast"))
        code = MPI_Bcast(sent, own, MPI_INT, root, comm);
    else if (is(what, "allgather"))
        code = MPI_Allgather(sent, own, MPI_INT, got, own, MPI_INT, comm);
    else if (is(what, "allgatherv"))
        code = MPI_Allgatherv(sent, own, MPI_INT, got, counts, displs, MPI_INT, comm);
    else if (is(what, "gather"))
        code = MPI_Gather(sent, own, MPI_INT, got, n, MPI_INT, root, comm);
    else if (is(what, "gatherv"))
        code = MPI_Gatherv(sent, own, MPI_INT, got, counts, displs, MPI_INT, root, comm);
    else if (is(what, "scatter"))
        code = MPI_Scatter(sent, n, MPI_INT, got, own, MPI_INT, root, comm);
    else if (is(what, "scatterv"))
        code = MPI_Scatterv(sent, counts, displs, MPI_INT, got, own, MPI_INT, root, comm);
    else if (is(what, "alltoall"))
        code = MPI_Alltoall(sent, own, MPI_INT, got, own, MPI_INT, comm);
    else if (is(what, "alltoallv"))
        code = MPI_Alltoallv(sent, sends, displs, MPI_INT, got, counts, displs, MPI_INT, comm);
    else if (is(what, "alltoallw"))
        code = MPI_Alltoallw(sent, sends, bytes, types, got, counts, bytes, types, comm);
    else if (is(what, "allreduce"))
        code = MPI_Allreduce(sent, got, own, MPI_INT, op, comm);
    else if (is(what, "reduce"))
        code = MPI_Reduce(sent, got, own, MPI_INT, op, root, comm);
    else if (is(what, "reduce_scatter_block"))
        code = MPI_Reduce_scatter_block(sent, got, own, MPI_INT, op, comm);
    else if (is(what, "reduce_scatter"))
        code = MPI_Reduce_scatter(sent, got, sends, MPI_INT, op, comm);
    else if (is(what, "scan"))
        code = MPI_Scan(sent, got, own, MPI_INT, op, comm);
    else
        code = MPI_Exscan(sent, got, own, MPI_INT, op, comm);
    return end_of_mismatch(code, what);
}
