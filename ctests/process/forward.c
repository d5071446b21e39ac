/* Nonblocking and persistent collectives, by both their names: Rondo leaves them to the host and counts each once. The
 * statistics must show, of each collective, 2 nonblocking calls and, where the library was built for an MPI that has
 * such functions, 2 persistent ones.
 */
#include "rondo_test.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define INIT(name) MPI_##name##_init
#define PINIT(name) PMPI_##name##_init
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#define PINIT(name) PMPIX_##name##_init
#endif

static int *own, *all, *counts, *displs, *part;

/* This rank's number for every rank, displacements in bytes, and types. */
static int *same, *offsets;
static MPI_Datatype *types;

/* Every rank's number in its place of `all`, and a number in `own`. */
static void prepare(int root) {
    for (int i = 0; i < test.ranks; i++) all[i] = test.rank == root ? 100 + i : -1;
    own[0] = 100 + test.rank;
}

/* What this rank adds to that: its own number, and in `part` the one in its place. */
static void prepare_sum(int first) {
    prepare(0);
    for (int i = 0; i < test.ranks; i++) part[i] = i == test.rank ? 100 + i : 0;
    if (first) part[0] = test.rank ? 1 : first;
}

static void check(const char *what, int where) {
    if (where == 0 || test.rank == 0)
        for (int i = 0; i < test.ranks; i++) CHECK_IN(all[i] == 100 + i, "%s, place %d is %d", what, i, all[i]);
    CHECK_IN(own[0] == 100 + test.rank, "%s, own is %d", what, own[0]);
}

#define WAIT(call)                             \
    do {                                       \
        MPI_Request request;                   \
        CHECK((call) == MPI_SUCCESS);          \
        MPI_Wait(&request, MPI_STATUS_IGNORE); \
    } while (0)

/* Once: MPICH 4.0 by itself fails at a second start of a gather. */
#define START(call)                            \
    do {                                       \
        MPI_Request request;                   \
        CHECK((call) == MPI_SUCCESS);          \
        MPI_Start(&request);                   \
        MPI_Wait(&request, MPI_STATUS_IGNORE); \
        MPI_Request_free(&request);            \
    } while (0)

#define WORLD MPI_COMM_WORLD

/* All that move data; `do` completes a call, `f` makes the name of the function, and `more` are the arguments before
 * the request. */
#define SEVEN(do, f, more)                                                                                             \
    prepare(0), own[0] = 100 + test.rank;                                                                              \
    do(f(bcast, Bcast)(all, test.ranks, MPI_INT, 0, WORLD more));                                                      \
    check("bcast", 0);                                                                                                 \
    prepare(-1);                                                                                                       \
    do(f(allgatherv, Allgatherv)(own, 1, MPI_INT, all, counts, displs, MPI_INT, WORLD more));                          \
    check("allgatherv", 0);                                                                                            \
    prepare(-1);                                                                                                       \
    do(f(allgather, Allgather)(own, 1, MPI_INT, all, 1, MPI_INT, WORLD more));                                         \
    check("allgather", 0);                                                                                             \
    prepare(-1);                                                                                                       \
    do(f(gatherv, Gatherv)(own, 1, MPI_INT, all, counts, displs, MPI_INT, 0, WORLD more));                             \
    check("gatherv", 1);                                                                                               \
    prepare(-1);                                                                                                       \
    do(f(gather, Gather)(own, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD more));                                            \
    check("gather", 1);                                                                                                \
    prepare(0), own[0] = -1;                                                                                           \
    do(f(scatterv, Scatterv)(all, counts, displs, MPI_INT, own, 1, MPI_INT, 0, WORLD more));                           \
    check("scatterv", 1);                                                                                              \
    prepare(0), own[0] = -1;                                                                                           \
    do(f(scatter, Scatter)(all, 1, MPI_INT, own, 1, MPI_INT, 0, WORLD more));                                          \
    check("scatter", 1)

