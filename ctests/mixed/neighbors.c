/* Neighbourhood collectives, which are the MPI library's, between Rondo's collectives on the same communicator, a ring:
 * a nonblocking one is on its way while a broadcast, a blocking one, an allgather and an allreduce are carried out.
 */
#include "rondo_test.h"

enum { MOST = 5000 };

static int p;

/* Element i of what a rank has in a call. */
static int element(int rank, int call, int i) { return 1000 * rank + 37 * call + i; }

static long unlike(const int *got, int n, int rank, int call) {
    long bad = 0;
    for (int i = 0; i < n; i++) bad += got[i] != element((rank + p) % p, call, i);
    return bad;
}

/* What comes from both sides: the rank below first. */
static void check_sides(const int *sides, int n, int me, int call) {
    CHECK_IN(unlike(sides, n, me - 1, call) == 0, "call %d, %d from below", call, n);
    CHECK_IN(unlike(sides + n, n, me + 1, call) == 0, "call %d, %d from above", call, n);
}

static void one(int call, int n, MPI_Comm ring) {
    static int own[MOST], sides[2 * MOST], later[2 * MOST], copy[MOST], sum[MOST];
    int me, root = call % p;
    MPI_Comm_rank(ring, &me);
    int *all = malloc(sizeof *all * (size_t)(n * p));
    for (int i = 0; i < n; i++) own[i] = element(me, call, i);
    memset(sides, -1, sizeof sides);
    memset(later, -1, sizeof later);
    memcpy(copy, own, sizeof copy);

    MPI_Request request;
    CHECK(MPI_Ineighbor_allgather(own, n, MPI_INT, later, n, MPI_INT, ring, &request) == MPI_SUCCESS);
    bcast(copy, n, MPI_INT, root, ring);
    CHECK(MPI_Neighbor_allgather(own, n, MPI_INT, sides, n, MPI_INT, ring) == MPI_SUCCESS);
    struct counts before = counts_of("allgather");
    int rc = MPI_Allgather(own, n, MPI_INT, all, n, MPI_INT, ring);
    check_call(before, rc, 4LL * n * p, ring);
    CHECK(MPI_Allreduce(own, sum, n, MPI_INT, MPI_MAX, ring) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);

    check_sides(sides, n, me, call);
    check_sides(later, n, me, call);
    CHECK_IN(unlike(copy, n, root, call) == 0, "call %d, %d broadcast", call, n);
    CHECK_IN(unlike(sum, n, p - 1, call) == 0, "call %d, %d reduced", call, n);
    for (int r = 0; r < p; r++) CHECK_IN(unlike(all + n * r, n, r, call) == 0, "call %d, %d of %d", call, n, r);
    free(all);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "neighbors");
    MPI_Comm ring;
    int around = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &around, 0, &ring);
    for (int call = 0; call < 60; call++) one(call, (int[]){1, 70, MOST}[call % 3], ring);
    MPI_Comm_free(&ring);
    return finish();
}
