/* Ranks that disagree about an MPI_Alltoall, MPI_Alltoallv or MPI_Alltoallw: an erroneous program, which must learn of
 * it.
 *
 * Arguments: alltoall, alltoallv or alltoallw; the bytes of each block; and the bytes instead that rank 1 has for the
 * last rank, by its own account, or in an MPI_Alltoall for everybody. A second call follows. A rank that gets an error
 * aborts the job. If all ranks return success the program says so and ends with status 0, which is the failure: nobody
 * was told.
 */
#include "exchanges.h"

enum { ROOM = 1 << 18 };

int main(int argc, char **argv) {
    start(&argc, &argv, "a2a_mismatch");
    if (argc < 4) return 2;
    int p = test.ranks, block = atoi(argv[2]), other = atoi(argv[3]), faulty = test.rank == 1;
    size_t ints = sizeof(int) * (size_t)p;
    int *sent = malloc(ints), *counts = malloc(ints), *displs = malloc(ints);
    MPI_Datatype *types = malloc(sizeof *types * (size_t)p);
    unsigned char *from = calloc((size_t)p, ROOM), *to = calloc((size_t)p, ROOM);
    const MPI_Comm comm = MPI_COMM_WORLD;
    for (int r = 0; r < p; r++) {
        sent[r] = counts[r] = block;
        displs[r] = ROOM * r;
        types[r] = MPI_BYTE;
    }
    for (int i = 0; i < 2; i++) {
        int code = MPI_SUCCESS, n = faulty ? other : block;
        if (faulty) sent[p - 1] = i ? block : other;
        if (!strcmp(argv[1], "alltoall"))
            code = MPI_Alltoall(from, n, MPI_BYTE, to, n, MPI_BYTE, comm);
        else if (!strcmp(argv[1], "alltoallv"))
            code = MPI_Alltoallv(from, sent, displs, MPI_BYTE, to, counts, displs, MPI_BYTE, comm);
        else
            code = MPI_Alltoallw(from, sent, displs, types, to, counts, displs, types, comm);
        if (code != MPI_SUCCESS) MPI_Abort(comm, 3);
    }
    MPI_Barrier(comm);
    if (test.rank == 0) printf("SILENT: every rank returned success\n");
    MPI_Finalize();
    return 0;
}
