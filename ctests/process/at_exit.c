/* Collectives, communicators that are freed, and the end of MPI in functions that are called when the process exits: a
 * program that has its resources in static objects of C++ ends like that. By then the variables of the thread are gone,
 * if they have destructors.
 */
#include "rondo_test.h"
#include <unistd.h>

enum { BYTES = 30000 };

static void use(int root) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    bcast_bytes(BYTES, root, comm);
    MPI_Comm_free(&comm);
    bcast_bytes(BYTES, root, MPI_COMM_WORLD);
}

static void at_exit(void) {
    use(test.ranks - 1);
    int failed = finish();
    fflush(NULL);
    _exit(failed);
}

int main(int argc, char **argv) {
    atexit(at_exit);
    start(&argc, &argv, "at_exit");
    use(0);
    return 1;
}
