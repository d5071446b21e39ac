/* No memory for the packed message: an MPI error of the class "no memory" before the first message, not a crash.
 *
 * The message has 4 GiB of data, all from the same few bytes of the buffer (stride 0), and the process may not have as
 * much. No rank gets so far as to send, so none waits.
 */
#include "rondo_test.h"
#include <sys/resource.h>

int main(int argc, char **argv) {
    start(&argc, &argv, "memory");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    bcast_bytes(5000, 0, MPI_COMM_WORLD);
    char b[4096];
    MPI_Datatype again;
    MPI_Type_create_hvector(1 << 20, sizeof b, 0, MPI_BYTE, &again);
    MPI_Type_commit(&again);
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    rlim_t before = limit.rlim_cur;
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld", &pages) == 1);
    fclose(f);
    limit.rlim_cur = (rlim_t)pages * 4096 + (1 << 30);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    int rc = test.expect ? MPI_Bcast(b, 1, again, 0, MPI_COMM_WORLD) : MPI_ERR_NO_MEM, class = 0;
    MPI_Error_class(rc, &class);
    CHECK_IN(class == MPI_ERR_NO_MEM, "error class %d", class);
    limit.rlim_cur = before;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    MPI_Type_free(&again);
    /* The communicator is as good as before. */
    bcast_bytes(5000, 0, MPI_COMM_WORLD);
    return finish();
}
