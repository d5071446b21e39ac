/* When a collective returns, all requests that Rondo made for it are complete on this rank; and all its messages have
 * been received when it has returned on all ranks.
 */
#include "counting.h"

/* Of a collective that a variable hands to Rondo, so it must be Rondo's. */
static int is_forced(const char *collective) {
    char variable[40] = "RONDO_";
    size_t at = strlen(variable);
    for (const char *c = collective; *c; c++) variable[at++] = (char)toupper((unsigned char)*c);
    return getenv(variable) != NULL;
}

/* The call that began with these counts has come back. */
static void over(struct counts before, int code, int n) {
    const char *name = before.collective;
    long open = counting.of("open"), own = counting.of("sends") - counting.of("receives"), all = 0;
    CHECK_IN(code == MPI_SUCCESS, "%s of %d elements", name, n);
    CHECK_IN(open == 0, "%s of %d elements leaves %ld requests", name, n, open);
    if (test.expect && is_forced(name)) {
        unsigned long long rondos = counts_of(name).rondo - before.rondo;
        CHECK_IN(rondos == 1, "%s of %d elements is not Rondo's", name, n);
    }
    MPI_Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_IN(all == 0, "%s of %d elements: %ld messages are left", name, n, all);
}

/* Element `i` of rank `r`, and the sum of those of the ranks before `end`. */
static int value(int r, int i) { return 1000 * r + i % 997; }
static int sum(int end, int i) { return end * (end - 1) / 2 * 1000 + end * (i % 997); }

static int *own, *got, *counts, *displs;
static MPI_Datatype *types;

static void clear(int elements) { memset(got, 0xff, (size_t)elements * sizeof *got); }

/* Is this rank's element `i` in `got`, of a vector that begins at `at`, what `expected` says? */
#define CHECK_ALL(n, at, expected, name) \
    for (int i = 0; i < (n); i++) CHECK_IN(got[(at) + i] == (expected), "%s, element %d of %d", name, i, n)

static void moves(int n, int root) {
    int p = test.ranks, me = test.rank, all = p * n;
    struct counts before = counts_of("bcast");
    clear(all);
    for (int i = 0; me == root && i < n; i++) got[i] = value(root, i);
    over(before, MPI_Bcast(got, n, MPI_INT, root, MPI_COMM_WORLD), n);
    CHECK_ALL(n, 0, value(root, i), "bcast");

    for (int i = 0; i < all; i++) own[i] = value(me, i);
    before = counts_of("allgather");
    clear(all);
    over(before, MPI_Allgather(own, n, MPI_INT, got, n, MPI_INT, MPI_COMM_WORLD), n);
    for (int r = 0; r < p; r++) CHECK_ALL(n, r * n, value(r, i), "allgather");

    before = counts_of("gather");
    clear(all);
    over(before, MPI_Gather(own, n, MPI_INT, got, n, MPI_INT, root, MPI_COMM_WORLD), n);
    for (int r = 0; me == root && r < p; r++) CHECK_ALL(n, r * n, value(r, i), "gather");

    before = counts_of("scatter");
    clear(n);
    over(before, MPI_Scatter(own, n, MPI_INT, got, n, MPI_INT, root, MPI_COMM_WORLD), n);
    CHECK_ALL(n, 0, value(root, me * n + i), "scatter");

    before = counts_of("alltoall");
    clear(all);
    over(before, MPI_Alltoall(own, n, MPI_INT, got, n, MPI_INT, MPI_COMM_WORLD), n);
    for (int r = 0; r < p; r++) CHECK_ALL(n, r * n, value(r, me * n + i), "alltoall");
}

