/* No memory for the packed message: an MPI error of the class "no memory" before the first message, not a crash.
 *
 * The message has 256 MiB of data, all from the same few bytes of the buffer (stride 0), and the process may not have
 * as much. No rank gets so far as to send, so none waits.
 *
 *   memory copies   RONDO_MAX_TMP_SIZE is less than a copy of a message with gaps takes: the call is the host's
 */
#include "memory_limit.h"

/* A little more than 8 MiB, in every other block of 4096 bytes; one rank gets it without gaps. */
static void with_gaps(void) {
    enum { BLOCKS = (2 << 10) + 1, BLOCK = 4096 };
    MPI_Datatype gaps;
    MPI_Type_vector(BLOCKS, BLOCK, 2 * BLOCK, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    int dense = test.rank == test.ranks - 1, stride = dense ? BLOCK : 2 * BLOCK;
    char *b = calloc((size_t)BLOCKS * 2, BLOCK);
    for (int i = 0; i < BLOCKS && test.rank == 0; i++) memset(b + (size_t)i * stride, 1 + i % 100, BLOCK);
    struct counts before = counts_now();
    MPI_Bcast(b, dense ? BLOCKS * BLOCK : 1, dense ? MPI_BYTE : gaps, 0, MPI_COMM_WORLD);
    check_counts(before, 0, 1);
    for (int i = 0; i < BLOCKS; i++) {
        char *block = b + (size_t)i * stride;
        CHECK(block[0] == 1 + i % 100 && block[BLOCK - 1] == 1 + i % 100);
    }
    free(b), MPI_Type_free(&gaps);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "memory");
    if (argc > 1) {
        with_gaps();
        return finish();
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    bcast_bytes(5000, 0, MPI_COMM_WORLD);
    char b[4096];
    MPI_Datatype again;
    MPI_Type_create_hvector(1 << 16, sizeof b, 0, MPI_BYTE, &again);
    MPI_Type_commit(&again);
    rlim_t before = limit_memory(64 << 20);
    int rc = test.expect ? MPI_Bcast(b, 1, again, 0, MPI_COMM_WORLD) : MPI_ERR_NO_MEM, class = 0;
    MPI_Error_class(rc, &class);
    CHECK_IN(class == MPI_ERR_NO_MEM, "error class %d", class);
    set_memory_limit(before);
    MPI_Type_free(&again);
    /* The communicator is as good as before. */
    bcast_bytes(5000, 0, MPI_COMM_WORLD);
    return finish();
}
