/* Invalid arguments of MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw under MPI_ERRORS_RETURN.
 *
 * Prints one line per case, "class NAME c0 c1 ...", with the error class each rank got. The bare run and the run with
 * Rondo must print the same. No case hangs, and the communicator works on after each.
 */
#include "errors.h"
#include "exchanges.h"

static int *counts, *displs, *bad;
static MPI_Datatype *types, *nulls;
static double *from, *to;

static void works(MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < p * 10; i++) from[i] = i;
    alltoall(from, 10, MPI_DOUBLE, to, 10, MPI_DOUBLE, comm);
    alltoallv(from, counts, displs, MPI_DOUBLE, to, counts, displs, MPI_DOUBLE, comm);
    for (int i = 0; i < 10; i++) CHECK(to[i] == test.rank * 10 + i);
}

static void report(const char *name, int code, MPI_Comm comm) {
    print_classes(name, code);
    works(comm);
}

/* Every rank passes the same invalid argument. */
static void all_ranks_alike(MPI_Comm comm) {
    const MPI_Datatype type = MPI_DOUBLE, null = MPI_DATATYPE_NULL;
    MPI_Datatype uncommitted;
    MPI_Type_vector(5, 2, 4, MPI_DOUBLE, &uncommitted);
    report("send_count", MPI_Alltoall(from, -1, type, to, 10, type, comm), comm);
    report("count", MPI_Alltoall(from, 10, type, to, -1, type, comm), comm);
    report("send_type_null", MPI_Alltoall(from, 10, null, to, 10, type, comm), comm);
    report("type_null", MPI_Alltoall(from, 10, type, to, 10, null, comm), comm);
    report("uncommitted", MPI_Alltoall(from, 1, uncommitted, to, 10, type, comm), comm);
    report("comm_null", MPI_Alltoall(from, 10, type, to, 10, type, MPI_COMM_NULL), comm);
    report("v_send_count", MPI_Alltoallv(from, bad, displs, type, to, counts, displs, type, comm), comm);
    report("v_count", MPI_Alltoallv(from, counts, displs, type, to, bad, displs, type, comm), comm);
    report("v_send_type_null", MPI_Alltoallv(from, counts, displs, null, to, counts, displs, type, comm), comm);
    report("v_type_null", MPI_Alltoallv(from, counts, displs, type, to, counts, displs, null, comm), comm);
    report("v_uncommitted", MPI_Alltoallv(from, counts, displs, uncommitted, to, counts, displs, type, comm), comm);
    report("v_comm_null", MPI_Alltoallv(from, counts, displs, type, to, counts, displs, type, MPI_COMM_NULL), comm);
    report("w_send_count", MPI_Alltoallw(from, bad, displs, types, to, counts, displs, types, comm), comm);
    report("w_count", MPI_Alltoallw(from, counts, displs, types, to, bad, displs, types, comm), comm);
    report("w_type_null", MPI_Alltoallw(from, counts, displs, types, to, counts, displs, nulls, comm), comm);
    report("w_send_type_null", MPI_Alltoallw(from, counts, displs, nulls, to, counts, displs, types, comm), comm);
#ifdef OPEN_MPI /* others read what is not there */
    report("w_types_none", MPI_Alltoallw(from, counts, displs, types, to, counts, displs, NULL, comm), comm);
    report("w_send_types_none", MPI_Alltoallw(from, counts, displs, NULL, to, counts, displs, types, comm), comm);
#endif
    MPI_Type_free(&uncommitted);
#ifndef OPEN_MPI /* which does not mind, and copies to where it copies from */
    report("alias", MPI_Alltoall(from, 10, type, from, 10, type, comm), comm);
    report("v_alias", MPI_Alltoallv(from, counts, displs, type, from, counts, displs, type, comm), comm);
#endif
}

/* The user's own handler is called once per error, with the user's communicator. */
static void own_handler(void) {
    MPI_Comm comm = comm_with_handler();
    int code = MPI_Alltoall(from, -1, MPI_DOUBLE, to, 10, MPI_DOUBLE, comm);
    CHECK_IN(handled == 1, "called %d times", handled);
    CHECK(handled_on == comm);
    report("own_handler", code, comm);
    code = MPI_Alltoallv(from, bad, displs, MPI_DOUBLE, to, counts, displs, MPI_DOUBLE, comm);
    CHECK_IN(handled == 2, "called %d times", handled);
    report("own_handler_v", code, comm);
    CHECK(handled == 2);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "a2a_errors");
    size_t p = (size_t)test.ranks;
    counts = malloc(sizeof *counts * p);
    displs = malloc(sizeof *displs * p);
    bad = malloc(sizeof *bad * p);
    types = malloc(sizeof *types * p);
    nulls = malloc(sizeof *nulls * p);
    from = calloc(p * 100, sizeof *from);
    to = calloc(p * 100, sizeof *to);
    for (int r = 0; r < test.ranks; r++) {
        counts[r] = 10;
        bad[r] = r == test.ranks / 2 ? -1 : 10;
        displs[r] = 10 * r;
        types[r] = MPI_DOUBLE;
        nulls[r] = MPI_DATATYPE_NULL;
    }
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
    free(bad);
    free(types);
    free(nulls);
    free(from);
    free(to);
    return finish();
}
