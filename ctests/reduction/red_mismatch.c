/* Ranks that disagree about a reduction: an erroneous program, which must learn of it and never hang.
 *
 * First argument, the collective: allreduce, reduce, block (MPI_Reduce_scatter_block), scatter (MPI_Reduce_scatter),
 * scan or exscan. Second argument, the fault of rank 1:
 *
 *   more      counts more elements than the others
 *   fewer     counts fewer
 *   few       counts a hundredth
 *   root      takes another rank to be the root
 *   order     has an operator that does not commute, the others one that does
 *   operator  takes the maximum, the others the sum
 *   own       has an operator of its own, the others the sum
 *   another   is in another collective, MPI_Bcast or MPI_Allreduce
 *
 * Third argument: elements. If all ranks return success the program says so and ends with status 0, which is the
 * failure: nobody was told.
 */
#include "rondo_test.h"

static void join(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static int carry_out(const char *what, const int *sent, int *got, int n, MPI_Op op, int root) {
    int *counts = malloc(sizeof *counts * (size_t)test.ranks);
    for (int r = 0; r < test.ranks; r++) counts[r] = n / test.ranks;
    if (!strcmp(what, "allreduce")) return MPI_Allreduce(sent, got, n, MPI_INT, op, MPI_COMM_WORLD);
    if (!strcmp(what, "reduce")) return MPI_Reduce(sent, got, n, MPI_INT, op, root, MPI_COMM_WORLD);
    if (!strcmp(what, "block"))
        return MPI_Reduce_scatter_block(sent, got, n / test.ranks, MPI_INT, op, MPI_COMM_WORLD);
    if (!strcmp(what, "scatter")) return MPI_Reduce_scatter(sent, got, counts, MPI_INT, op, MPI_COMM_WORLD);
    if (!strcmp(what, "exscan")) return MPI_Exscan(sent, got, n, MPI_INT, op, MPI_COMM_WORLD);
    return MPI_Scan(sent, got, n, MPI_INT, op, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_mismatch");
    const char *what = argc > 1 ? argv[1] : "allreduce", *fault = argc > 2 ? argv[2] : "more";
    int n = argc > 3 ? atoi(argv[3]) : 1000, most = 2 * n, root = 0, faulty = test.rank == 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int *sent = calloc((size_t)most, sizeof *sent), *got = calloc((size_t)most, sizeof *got);
    MPI_Op commutes, ordered, op;
    MPI_Op_create(join, 1, &commutes);
    MPI_Op_create(join, 0, &ordered);
    op = !strcmp(fault, "order") ? commutes : MPI_SUM;
    carry_out(what, sent, got, n, op, root); /* the communicator is in use already */
    if (faulty && !strcmp(fault, "more")) n += n / 4;
    if (faulty && !strcmp(fault, "fewer")) n -= n / 4;
    if (faulty && !strcmp(fault, "few")) n /= 100;
    if (faulty && !strcmp(fault, "root")) root = 2;
    if (faulty && !strcmp(fault, "order")) op = ordered;
    if (faulty && !strcmp(fault, "operator")) op = MPI_MAX;
    if (faulty && !strcmp(fault, "own")) op = commutes;
    int code;
    if (faulty && !strcmp(fault, "another"))
        code = strcmp(what, "allreduce") ? MPI_Allreduce(sent, got, n, MPI_INT, op, MPI_COMM_WORLD)
                                         : MPI_Bcast(got, n, MPI_INT, 0, MPI_COMM_WORLD);
    else
        code = carry_out(what, sent, got, n, op, root);
    return end_of_mismatch(code, "MPI_ reduction");
}
