/* A job that outlives its processes, by Open MPI's User Level Failure Mitigation: the last rank is killed, the others
 * hear of it as an error of their collectives, make a communicator without it and go on. Rondo stays away, and says so.
 */
#include "rondo_test.h"
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test.ranks);
    find_rondo("ulfm");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    enum { BYTES = 100000 };
    unsigned char *b = malloc(BYTES);
    fill(b, BYTES, test.rank == 0 ? 1 : 2);
    CHECK(MPI_Bcast(b, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(wrong(b, BYTES, 1) == 0);
    if (test.rank == test.ranks - 1) kill(getpid(), SIGKILL);

    /* Some calls may succeed on ranks that do not need the dead one; revocation tells all. */
    int code = MPI_SUCCESS;
    for (int i = 0; i < 1000 && code == MPI_SUCCESS; i++)
        code = MPI_Bcast(b, BYTES, MPI_BYTE, i % test.ranks, MPI_COMM_WORLD);
    int class = class_of(code);
    CHECK_IN(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED, "class %d", class);
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPI_Comm left;
    CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &left) == MPI_SUCCESS);
    int ranks, rank;
    MPI_Comm_size(left, &ranks);
    MPI_Comm_rank(left, &rank);
    CHECK(ranks == test.ranks - 1);
    fill(b, BYTES, rank == 0 ? 5 : 6);
    CHECK(MPI_Bcast(b, BYTES, MPI_BYTE, 0, left) == MPI_SUCCESS);
    CHECK(wrong(b, BYTES, 5) == 0);
    if (test.expect) CHECK(test.calls("bcast", NULL) == 0);
    int failures = test.failures, all;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, left);
    if (rank == 0 && all == 0) printf("PASS ulfm\n");
    fflush(stdout);
    /* The status of a job that lost a process is not ours. */
    MPI_Comm_free(&left);
    MPI_Finalize();
    return all != 0;
}
