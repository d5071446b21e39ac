/* What invalid calls return under MPI_ERRORS_RETURN, and what an error handler of the program's sees of them.
 */
#ifndef ERRORS_H
#define ERRORS_H

#include "rondo_test.h"

/* Prints one line, "class NAME c0 c1 ...", with the error class that each rank got. */
static MAYBE_UNUSED void print_classes(const char *name, int code) {
    size_t bytes = sizeof(int) * (size_t)test.ranks;
    int *mine = calloc(1, bytes), *classes = calloc(1, bytes);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &mine[test.rank]);
    /* No collective that is under test. */
    MPI_Reduce(mine, classes, test.ranks, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (test.rank == 0) {
        printf("class %s", name);
        for (int r = 0; r < test.ranks; r++) printf(" %d", classes[r]);
        printf("\n");
    }
    free(mine);
    free(classes);
}

/* How often the handler was called, and with which communicator at last. */
static int handled;
static MPI_Comm handled_on;

static MAYBE_UNUSED void handler(MPI_Comm *comm, int *code, ...) {
    (void)code;
    handled++;
    handled_on = *comm;
}

/* A duplicate of MPI_COMM_WORLD with this handler. */
static MAYBE_UNUSED MPI_Comm comm_with_handler(void) {
    MPI_Comm comm;
    MPI_Errhandler h;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(comm, h);
    MPI_Errhandler_free(&h);
    return comm;
}

#endif