/* The reductions, scans and the barrier. */
#define REDUCING(do, f, more)                                                                                          \
    prepare_sum(0);                                                                                                    \
    do(f(allreduce, Allreduce)(part, all, test.ranks, MPI_INT, MPI_SUM, WORLD more));                                  \
    check("allreduce", 0);                                                                                             \
    prepare_sum(0);                                                                                                    \
    do(f(reduce, Reduce)(part, all, test.ranks, MPI_INT, MPI_SUM, 0, WORLD more));                                     \
    check("reduce", 1);                                                                                                \
    prepare_sum(0), own[0] = -1;                                                                                       \
    do(f(reduce_scatter, Reduce_scatter)(part, own, counts, MPI_INT, MPI_SUM, WORLD more));                            \
    check("reduce_scatter", 1);                                                                                        \
    prepare_sum(0), own[0] = -1;                                                                                       \
    do(f(reduce_scatter_block, Reduce_scatter_block)(part, own, 1, MPI_INT, MPI_SUM, WORLD more));                     \
    check("reduce_scatter_block", 1);                                                                                  \
    prepare_sum(100), own[0] = -1;                                                                                     \
    do(f(scan, Scan)(part, own, 1, MPI_INT, MPI_SUM, WORLD more));                                                     \
    check("scan", 1);                                                                                                  \
    prepare_sum(101);                                                                                                  \
    do(f(exscan, Exscan)(part, own, 1, MPI_INT, MPI_SUM, WORLD more));                                                 \
    check("exscan", 1);                                                                                                \
    do(f(barrier, Barrier)(WORLD more))

/* Every rank has a block for every rank. */
#define EXCHANGING(do, f, more)                                                                                        \
    prepare(-1);                                                                                                       \
    do(f(alltoall, Alltoall)(same, 1, MPI_INT, all, 1, MPI_INT, WORLD more));                                          \
    check("alltoall", 0);                                                                                              \
    prepare(-1);                                                                                                       \
    do(f(alltoallv, Alltoallv)(same, counts, displs, MPI_INT, all, counts, displs, MPI_INT, WORLD more));              \
    check("alltoallv", 0);                                                                                             \
    prepare(-1);                                                                                                       \
    do(f(alltoallw, Alltoallw)(same, counts, offsets, types, all, counts, offsets, types, WORLD more));                \
    check("alltoallw", 0)

#define NAME(small, large) MPI_I##small
#define PNAME(small, large) PMPI_I##small
#define NAME_INIT(small, large) INIT(large)
#define PNAME_INIT(small, large) PINIT(large)
#define NO_INFO , MPI_INFO_NULL, &request
#define REQUEST , &request

int main(int argc, char **argv) {
    start(&argc, &argv, "forward");
    size_t p = (size_t)test.ranks;
    own = calloc(1, sizeof *own), all = calloc(p, sizeof *all);
    counts = calloc(p, sizeof *counts), displs = calloc(p, sizeof *displs), part = calloc(p, sizeof *part);
    same = calloc(p, sizeof *same), offsets = calloc(p, sizeof *offsets), types = calloc(p, sizeof *types);
    for (int i = 0; i < test.ranks; i++) {
        counts[i] = 1, displs[i] = i;
        same[i] = 100 + test.rank, offsets[i] = i * (int)sizeof *all, types[i] = MPI_INT;
    }
    SEVEN(WAIT, NAME, REQUEST);
    SEVEN(WAIT, PNAME, REQUEST);
    REDUCING(WAIT, NAME, REQUEST);
    EXCHANGING(WAIT, NAME, REQUEST);
    REDUCING(WAIT, PNAME, REQUEST);
    EXCHANGING(WAIT, PNAME, REQUEST);
#ifdef INIT
    SEVEN(START, NAME_INIT, NO_INFO);
    SEVEN(START, PNAME_INIT, NO_INFO);
    REDUCING(START, NAME_INIT, NO_INFO);
    EXCHANGING(START, NAME_INIT, NO_INFO);
    REDUCING(START, PNAME_INIT, NO_INFO);
    EXCHANGING(START, PNAME_INIT, NO_INFO);
#endif
    free(own), free(all), free(counts), free(displs), free(part);
    free(same), free(offsets), free(types);
    return finish();
}
