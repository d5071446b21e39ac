/* Thousands of calls of MPI_Gatherv, MPI_Scatterv, MPI_Gather and MPI_Scatter in a random order without a pause:
 * roots, sizes, distributions, types and places change from call to call, and ranks come late now and then, some very
 * late. Every answer is checked. All ranks share the seed of the sequence.
 *
 * Arguments: the number of calls (2000) and the seed.
 */
#include "gsv.h"
#include <unistd.h>

static int *counts, *displs;
static struct layout bytes, ints[INTS_MAKERS];
static MPI_Comm comms[2];

/* One in `n`, on all ranks alike. */
static int chance(unsigned *state, unsigned n) { return next_random(state) % n == 0; }

/* Mostly short blocks, some of a few kilobytes, a few of many. */
static int block(unsigned *state) {
    unsigned kind = next_random(state) % 100, length = next_random(state);
    return (int)(kind < 70 ? length % 64 : kind < 92 ? length % 1000 : kind < 99 ? length % 6000 : length % 40000);
}

/* A random rank is late by up to a millisecond, or, hardly ever, by 20. */
static void delay(unsigned *state) {
    int late = (int)(next_random(state) % (unsigned)test.ranks), very = chance(state, 30);
    unsigned microseconds = next_random(state) % (very ? 20000 : 1000);
    if (test.rank == late) usleep(microseconds);
}

static void one(unsigned number, unsigned *state) {
    struct move m = {.way = next_random(state) % 2 ? SCATTER : GATHER,
                     .regular = chance(state, 4),
                     .root = (int)(next_random(state) % (unsigned)test.ranks),
                     .in_place = chance(state, 3),
                     .edition = number,
                     .own = &bytes,
                     .all = &bytes,
                     .counts = counts,
                     .displs = displs,
                     .comm = comms[chance(state, 4)]};
    enum distribution kind = (enum distribution)(next_random(state) % DISTRIBUTIONS);
    unsigned seed = next_random(state);
    int average = block(state), derived = chance(state, 6) && !m.regular; /* where Open MPI by itself fails */
    distribute(m.regular ? SAME : kind, test.ranks, m.root, average, seed, counts);
    if (derived) {
        int me;
        MPI_Comm_rank(m.comm, &me);
        m.own = &ints[(seed + (unsigned)me) % INTS_MAKERS];
        m.all = &ints[seed / 16 % INTS_MAKERS];
        for (int r = 0; r < test.ranks; r++) counts[r] = (counts[r] + 47) / 48 * per_unit(m.all);
    }
    /* Blocks of some derived types may not lie anywhere. */
    lay_out(m.regular || derived ? CONTIGUOUS : (enum order)(seed % ORDERS), test.ranks, counts, seed, displs);
    if (chance(state, 12)) delay(state);
    check_move(&m);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_mixed");
    unsigned calls = argc > 1 ? (unsigned)atoi(argv[1]) : 2000, state = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    struct piece piece;
    bytes = dense(MPI_BYTE, &piece);
    for (int i = 0; i < INTS_MAKERS; i++) ints[i] = ints_makers[i]();
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comms[1]);
    for (unsigned i = 0; i < calls; i++) one(i, &state);
    MPI_Comm_free(&comms[1]);
    for (int i = 0; i < INTS_MAKERS; i++) drop(&ints[i]);
    free(counts);
    free(displs);
    return finish();
}
