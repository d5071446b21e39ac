/* Invalid arguments of reductions and of MPI_Barrier under MPI_ERRORS_RETURN.
 *
 * Prints one line per case, "class NAME c0 c1 ...", with the error class each rank got. The bare run and the run with
 * Rondo must print the same. No case hangs, and the communicator works on after each.
 */
#include "errors.h"

enum { MOST = 100 };

static int own[MOST * 64], result[MOST * 64];
static double from[MOST * 64], to[MOST * 64];

/* Valid calls, as if nothing had been. */
static void use(MPI_Comm comm) {
    int me, p, sum = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < MOST; i++) own[i] = me + i;
    memset(result, 0, sizeof result);
    CHECK(MPI_Allreduce(own, result, MOST, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    for (int i = 0; i < MOST; i++) CHECK(result[i] == p * (p - 1) / 2 + p * i);
    CHECK(MPI_Scan(&me, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(sum == me * (me + 1) / 2);
    sum = -1;
    CHECK(MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_MAX, p - 1, comm) == MPI_SUCCESS);
    CHECK(sum == (me == p - 1 ? p - 1 : -1));
    CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
}

static void report(const char *call, const char *name, int code) {
    char both[80];
    snprintf(both, sizeof both, "%s_%s", call, name);
    print_classes(both, code);
    fflush(stdout);
}

enum { ALLREDUCE = 1, REDUCE = 2, SCATTER = 4, BLOCK = 8, SCAN = 16, EXSCAN = 32, ALL = 63 };

/* Left out is what a host by itself crashes on, and MPI_Reduce where only the root makes a mistake: others would get
 * on and leave it messages. */
#ifdef OPEN_MPI
enum { NEGATIVE = ALL, IN_PLACE = ALL & ~(REDUCE | EXSCAN) };
#else
enum { NEGATIVE = SCATTER, IN_PLACE = ALL & ~REDUCE };
#endif

/* The calls of `which` with these arguments on each rank. */
static void calls(int which, const char *name, const void *send, void *recv, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    static int counts[64];
    for (int r = 0; r < test.ranks; r++) counts[r] = n;
    if (which & ALLREDUCE) report("allreduce", name, MPI_Allreduce(send, recv, n, type, op, comm));
    if (which & REDUCE) report("reduce", name, MPI_Reduce(send, recv, n, type, op, 0, comm));
    if (which & SCATTER) report("reduce_scatter", name, MPI_Reduce_scatter(send, recv, counts, type, op, comm));
    if (which & BLOCK) report("reduce_scatter_block", name, MPI_Reduce_scatter_block(send, recv, n, type, op, comm));
    if (which & SCAN) report("scan", name, MPI_Scan(send, recv, n, type, op, comm));
    if (which & EXSCAN) report("exscan", name, MPI_Exscan(send, recv, n, type, op, comm));
    use(MPI_COMM_WORLD);
}

static void first(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}

static void all_ranks_alike(MPI_Comm comm) {
    MPI_Datatype derived, uncommitted;
    MPI_Op op;
    MPI_Op_create(first, 1, &op);
    MPI_Type_contiguous(1, MPI_DOUBLE, &derived);
    MPI_Type_commit(&derived);
    MPI_Type_contiguous(1, MPI_DOUBLE, &uncommitted);
    calls(ALL, "op_null", from, to, 10, MPI_DOUBLE, MPI_OP_NULL, comm);
    calls(ALL, "sum_of_derived", from, to, 10, derived, MPI_SUM, comm);
    calls(ALL, "band_of_double", from, to, 10, MPI_DOUBLE, MPI_BAND, comm);
    calls(ALL, "maxloc_of_int", from, to, 10, MPI_INT, MPI_MAXLOC, comm);
    calls(ALL, "max_of_complex", from, to, 5, MPI_C_DOUBLE_COMPLEX, MPI_MAX, comm);
    calls(ALL, "sum_of_pairs", from, to, 5, MPI_DOUBLE_INT, MPI_SUM, comm);
    calls(NEGATIVE, "negative", from, to, -1, MPI_DOUBLE, MPI_SUM, comm);
    calls(NEGATIVE, "negative_by_user", from, to, -7, derived, op, comm);
    calls(ALL, "type_null", from, to, 10, MPI_DATATYPE_NULL, MPI_SUM, comm);
    calls(ALL, "type_null_by_user", from, to, 10, MPI_DATATYPE_NULL, op, comm);
    calls(ALL, "in_place_type_null", MPI_IN_PLACE, to, 10, MPI_DATATYPE_NULL, MPI_SUM, comm);
    calls(IN_PLACE, "recv_in_place", from, MPI_IN_PLACE, 10, MPI_DOUBLE, MPI_SUM, comm);
    calls(ALL, "none", NULL, NULL, 0, MPI_DOUBLE, MPI_SUM, comm);
    calls(ALL, "replace", from, to, 10, MPI_DOUBLE, MPI_REPLACE, comm);
    calls(ALL, "no_op", from, to, 10, MPI_DOUBLE, MPI_NO_OP, comm);
    calls(ALL & ~REDUCE, "alias", from, from, 10, MPI_DOUBLE, MPI_SUM, comm);
    calls(ALL, "uncommitted", from, to, 10, uncommitted, op, comm);
    calls(ALL, "comm_null", from, to, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_NULL);
    report("barrier", "comm_null", MPI_Barrier(MPI_COMM_NULL));
    MPI_Type_free(&derived);
    MPI_Type_free(&uncommitted);
    MPI_Op_free(&op);
}

/* What concerns one function. */
static void single(MPI_Comm comm) {
    int p = test.ranks, me = test.rank, counts[64];
    report("reduce", "root_minus_one", MPI_Reduce(from, to, 10, MPI_DOUBLE, MPI_SUM, -1, comm));
    report("reduce", "root_beyond", MPI_Reduce(from, to, 10, MPI_DOUBLE, MPI_SUM, p, comm));
    report("reduce", "root_none", MPI_Reduce(from, to, 10, MPI_DOUBLE, MPI_SUM, MPI_PROC_NULL, comm));
    use(comm);
    /* Off the root the receive buffer means nothing. */
    for (int i = 0; i < 10; i++) from[i] = me;
    report("reduce", "null_off_root", MPI_Reduce(from, me == 0 ? to : NULL, 10, MPI_DOUBLE, MPI_SUM, 0, comm));
    for (int i = 0; me == 0 && i < 10; i++) CHECK(to[i] == p * (p - 1) / 2);
    report("reduce", "alias_off_root", MPI_Reduce(from, me == 0 ? to : from, 10, MPI_DOUBLE, MPI_SUM, 0, comm));
    for (int i = 0; me == 0 && i < 10; i++) CHECK(to[i] == p * (p - 1) / 2);
    use(comm);
    /* The root makes another mistake, or it would wait for ever. */
    MPI_Op op = me == 0 ? MPI_OP_NULL : MPI_SUM;
#ifdef OPEN_MPI /* MPICH crashes by itself */
    report("reduce", "in_place_off_root", MPI_Reduce(MPI_IN_PLACE, to, 10, MPI_DOUBLE, op, 0, comm));
    use(comm);
#else
    (void)op;
#endif
    /* The sum of the counts is 0: a negative one must not pass for an empty call. */
    for (int r = 0; r < p; r++) counts[r] = 10;
    counts[p - 1] = -10 * (p - 1);
    report("reduce_scatter", "counts_cancel", MPI_Reduce_scatter(from, to, counts, MPI_DOUBLE, MPI_SUM, comm));
    counts[p - 1] = -1;
    report("reduce_scatter", "last_count", MPI_Reduce_scatter(from, to, counts, MPI_DOUBLE, MPI_SUM, comm));
    use(comm);
}

/* The user's own handler is called once per error, with the user's communicator. */
static void own_handler(void) {
    MPI_Comm comm = comm_with_handler();
    use(comm);
    report("allreduce", "own_handler", MPI_Allreduce(from, to, 1, MPI_DOUBLE, MPI_OP_NULL, comm));
    CHECK_IN(handled == 1, "called %d times", handled);
    CHECK(handled_on == comm);
    report("reduce", "own_handler", MPI_Reduce(from, to, 10, MPI_DOUBLE, MPI_SUM, -5, comm));
    CHECK_IN(handled == 2, "called %d times", handled);
    /* The question whether an operator fits a datatype is none of the handler's. */
    report("scan", "own_handler", MPI_Scan(from, to, 10, MPI_FLOAT, MPI_BXOR, comm));
    CHECK_IN(handled == 3, "called %d times", handled);
    use(comm);
    CHECK(handled == 3);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_errors");
    /* Errors without a valid communicator are raised on one of these two, depending on the MPI's version. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* On a communicator whose first call ever is an invalid one, and on one that was used. */
    MPI_Comm fresh;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    all_ranks_alike(fresh);
    single(fresh);
    MPI_Comm_free(&fresh);
    all_ranks_alike(MPI_COMM_WORLD);
    single(MPI_COMM_WORLD);
    own_handler();
    return finish();
}
