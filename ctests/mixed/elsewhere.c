/* A rank of a node is in another call than the others: an erroneous program, which must learn of it, though the ranks
 * may be in algorithms that have nothing to do with each other.
 *
 * Arguments: a collective, bytes, and the bytes instead that rank 1 has; `with` stands for another collective on rank
 * 1, MPI_Barrier. Calls with the same bytes on all ranks come first, so that ranks of a node share memory. If all ranks
 * return success the program says so and ends with status 0, which is the failure: nobody was told.
 *
 * With `late` in place of the other bytes, rank 1 comes late, again and again, which is nobody's fault.
 */
#include "rondo_test.h"

static unsigned char *from, *to;

static int carry_out(const char *what, int bytes) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    if (!strcmp(what, "bcast")) return MPI_Bcast(to, bytes, MPI_BYTE, 0, comm);
    if (!strcmp(what, "allgather")) return MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm);
    if (!strcmp(what, "gather")) return MPI_Gather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, comm);
    if (!strcmp(what, "alltoall")) return MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm);
    if (!strcmp(what, "barrier")) return MPI_Barrier(comm);
    return MPI_Allreduce(from, to, bytes, MPI_BYTE, MPI_BOR, comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "elsewhere");
    if (argc < 4) return 2;
    const char *what = argv[1], *fault = argv[3];
    int bytes = atoi(argv[2]), is_late = !strcmp(fault, "late"), odd = test.rank == 1;
    size_t room = (size_t)(atoi(fault) > bytes ? atoi(fault) : bytes) * (size_t)test.ranks + 1;
    from = calloc(room, 1), to = calloc(room, 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++) CHECK_IN(carry_out(what, bytes) == MPI_SUCCESS, "call %d", i);
    for (int i = 0; is_late && i < 3; i++) {
        if (odd) usleep(600000);
        CHECK_IN(carry_out(what, bytes) == MPI_SUCCESS, "late call %d", i);
    }
    int is_shown = counts_of(what).rondo > 0;
    CHECK(is_shown || !test.expect);
    if (!is_late && is_shown) {
        int in_another = odd && !strcmp(fault, "with");
        int code = in_another ? MPI_Barrier(MPI_COMM_WORLD) : carry_out(what, odd ? atoi(fault) : bytes);
        return end_of_mismatch(code, "an MPI_ function");
    }
    return finish();
}
