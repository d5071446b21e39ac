/* Rondo finds out who is faster while the program runs. Whoever has a call, the answer is right, every call is counted
 * once, and on a rank that makes a call of its own kind in between, nothing gets out of step: sizes change from call to
 * call, another communicator has other calls, and the root moves.
 *
 *   learn broadcasts   broadcasts among all alone
 */
#include "agv.h"
#include "exchanges.h"
#include "gsv.h"
#include "reductions.h"

enum { CALLS = 120, ELEMENTS = 9000 };

/* Broadcasts of two size classes, and one of the smallest. */
static void broadcasts(MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < CALLS; i++) {
        bcast_bytes(40000 + i, i % p, comm);
        bcast_bytes(200000 - i, (i / 3) % p, comm);
        if (i % 4 == 0) bcast_bytes(1 + i, 0, comm);
    }
}

static void allgathers(MPI_Comm comm) {
    for (int i = 0; i < CALLS; i++) {
        allgather_bytes(9000 + 5 * i, comm);
        if (i % 3 == 0) allgather_bytes(10 + i, comm);
    }
}

static void there_and_back(MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < CALLS; i++) {
        both_ways(50 + i, i % p, comm);
        both_ways_regular(300, (i + 1) % p, comm);
    }
}

/* Sums of integers may change hands. Those of floating-point numbers have in every call the bits of the first,
 * where they are Rondo's. */
static void reductions(MPI_Comm comm) {
    static int ints[ELEMENTS], int_sums[ELEMENTS];
    static double doubles[ELEMENTS], sums[ELEMENTS], first[ELEMENTS];
    int p, me, always = 0;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    for (int call = 0; call < CALLS; call++) {
        int n = ELEMENTS - call;
        for (int i = 0; i < n; i++) ints[i] = me * i + call;
        for (int i = 0; i < ELEMENTS; i++) doubles[i] = 1.0 / (1 + me + 3 * i);
        struct counts before = counts_of("allreduce");
        int code = MPI_Allreduce(ints, int_sums, n, MPI_INT, MPI_SUM, comm);
        check_reduction(before, code, 4LL * n, 1, comm);
        for (int i = 0; i < n; i++) CHECK(int_sums[i] == p * (p - 1) / 2 * i + p * call);
        before = counts_of("allreduce");
        code = MPI_Allreduce(doubles, sums, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm);
        check_reduction(before, code, 8LL * ELEMENTS, 1, comm);
        /* The same library has all of these. A host may add in another order from call to call. */
        int rondos = counts_of("allreduce").rondo > before.rondo;
        if (call == 0) {
            memcpy(first, sums, sizeof sums);
            always = rondos;
        }
        CHECK(rondos == always);
        CHECK(!rondos || !memcmp(first, sums, sizeof sums));
    }
}

static void exchanges(MPI_Comm comm) {
    enum { BLOCK = 16, RANKS_MAX = 16 };
    unsigned char sent[RANKS_MAX * BLOCK], got[RANKS_MAX * BLOCK];
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    CHECK(p <= RANKS_MAX);
    for (unsigned call = 0; call < CALLS; call++) {
        int bytes = BLOCK - (int)(call % 8);
        for (int r = 0; r < p; r++) fill(sent + r * bytes, (size_t)bytes, pair_seed(me, r, call));
        alltoall(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE, comm);
        for (int r = 0; r < p; r++)
            CHECK(!wrong(got + r * bytes, (size_t)bytes, pair_seed(r, me, call)));
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "learn");
    if (argc > 1) {
        CHECK(!strcmp(argv[1], "broadcasts"));
        broadcasts(MPI_COMM_WORLD);
        return finish();
    }
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, -test.rank, &half);
    broadcasts(MPI_COMM_WORLD);
    broadcasts(half);
    allgathers(MPI_COMM_WORLD);
    there_and_back(MPI_COMM_WORLD);
    reductions(MPI_COMM_WORLD);
    exchanges(MPI_COMM_WORLD);
    allgathers(half);
    there_and_back(half);
    reductions(half);
    exchanges(half);
    MPI_Comm_free(&half);
    return finish();
}
