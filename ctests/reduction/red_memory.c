/* Rank 2 has no memory for a reduction. Of a long one all ranks hear of it, and go on; a shorter one ends the job,
 * for the others may have begun. Nobody waits for ever.
 *
 * Arguments: "long" or "short". A bare run has all memory: MPICH leaves the other ranks waiting.
 */
#include "memory_limit.h"

int main(int argc, char **argv) {
    start(&argc, &argv, "red_memory");
    int is_long = argc > 1 && !strcmp(argv[1], "long"), lone = test.expect && test.rank == 2;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int n = (is_long ? 72 : 24) << 17;
    double *own = malloc((size_t)n * sizeof *own), *got = malloc((size_t)n * sizeof *got);
    for (int i = 0; i < n; i++) own[i] = test.rank + i % 5, got[i] = -1;
    /* What the call needs besides memory is there already. */
    CHECK(MPI_Reduce(own, got, 1 << 14, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD) == MPI_SUCCESS);

    rlim_t before = lone ? limit_memory(10 << 20) : 0;
    int rc = MPI_Reduce(own, got, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD), class = 0;
    MPI_Error_class(rc, &class);
    if (test.expect) CHECK_IN(class == MPI_ERR_NO_MEM, "error class %d", class);
    if (lone) set_memory_limit(before);

    /* The communicator is as good as before. */
    struct counts now = counts_of("reduce");
    CHECK(MPI_Reduce(own, got, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    if (test.expect) check_counts(now, 1, 0);
    double ranks = test.ranks * (test.ranks - 1) / 2.0;
    for (int i = 0; test.rank == 0 && i < n; i += 1000)
        CHECK_IN(got[i] == ranks + test.ranks * (i % 5), "element %d: %g", i, got[i]);
    free(own), free(got);
    return finish();
}