/* The same with counts that differ; rank 1 has nothing at first. */
static void moves_of_any_size(int n, int root) {
    int p = test.ranks, me = test.rank, all = p * n;
    for (int r = 0; r < p; r++) {
        counts[r] = r == 1 ? 0 : n - r % 2;
        displs[r] = r * n;
    }
    struct counts before = counts_of("allgatherv");
    clear(all);
    over(before, MPI_Allgatherv(own, counts[me], MPI_INT, got, counts, displs, MPI_INT, MPI_COMM_WORLD), n);
    for (int r = 0; r < p; r++) CHECK_ALL(counts[r], r * n, value(r, i), "allgatherv");

    before = counts_of("gatherv");
    clear(all);
    over(before, MPI_Gatherv(own, counts[me], MPI_INT, got, counts, displs, MPI_INT, root, MPI_COMM_WORLD), n);
    for (int r = 0; me == root && r < p; r++) CHECK_ALL(counts[r], r * n, value(r, i), "gatherv");

    before = counts_of("scatterv");
    clear(n);
    over(before, MPI_Scatterv(own, counts, displs, MPI_INT, got, counts[me], MPI_INT, root, MPI_COMM_WORLD), n);
    CHECK_ALL(counts[me], 0, value(root, me * n + i), "scatterv");

    /* Between two ranks it is as much as the lower one says. */
    for (int r = 0; r < p; r++) counts[r] = n - (r < me ? r : me) % 2;
    before = counts_of("alltoallv");
    clear(all);
    int code = MPI_Alltoallv(own, counts, displs, MPI_INT, got, counts, displs, MPI_INT, MPI_COMM_WORLD);
    over(before, code, n);
    for (int r = 0; r < p; r++) CHECK_ALL(counts[r], r * n, value(r, me * n + i), "alltoallv");

    for (int r = 0; r < p; r++) displs[r] = r * n * (int)sizeof(int), types[r] = MPI_INT;
    before = counts_of("alltoallw");
    clear(all);
    over(before, MPI_Alltoallw(own, counts, displs, types, got, counts, displs, types, MPI_COMM_WORLD), n);
    for (int r = 0; r < p; r++) CHECK_ALL(counts[r], r * n, value(r, me * n + i), "alltoallw");
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void reductions(int n, int root, MPI_Op op) {
    int p = test.ranks, me = test.rank;
    struct counts before = counts_of("allreduce");
    clear(n);
    over(before, MPI_Allreduce(own, got, n, MPI_INT, op, MPI_COMM_WORLD), n);
    CHECK_ALL(n, 0, sum(p, i), "allreduce");

    before = counts_of("reduce");
    clear(n);
    over(before, MPI_Reduce(own, got, n, MPI_INT, op, root, MPI_COMM_WORLD), n);
    if (me == root) CHECK_ALL(n, 0, sum(p, i), "reduce");

    before = counts_of("reduce_scatter_block");
    clear(n);
    over(before, MPI_Reduce_scatter_block(own, got, n, MPI_INT, op, MPI_COMM_WORLD), n);
    CHECK_ALL(n, 0, sum(p, me * n + i), "reduce_scatter_block");

    for (int r = 0; r < p; r++) counts[r] = n;
    before = counts_of("reduce_scatter");
    clear(n);
    over(before, MPI_Reduce_scatter(own, got, counts, MPI_INT, op, MPI_COMM_WORLD), n);
    CHECK_ALL(n, 0, sum(p, me * n + i), "reduce_scatter");

    before = counts_of("scan");
    clear(n);
    over(before, MPI_Scan(own, got, n, MPI_INT, op, MPI_COMM_WORLD), n);
    CHECK_ALL(n, 0, sum(me + 1, i), "scan");

    before = counts_of("exscan");
    clear(n);
    over(before, MPI_Exscan(own, got, n, MPI_INT, op, MPI_COMM_WORLD), n);
    if (me > 0) CHECK_ALL(n, 0, sum(me, i), "exscan");
}

int main(int argc, char **argv) {
    start(&argc, &argv, "completed");
    find_counting();
    static const int lengths[] = {1, 60, 3000, 20000};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    size_t p = (size_t)test.ranks, all = p * (size_t)lengths[LENGTHS - 1];
    own = malloc(all * sizeof *own);
    got = malloc(all * sizeof *got);
    counts = malloc(p * sizeof *counts);
    displs = malloc(p * sizeof *displs);
    types = malloc(p * sizeof *types);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    for (int k = 0; k < LENGTHS; k++)
        for (int root = 0; root < test.ranks; root += test.ranks - 1) {
            moves(lengths[k], root);
            moves_of_any_size(lengths[k], root);
            reductions(lengths[k], root, k % 2 ? op : MPI_SUM);
            struct counts before = counts_of("barrier");
            over(before, MPI_Barrier(MPI_COMM_WORLD), 0);
        }
    long sends = counting.of("sends"), most = 0;
    MPI_Allreduce(&sends, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (test.expect) CHECK_IN(most > 0, "%ld messages were counted", most);
    MPI_Op_free(&op);
    free(own);
    free(got);
    free(counts);
    free(displs);
    free(types);
    return finish();
}
