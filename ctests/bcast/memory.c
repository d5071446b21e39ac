/* No memory for the packed message: an MPI error of the class "no memory" before the first message, not a crash.
 *
 * The message has 4 GiB of data, all from the same few bytes of the buffer (stride 0), and the process may not have as
 * much. No rank gets so far as to send, so none waits.
 */
#include "memory_limit.h"

int main(int argc, char **argv) {
    start(&argc, &argv, "memory");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    bcast_bytes(5000, 0, MPI_COMM_WORLD);
    char b[4096];
    MPI_Datatype again;
    MPI_Type_create_hvector(1 << 20, sizeof b, 0, MPI_BYTE, &again);
    MPI_Type_commit(&again);
    rlim_t before = limit_memory(1 << 30);
    int rc = test.expect ? MPI_Bcast(b, 1, again, 0, MPI_COMM_WORLD) : MPI_ERR_NO_MEM, class = 0;
    MPI_Error_class(rc, &class);
    CHECK_IN(class == MPI_ERR_NO_MEM, "error class %d", class);
    set_memory_limit(before);
    MPI_Type_free(&again);
    /* The communicator is as good as before. */
    bcast_bytes(5000, 0, MPI_COMM_WORLD);
    return finish();
}
