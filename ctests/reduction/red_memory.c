/* Rank 2 has no memory for a reduction. Of a long one all ranks hear of it, and go on; a shorter one ends the job,
 * for the others may have begun. Nobody waits for ever.
 *
 * Arguments: "long" or "short"; "parts": a long one of which each rank gets a part; "place": the same in place. A bare
 * run has all memory: MPICH leaves the other ranks waiting.
 */
#include "memory_limit.h"

static int in_parts, in_place;

/* Of n elements, which `got` has if it is in place. */
static int reduce(const double *own, double *got, int n) {
    if (in_parts)
        return MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : own, got, n / test.ranks, MPI_DOUBLE, MPI_SUM,
                                        MPI_COMM_WORLD);
    return MPI_Reduce(own, got, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_memory");
    const char *how = argc > 1 ? argv[1] : "long";
    in_place = !strcmp(how, "place");
    in_parts = in_place || !strcmp(how, "parts");
    int is_long = strcmp(how, "short") != 0, lone = test.expect && test.rank == 2;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int n = (is_long ? 72 : 24) << 17;
    double *own = malloc((size_t)n * sizeof *own), *got = malloc((size_t)n * sizeof *got);
    for (int i = 0; i < n; i++) own[i] = test.rank + i % 5, got[i] = in_place ? own[i] : -1;
    /* What the call needs besides memory is there already. */
    CHECK(reduce(own, got, 1 << 14) == MPI_SUCCESS);

    rlim_t before = lone ? limit_memory(10 << 20) : 0;
    int rc = reduce(own, got, n), class = 0;
    MPI_Error_class(rc, &class);
    if (test.expect) CHECK_IN(class == MPI_ERR_NO_MEM, "error class %d", class);
    if (lone) set_memory_limit(before);

    /* The communicator is as good as before. */
    struct counts now = counts_of(in_parts ? "reduce_scatter_block" : "reduce");
    if (in_place) memcpy(got, own, (size_t)n * sizeof *got);
    CHECK(reduce(own, got, n) == MPI_SUCCESS);
    if (test.expect) check_counts(now, 1, 0);
    double ranks = test.ranks * (test.ranks - 1) / 2.0;
    int count = in_parts ? n / test.ranks : test.rank == 0 ? n : 0, first = in_parts ? test.rank * count : 0;
    for (int i = 0; i < count; i += 1000)
        CHECK_IN(got[i] == ranks + test.ranks * ((first + i) % 5), "element %d: %g", i, got[i]);
    free(own), free(got);
    return finish();
}
