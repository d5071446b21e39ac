/* Invalid arguments of MPI_Gatherv, MPI_Scatterv, MPI_Gather and MPI_Scatter under MPI_ERRORS_RETURN.
 *
 * Prints one line per case, "class NAME c0 c1 ...", with the error class each rank got. The bare run and the run
 * with Rondo must print the same. No case hangs, and the communicator works on after each.
 */
#include "errors.h"
#include "gsv.h"

static int *counts, *displs;
static double *all;
static double own[100];

static void report(const char *name, int code) {
    print_classes(name, code);
    both_ways(1000, test.ranks / 2, MPI_COMM_WORLD);
    both_ways_regular(100, 0, MPI_COMM_WORLD);
}

/* Every rank passes the same invalid argument; each buffer is large enough for all that is asked. */
static void all_ranks_alike(MPI_Comm comm) {
    const MPI_Datatype type = MPI_DOUBLE, null = MPI_DATATYPE_NULL;
    MPI_Datatype uncommitted;
    MPI_Type_vector(5, 2, 4, MPI_DOUBLE, &uncommitted);
    const struct {
        const char *name;
        int root;
    } roots[] = {{"root_minus_one", -1},
                 {"root_p", test.ranks},
                 {"root_huge", 1 << 30},
                 {"root_is_MPI_PROC_NULL", MPI_PROC_NULL},
                 {"root_is_MPI_ROOT", MPI_ROOT}};
    for (int i = 0; i < 5; i++) {
        report(roots[i].name, MPI_Gatherv(own, 10, type, all, counts, displs, type, roots[i].root, comm));
        report(roots[i].name, MPI_Scatterv(all, counts, displs, type, own, 10, type, roots[i].root, comm));
        report(roots[i].name, MPI_Gather(own, 10, type, all, 10, type, roots[i].root, comm));
        report(roots[i].name, MPI_Scatter(all, 10, type, own, 10, type, roots[i].root, comm));
    }
    for (int root = 0; root < test.ranks; root += test.ranks > 2 ? test.ranks - 1 : 1) {
        report("gatherv_count", MPI_Gatherv(own, -1, type, all, counts, displs, type, root, comm));
        report("gatherv_type_null", MPI_Gatherv(own, 10, null, all, counts, displs, type, root, comm));
        report("gatherv_uncommitted", MPI_Gatherv(own, 1, uncommitted, all, counts, displs, type, root, comm));
        report("scatterv_count", MPI_Scatterv(all, counts, displs, type, own, -1, type, root, comm));
        report("scatterv_type_null", MPI_Scatterv(all, counts, displs, type, own, 10, null, root, comm));
        report("gather_count", MPI_Gather(own, -1, type, all, 10, type, root, comm));
        report("gather_type_null", MPI_Gather(own, 10, null, all, 10, type, root, comm));
        report("gather_uncommitted", MPI_Gather(own, 1, uncommitted, all, 10, type, root, comm));
        report("scatter_count", MPI_Scatter(all, 10, type, own, -1, type, root, comm));
        report("scatter_type_null", MPI_Scatter(all, 10, type, own, 10, null, root, comm));
#ifndef OPEN_MPI /* which crashes by itself */
        report("scatterv_uncommitted", MPI_Scatterv(all, counts, displs, type, own, 1, uncommitted, root, comm));
        report("scatter_uncommitted", MPI_Scatter(all, 10, type, own, 1, uncommitted, root, comm));
#endif
    }
    report("gatherv_comm_null", MPI_Gatherv(own, 10, type, all, counts, displs, type, 0, MPI_COMM_NULL));
    report("scatterv_comm_null", MPI_Scatterv(all, counts, displs, type, own, 10, type, 0, MPI_COMM_NULL));
    report("gather_comm_null", MPI_Gather(own, 10, type, all, 10, type, 0, MPI_COMM_NULL));
    report("scatter_comm_null", MPI_Scatter(all, 10, type, own, 10, type, 0, MPI_COMM_NULL));
    /* Several faults in one call. */
    report("gatherv_root_and_count", MPI_Gatherv(own, -1, type, all, counts, displs, type, -1, comm));
    report("scatterv_root_and_type", MPI_Scatterv(all, counts, displs, null, own, 10, null, test.ranks, comm));
    MPI_Type_free(&uncommitted);
}

/* The user's own handler is called once per error, with the user's communicator. */
static void own_handler(void) {
    MPI_Comm comm = comm_with_handler();
    both_ways(100, 0, comm);
    int code = MPI_Gatherv(own, -1, MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, 0, comm);
    CHECK_IN(handled == 1, "called %d times", handled);
    CHECK(handled_on == comm);
    report("own_handler_gatherv", code);
    code = MPI_Scatter(all, 10, MPI_DOUBLE, own, 10, MPI_DOUBLE, test.ranks, comm);
    CHECK_IN(handled == 2, "called %d times", handled);
    report("own_handler_scatter", code);
    both_ways(100, 0, comm);
    CHECK(handled == 2);
    MPI_Comm_free(&comm);
}

/* MPI_COMM_SELF still ends the program: the error belongs to the communicator of the call. */
static void another_comms_errors(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    report("returned_gatherv", MPI_Gatherv(own, -1, MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, 0, comm));
    report("returned_scatterv", MPI_Scatterv(all, counts, displs, MPI_DOUBLE, own, -1, MPI_DOUBLE, 0, comm));
    report("returned_root", MPI_Gather(own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, -5, comm));
    both_ways(100, 0, comm);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_errors");
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);
    all = calloc((size_t)test.ranks * 100, sizeof *all);
    for (int r = 0; r < test.ranks; r++) counts[r] = 10;
    lay_out(CONTIGUOUS, test.ranks, counts, 0, displs);
    another_comms_errors();
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
    free(all);
    return finish();
}
