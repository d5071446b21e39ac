/* Reductions and barriers on an intercommunicator. Each group gets what the other one has. All are the host's.
 */
#include "seven.h"

enum { N = 1200 };

/* Element i of rank `me` of a group. */
static int element(int low, int me, int i) { return (low ? 7 : 1000) * (me + 1) + i; }

/* The sum over all `ranks` of a group. */
static int sum(int low, int ranks, int i) {
    int all = 0;
    for (int r = 0; r < ranks; r++) all += element(low, r, i);
    return all;
}

/* Are these the sums of the elements from `first` on of the other group? */
static void check(const int *got, int low, int others, int first, int n, const char *name) {
    for (int i = 0; i < n; i++)
        CHECK_IN(got[i] == sum(!low, others, first + i), "%s: element %d: %d", name, first + i, got[i]);
}

/* To the last rank of the lower group, or of the other one. */
static void reduce(int to_low, int low, int me, int p, int others, MPI_Comm inter) {
    int sent[N], got[N], root = (low == to_low ? p : others) - 1, takes = low == to_low && me == root;
    for (int i = 0; i < N; i++) sent[i] = element(low, me, i), got[i] = -1;
    int named = low != to_low ? root : takes ? MPI_ROOT : MPI_PROC_NULL;
    struct counts before = counts_of("reduce");
    check_taken(before, MPI_Reduce(sent, got, N, MPI_INT, MPI_SUM, named, inter), 0);
    if (takes) check(got, low, others, 0, N, "reduce");
    for (int i = 0; !takes && i < N; i++) CHECK(got[i] == -1);
}

static void all(int low, MPI_Comm inter) {
    int me, p, others;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_size(inter, &p);
    MPI_Comm_remote_size(inter, &others);
    /* Both groups scatter vectors of one length. */
    int sent[N], got[N], n = p * others * (N / (p * others)), part = n / p;
    int *parts = malloc(sizeof *parts * (size_t)p);
    for (int i = 0; i < N; i++) sent[i] = element(low, me, i);
    for (int r = 0; r < p; r++) parts[r] = part;

    struct counts before = counts_of("allreduce");
    check_taken(before, MPI_Allreduce(sent, got, N, MPI_INT, MPI_SUM, inter), 0);
    check(got, low, others, 0, N, "allreduce");
    before = counts_of("reduce_scatter_block");
    check_taken(before, MPI_Reduce_scatter_block(sent, got, part, MPI_INT, MPI_SUM, inter), 0);
    check(got, low, others, me * part, part, "reduce_scatter_block");
    before = counts_of("reduce_scatter");
    check_taken(before, MPI_Reduce_scatter(sent, got, parts, MPI_INT, MPI_SUM, inter), 0);
    check(got, low, others, me * part, part, "reduce_scatter");
    for (int to_low = 0; to_low < 2; to_low++) reduce(to_low, low, me, p, others, inter);
    before = counts_of("barrier");
    check_taken(before, MPI_Barrier(inter), 0);
    free(parts);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_inter");
    int lows = (test.ranks + 1) / 2, low = test.rank < lows;
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, low, test.rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? lows : 0, 5, &inter);
    const char *before = expect_now("host");
    for (int i = 0; i < 3; i++) all(low, inter);
    expect_again(before);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return finish();
}
