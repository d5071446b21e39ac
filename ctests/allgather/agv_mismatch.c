/* Ranks that disagree about an MPI_Allgatherv: an erroneous program, which must learn of it.
 *
 * First argument, the fault of rank 1:
 *
 *   long   sends more than its own entry of the counts says
 *   short  sends less than its own entry says
 *   total  takes rank 0's block to be longer than it is
 *   less   takes rank 0's block to be shorter than it is
 *   swap   has the entries of rank 0 and of the last rank exchanged, so that the total is right
 *
 * Second argument: bytes of a block. Third: the error handler, "return" or "fatal". With "return" a rank that
 * gets an error prints its class and aborts the job; with "fatal" the handler aborts it. If all ranks return
 * success the program says so and ends with status 0, which is the failure: nobody was told.
 */
#include "agv.h"

static const char *argument(int argc, char **argv, int i, const char *otherwise) {
    return argc > i ? argv[i] : otherwise;
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_mismatch");
    const char *fault = argument(argc, argv, 1, "long");
    int block = atoi(argument(argc, argv, 2, "1000")), p = test.ranks, last = p - 1, faulty = test.rank == 1, sends;
    int returns = !strcmp(argument(argc, argv, 3, "return"), "return");
    if (returns) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    /* Room for two blocks of each rank, so that no fault needs more memory than there is. */
    int *counts = malloc(sizeof *counts * (size_t)p), *displs = malloc(sizeof *displs * (size_t)p);
    unsigned char *sent = calloc(2, (size_t)block), *got = calloc(2 * (size_t)p, (size_t)block);
    for (int r = 0; r < p; r++) {
        counts[r] = r == last ? block / 2 : block;
        displs[r] = 2 * block * r;
    }
    sends = counts[test.rank];
    if (faulty && !strcmp(fault, "long")) sends = block + block / 4;
    if (faulty && !strcmp(fault, "short")) sends = block - block / 4;
    if (faulty && !strcmp(fault, "total")) counts[0] = block + block / 4;
    if (faulty && !strcmp(fault, "less")) counts[0] = block - 1;
    if (faulty && !strcmp(fault, "swap")) {
        counts[0] = block / 2;
        counts[last] = block;
    }

    allgather_bytes(100, MPI_COMM_WORLD); /* the communicator is in use already */
    int code = MPI_Allgatherv(sent, sends, MPI_BYTE, got, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
    return end_of_mismatch(code, "MPI_Allgatherv");
}
