/* Invalid arguments under MPI_ERRORS_RETURN.
 *
 * Prints one line per case, "class NAME c0 c1 ...", with the error class each rank got. The bare run and the run
 * with Rondo must print the same. No case hangs, and the communicator works on after each.
 */
#include "errors.h"

static void report(const char *name, int code) {
    print_classes(name, code);
    bcast_bytes(10000, test.ranks - 1, MPI_COMM_WORLD);
}

/* Every rank passes the same invalid argument; each buffer is large enough for all that is asked. */
static void all_ranks_alike(MPI_Comm comm) {
    static double b[1000];
    MPI_Datatype uncommitted;
    report("root_minus_one", MPI_Bcast(b, 1000, MPI_DOUBLE, -1, comm));
    report("root_p", MPI_Bcast(b, 1000, MPI_DOUBLE, test.ranks, comm));
    report("root_huge", MPI_Bcast(b, 1000, MPI_DOUBLE, 1 << 30, comm));
    report("root_is_MPI_PROC_NULL", MPI_Bcast(b, 1000, MPI_DOUBLE, MPI_PROC_NULL, comm));
    report("root_is_MPI_ROOT", MPI_Bcast(b, 1000, MPI_DOUBLE, MPI_ROOT, comm));
    report("count_minus_one", MPI_Bcast(b, -1, MPI_DOUBLE, 0, comm));
    report("datatype_null", MPI_Bcast(b, 1000, MPI_DATATYPE_NULL, 0, comm));
    MPI_Type_vector(10, 2, 4, MPI_DOUBLE, &uncommitted);
    report("uncommitted", MPI_Bcast(b, 1, uncommitted, 0, comm));
    MPI_Type_free(&uncommitted);
    report("comm_null", MPI_Bcast(b, 1000, MPI_DOUBLE, 0, MPI_COMM_NULL));
    /* Several faults in one call, and a fault beside a count of zero. (A null datatype with a count of zero is left
     * out: MPICH 4.0 ends in an assertion of its own.) */
    report("root_and_count", MPI_Bcast(b, -1, MPI_DOUBLE, -1, comm));
    report("count_and_datatype", MPI_Bcast(b, -1, MPI_DATATYPE_NULL, 0, comm));
    report("empty_root_p", MPI_Bcast(b, 0, MPI_DOUBLE, test.ranks, comm));
}

/* The user's own handler is called once per error, with the user's communicator. */
static void own_handler(void) {
    int b[10] = {0};
    MPI_Comm comm = comm_with_handler();
    bcast_bytes(500, 0, comm);
    int code = MPI_Bcast(b, 10, MPI_INT, test.ranks + 7, comm);
    CHECK_IN(handled == 1, "called %d times", handled);
    CHECK(handled_on == comm);
    report("own_handler", code);
    code = MPI_Bcast(b, -5, MPI_INT, 0, comm);
    CHECK_IN(handled == 2, "called %d times", handled);
    report("own_handler_count", code);
    bcast_bytes(500, 0, comm);
    CHECK(handled == 2);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "errors");
    /* Errors without a valid communicator are raised on one of these two, depending on the MPI's version. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    all_ranks_alike(MPI_COMM_WORLD);
    /* On a communicator whose first broadcast ever is an invalid one. */
    MPI_Comm fresh;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    all_ranks_alike(fresh);
    MPI_Comm_free(&fresh);
    own_handler();
    return finish();
}
