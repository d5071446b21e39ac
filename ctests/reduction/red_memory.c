/* The system has no memory for rank 2 in a reduction. Of a long one all ranks hear of it, and go on. A short one ends
 * the job. Nobody waits for ever.
 *
 * First argument: "long" or "short"; "place": a long one in place. Second: "reduce", "allreduce", "scan", "scatter"
 * (MPI_Reduce_scatter) or "block" (MPI_Reduce_scatter_block). A run without Rondo has all memory: MPICH leaves the
 * other ranks waiting.
 */
#include "memory_limit.h"

static const char *what = "reduce";
static int in_place;

static int is(const char *name) { return !strcmp(what, name); }

/* Does each rank get a part? */
static int in_parts(void) { return is("scatter") || is("block"); }

/* Of n elements, which `got` has if it is in place. */
static int reduce(const double *own, double *got, int n) {
    const void *from = in_place ? MPI_IN_PLACE : own;
    int counts[64];
    for (int r = 0; r < test.ranks; r++) counts[r] = n / test.ranks;
    if (is("allreduce")) return MPI_Allreduce(from, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (is("scan")) return MPI_Scan(from, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (is("scatter")) return MPI_Reduce_scatter(from, got, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (is("block"))
        return MPI_Reduce_scatter_block(from, got, n / test.ranks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Reduce(own, got, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* The sum of the numbers of the ranks whose elements this one has in its result, and how many they are. */
static double sum_of_ranks(int *ranks) {
    *ranks = is("scan") ? test.rank + 1 : test.ranks;
    return *ranks * (*ranks - 1) / 2.0;
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_memory");
    const char *how = argc > 1 ? argv[1] : "long";
    if (argc > 2) what = argv[2];
    in_place = !strcmp(how, "place");
    int is_long = in_place || !strcmp(how, "long"), lone = test.expect && test.rank == 2;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int n = (is_long ? 12 : 6) << 17; /* 12 and 6 MiB */
    double *own = malloc((size_t)n * sizeof *own), *got = malloc((size_t)n * sizeof *got);
    for (int i = 0; i < n; i++) own[i] = test.rank + i % 5, got[i] = in_place ? own[i] : -1;
    /* What the call needs besides memory is there already. */
    CHECK(reduce(own, got, 1 << 14) == MPI_SUCCESS);

    rlim_t before = lone ? limit_memory(2 << 20) : 0;
    int rc = reduce(own, got, n), class = 0;
    MPI_Error_class(rc, &class);
    if (test.expect) CHECK_IN(class == MPI_ERR_NO_MEM, "error class %d", class);
    if (lone) set_memory_limit(before);

    /* The communicator is as good as before. */
    struct counts now = counts_of(is("scatter") ? "reduce_scatter" : is("block") ? "reduce_scatter_block" : what);
    if (in_place) memcpy(got, own, (size_t)n * sizeof *got);
    CHECK(reduce(own, got, n) == MPI_SUCCESS);
    if (test.expect) check_counts(now, 1, 0);
    int ranks, count = in_parts() ? n / test.ranks : is("reduce") && test.rank ? 0 : n;
    int first = in_parts() ? test.rank * count : 0;
    double sum = sum_of_ranks(&ranks);
    for (int i = 0; i < count; i += 1000)
        CHECK_IN(got[i] == sum + ranks * ((first + i) % 5), "element %d: %g", i, got[i]);
    free(own), free(got);
    return finish();
}
