/* Invalid arguments of MPI_Allgatherv and MPI_Allgather under MPI_ERRORS_RETURN.
 *
 * Prints one line per case, "class NAME c0 c1 ...", with the error class each rank got. The bare run and the run
 * with Rondo must print the same. No case hangs, and the communicator works on after each.
 */
#include "agv.h"
#include "errors.h"

static int *counts, *displs;

static void report(const char *name, int code) {
    print_classes(name, code);
    allgather_bytes(1000, MPI_COMM_WORLD);
}

/* Sets counts to 10 for each rank, one behind the other, and the last one to `last`. */
static void set_counts(int last) {
    for (int r = 0; r < test.ranks; r++) {
        counts[r] = 10;
        displs[r] = 10 * r;
    }
    counts[test.ranks - 1] = last;
}

/* Every rank passes the same invalid argument; each buffer is large enough for all that is asked. */
static void all_ranks_alike(MPI_Comm comm) {
    static double from[100], *to;
    to = calloc((size_t)test.ranks * 100, sizeof *to);
    MPI_Datatype uncommitted, null = MPI_DATATYPE_NULL;
    MPI_Type_vector(5, 2, 4, MPI_DOUBLE, &uncommitted);
    set_counts(10);
    report("send_count", MPI_Allgatherv(from, -1, MPI_DOUBLE, to, counts, displs, MPI_DOUBLE, comm));
    report("send_type_null", MPI_Allgatherv(from, 10, null, to, counts, displs, MPI_DOUBLE, comm));
    report("send_type_uncommitted", MPI_Allgatherv(from, 1, uncommitted, to, counts, displs, MPI_DOUBLE, comm));
    report("type_null", MPI_Allgatherv(from, 10, MPI_DOUBLE, to, counts, displs, null, comm));
    report("in_place_type_null", MPI_Allgatherv(MPI_IN_PLACE, 0, null, to, counts, displs, null, comm));
    report("both_types_null", MPI_Allgatherv(from, 10, null, to, counts, displs, null, comm));
    report("comm_null", MPI_Allgatherv(from, 10, MPI_DOUBLE, to, counts, displs, MPI_DOUBLE, MPI_COMM_NULL));
    report("recv_in_place", MPI_Allgatherv(from, 10, MPI_DOUBLE, MPI_IN_PLACE, counts, displs, MPI_DOUBLE, comm));
#ifndef OPEN_MPI /* which never looks at these counts, so that luck decides what becomes of them */
    set_counts(-1);
    report("count_minus_one", MPI_Allgatherv(from, 10, MPI_DOUBLE, to, counts, displs, MPI_DOUBLE, comm));
    report("in_place_count", MPI_Allgatherv(MPI_IN_PLACE, 0, null, to, counts, displs, MPI_DOUBLE, comm));
    /* The sum of the counts is 0: a negative one must not pass for an empty call. */
    set_counts(-10 * (test.ranks - 1));
    if (test.ranks > 1)
        report("counts_cancel", MPI_Allgatherv(from, 10, MPI_DOUBLE, to, counts, displs, MPI_DOUBLE, comm));
#endif

    report("regular_send_count", MPI_Allgather(from, -1, MPI_DOUBLE, to, 10, MPI_DOUBLE, comm));
    report("regular_send_type_null", MPI_Allgather(from, 10, null, to, 10, MPI_DOUBLE, comm));
    report("regular_send_type_uncommitted", MPI_Allgather(from, 1, uncommitted, to, 10, MPI_DOUBLE, comm));
    report("regular_count", MPI_Allgather(from, 10, MPI_DOUBLE, to, -1, MPI_DOUBLE, comm));
    report("regular_in_place_count", MPI_Allgather(MPI_IN_PLACE, 0, null, to, -1, MPI_DOUBLE, comm));
    report("regular_type_null", MPI_Allgather(from, 10, MPI_DOUBLE, to, 10, null, comm));
    report("regular_recv_in_place", MPI_Allgather(from, 10, MPI_DOUBLE, MPI_IN_PLACE, 10, MPI_DOUBLE, comm));
#ifndef OPEN_MPI /* which crashes by itself */
    report("regular_type_uncommitted", MPI_Allgather(from, 10, MPI_DOUBLE, to, 1, uncommitted, comm));
    report("regular_comm_null", MPI_Allgather(from, 10, MPI_DOUBLE, to, 10, MPI_DOUBLE, MPI_COMM_NULL));
#endif
    MPI_Type_free(&uncommitted);
    free(to);
}

/* The user's own handler is called once per error, with the user's communicator. */
static void own_handler(void) {
    double from[10] = {0}, *to = calloc((size_t)test.ranks * 10, sizeof *to);
    MPI_Comm comm = comm_with_handler();
    allgather_bytes(100, comm);
    set_counts(10);
    int code = MPI_Allgatherv(from, -1, MPI_DOUBLE, to, counts, displs, MPI_DOUBLE, comm);
    CHECK_IN(handled == 1, "called %d times", handled);
    CHECK(handled_on == comm);
    report("own_handler", code);
    code = MPI_Allgather(from, -5, MPI_DOUBLE, to, 10, MPI_DOUBLE, comm);
    CHECK_IN(handled == 2, "called %d times", handled);
    report("own_handler_regular", code);
    allgather_bytes(100, comm);
    CHECK(handled == 2);
    MPI_Comm_free(&comm);
    free(to);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_errors");
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);
    /* Errors without a valid communicator are raised on one of these two, depending on the MPI's version. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    all_ranks_alike(MPI_COMM_WORLD);
    /* On a communicator whose first call ever is an invalid one. */
    MPI_Comm fresh;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    all_ranks_alike(fresh);
    MPI_Comm_free(&fresh);
    own_handler();
    free(counts);
    free(displs);
    return finish();
}
