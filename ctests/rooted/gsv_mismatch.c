/* Ranks that disagree about an MPI_Gatherv, MPI_Scatterv, MPI_Gather or MPI_Scatter: an erroneous program, which must
 * learn of it.
 *
 * First argument: gatherv, scatterv, gather or scatter. Second, the fault:
 *
 *   count  a rank says another length of its block than the root and all others do
 *   swap   at the root the blocks of a rank and of the last rank are exchanged, so that the total is right
 *   root   a rank takes the last one to be the root
 *   roots  this rank and all above take themselves to be the root
 *
 * Then the bytes of a block, the bytes that the faulty rank has instead, or that the last rank has, which rank is
 * faulty, and the error handler, "return" or "fatal". With "return" a rank that gets an error prints its class and
 * aborts the job; with "fatal" the handler aborts it. If all ranks return success the program says so and ends with
 * status 0, which is the failure: nobody was told.
 */
#include "gsv.h"

enum { ROOM = 1 << 20 };

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_mismatch");
    if (argc < 6) return 2;
    const char *collective = argv[1], *fault = argv[2];
    int block = atoi(argv[3]), other = atoi(argv[4]), faulty = atoi(argv[5]), p = test.ranks, last = p - 1, root = 0;
    int is_faulty = test.rank == faulty;
    if (argc < 7 || strcmp(argv[6], "fatal")) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    /* Room enough that no fault needs more memory than there is. */
    int *counts = malloc(sizeof *counts * (size_t)p), *displs = malloc(sizeof *displs * (size_t)p), mine = block;
    unsigned char *own = calloc(1, ROOM), *all = calloc((size_t)p, ROOM);
    for (int r = 0; r < p; r++) {
        counts[r] = block;
        displs[r] = ROOM * r;
    }
    if (!strcmp(fault, "count") && is_faulty) mine = other;
    if (!strcmp(fault, "swap")) {
        if (test.rank == last) mine = other;
        counts[faulty] = other; /* in fact it has `block`, as the last one has `other` */
    }
    if (!strcmp(fault, "root") && is_faulty) root = last;
    if (!strcmp(fault, "roots") && test.rank >= faulty) root = test.rank;

    const MPI_Comm comm = MPI_COMM_WORLD;
    both_ways(100, 0, comm); /* the communicator is in use already */
    int code;
    if (!strcmp(collective, "gatherv"))
        code = MPI_Gatherv(own, mine, MPI_BYTE, all, counts, displs, MPI_BYTE, root, comm);
    else if (!strcmp(collective, "scatterv"))
        code = MPI_Scatterv(all, counts, displs, MPI_BYTE, own, mine, MPI_BYTE, root, comm);
    else if (!strcmp(collective, "gather"))
        code = MPI_Gather(own, mine, MPI_BYTE, all, block, MPI_BYTE, root, comm);
    else
        code = MPI_Scatter(all, block, MPI_BYTE, own, mine, MPI_BYTE, root, comm);
    char call[40];
    snprintf(call, sizeof call, "MPI_%c%s", collective[0] - 'a' + 'A', collective + 1);
    return end_of_mismatch(code, call);
}
