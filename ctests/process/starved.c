/* The last rank gets no memory in a collective: the job must end, whatever the others wait in, unless it does without.
 *
 *   starved COLLECTIVE ELEMENTS LEAST [AT]
 *
 * Rondo asks for memory there in vain wherever it asks for LEAST bytes and more, or the AT-th time that it does. No
 * collective was called on this communicator before: what is made at the first one is part of it. Elements are an int
 * with a gap behind it. A call that succeeds must have the right result, and then so must the next one, with all
 * memory.
 */
#include "allocations.h"
#include "rondo_test.h"

static int elements, stride = 2;
static MPI_Datatype gapped;

static int value(int rank, int i) { return 1000 * rank + i % 997; }

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)inout)[i * stride] += ((int *)in)[i * stride];
}

/* Every collective, on blocks of `elements` elements; what it returns. The result is checked. */
static int call(const char *name, int *own, int *got, MPI_Op op) {
    int p = test.ranks, n = elements, rank = test.rank, rc = -1, counts[p], displs[p], bytes[p];
    MPI_Datatype types[p];
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int i = 0; i < p; i++) {
        counts[i] = n;
        displs[i] = i * n;
        bytes[i] = displs[i] * stride * (int)sizeof *own;
        types[i] = gapped;
    }
    for (int i = 0; i < n * p; i++) own[i * stride] = value(rank, i), got[i * stride] = -1;
    int to_root = 0, blocks = p, first = 0, sums = 0; /* of the result */
#define IS(other) !strcmp(name, other)
    if (IS("bcast")) {
        if (rank == 0) memcpy(got, own, (size_t)(n * stride) * sizeof *own);
        rc = MPI_Bcast(got, n, gapped, 0, comm), blocks = 1;
    } else if (IS("allgather")) {
        rc = MPI_Allgather(own, n, gapped, got, n, gapped, comm);
    } else if (IS("allgatherv")) {
        rc = MPI_Allgatherv(own, n, gapped, got, counts, displs, gapped, comm);
    } else if (IS("gather")) {
        rc = MPI_Gather(own, n, gapped, got, n, gapped, p - 1, comm), to_root = 1;
    } else if (IS("gatherv")) {
        rc = MPI_Gatherv(own, n, gapped, got, counts, displs, gapped, p - 1, comm), to_root = 1;
    } else if (IS("scatter") || IS("scatterv")) {
        rc = IS("scatter") ? MPI_Scatter(own, n, gapped, got, n, gapped, 0, comm)
                           : MPI_Scatterv(own, counts, displs, gapped, got, n, gapped, 0, comm);
        blocks = 1, first = rank * n;
    } else if (IS("alltoall")) {
        rc = MPI_Alltoall(own, n, gapped, got, n, gapped, comm), first = rank * n;
    } else if (IS("alltoallv")) {
        rc = MPI_Alltoallv(own, counts, displs, gapped, got, counts, displs, gapped, comm), first = rank * n;
    } else if (IS("alltoallw")) {
        rc = MPI_Alltoallw(own, counts, bytes, types, got, counts, bytes, types, comm), first = rank * n;
    } else if (IS("barrier")) {
        return MPI_Barrier(comm);
    } else {
        sums = p, blocks = 1;
        if (IS("allreduce")) rc = MPI_Allreduce(own, got, n, gapped, op, comm);
        if (IS("reduce")) rc = MPI_Reduce(own, got, n, gapped, op, p - 1, comm), to_root = 1;
        if (IS("reduce_scatter")) rc = MPI_Reduce_scatter(own, got, counts, gapped, op, comm), first = rank * n;
        if (IS("reduce_scatter_block"))
            rc = MPI_Reduce_scatter_block(own, got, n, gapped, op, comm), first = rank * n;
        if (IS("scan")) rc = MPI_Scan(own, got, n, gapped, op, comm), sums = rank + 1;
        if (IS("exscan")) rc = MPI_Exscan(own, got, n, gapped, op, comm), sums = rank;
    }
    if (rc != MPI_SUCCESS || (to_root && rank != p - 1) || (IS("exscan") && rank == 0)) return rc;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < n; i++) {
            int expected = value(blocks > 1 ? b : 0, first + i);
            if (sums) expected = sums * (sums - 1) / 2 * 1000 + sums * ((first + i) % 997);
            CHECK_IN(got[(b * n + i) * stride] == expected, "%s, block %d, element %d", name, b, i);
        }
    return rc;
}

int main(int argc, char **argv) {
    start(&argc, &argv, "starved");
    if (argc < 4) return 2;
    elements = atoi(argv[2]);
    int most = elements * test.ranks * stride, class = 0;
    int *own = malloc((size_t)most * sizeof *own), *got = malloc((size_t)most * sizeof *got);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    MPI_Type_create_resized(MPI_INT, 0, stride * (MPI_Aint)sizeof(int), &gapped);
    MPI_Type_commit(&gapped);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    MPI_Barrier(MPI_COMM_SELF); /* Rondo reads the environment, of whatever size that is */
    watch();
    if (test.rank == test.ranks - 1) refuse((size_t)atol(argv[3]), argc > 4 ? atol(argv[4]) : 0);
    int rc = call(argv[1], own, got, op);
    if (test.rank == test.ranks - 1) printf("refused %ld of %ld\n", refusal.bytes, refusal.counted), fflush(stdout);
    refuse(0, 0);
    MPI_Error_class(rc, &class);
    CHECK_IN(class == MPI_SUCCESS || class == MPI_ERR_NO_MEM, "error class %d", class);
    /* Errors are common: who returned would wait for the others in vain. */
    CHECK(call(argv[1], own, got, op) == MPI_SUCCESS);

    MPI_Type_free(&gapped);
    MPI_Op_free(&op);
    free(own), free(got);
    return finish();
}
