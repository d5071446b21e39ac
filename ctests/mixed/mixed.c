/* Thousands of calls of all seven collectives in a random order without a pause: communicators, roots, sizes,
 * distributions, types and places change from call to call, and ranks come late now and then, some very late. Every
 * answer is checked.
 *
 * The communicators spread over the nodes in several ways: all ranks, in two orders; those of a node; one of each node;
 * every second rank; all but one. Every rank walks through the same list of calls and makes those of its own.
 *
 * Arguments: the number of calls (3000), the seed, and the most bytes of a call (2 MiB).
 */
#include "agv.h"
#include "gsv.h"
#include "nodes.h"
#include <unistd.h>

enum { COMMS = 6 };

static MPI_Comm comms[COMMS];
static struct layout bytes, ints[INTS_MAKERS];
static unsigned most = 2 << 20;

/* A generator of its own for each call, so that ranks which leave one out agree about the next. */
static unsigned state;

static unsigned random_below(unsigned bound) { return next_random(&state) % bound; }

static int chance(unsigned n) { return random_below(n) == 0; }

static void make_comms(void) {
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comms[1]);
    comms[2] = node_comm();
    comms[3] = across_comm();
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &comms[4]);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank == 1 ? MPI_UNDEFINED : 0, test.rank * 5 % 7, &comms[5]);
}

/* Bytes of a whole call: none, mostly few, some thousands, hardly ever many. */
static unsigned total(void) {
    unsigned kind = random_below(200), length = next_random(&state);
    return length % (1 + (kind < 4 ? 0 : kind < 120 ? 1000 : kind < 180 ? 16000 : kind < 197 ? 130000 : most));
}

/* One of the ranks is late by up to half a millisecond, or, hardly ever, by 20. */
static void delay(int me, int p) {
    int late = (int)random_below((unsigned)p), very = chance(30);
    unsigned microseconds = random_below(very ? 20000 : 500);
    if (me == late) usleep(microseconds);
}

static void one_bcast(int root, MPI_Comm comm) {
    const struct layout *l = chance(6) ? &ints[random_below(INTS_MAKERS)] : &bytes;
    int count = (int)(total() / (unsigned)layout_bytes(l));
    bcast_layouts(l, count, l, count, root, comm);
}

static void one_allgather(unsigned regular, int p, MPI_Comm comm) {
    int *counts = malloc(sizeof *counts * (size_t)p), *displs = malloc(sizeof *displs * (size_t)p);
    int derived = chance(6), average = (int)(total() / (unsigned)p);
    /* One of the last two is what Open MPI's own MPI_Allgather does not survive. */
    const struct layout *recv = derived ? &ints[random_below(INTS_MAKERS - (regular ? 2 : 0))] : &bytes;
    const struct layout *send = chance(3) ? NULL : derived ? &ints[random_below(INTS_MAKERS)] : &bytes;
    unsigned kind = random_below(DISTRIBUTIONS), order = random_below(ORDERS), seed = next_random(&state);
    distribute(regular ? SAME : (enum distribution)kind, p, (int)(seed % (unsigned)p), average, seed, counts);
    for (int r = 0; derived && r < p; r++) counts[r] = (counts[r] + UNIT_BYTES - 1) / UNIT_BYTES * per_unit(recv);
    if (regular) {
        allgather_regular(send, recv, counts[0], comm);
    } else {
        /* Blocks of some derived types may not lie anywhere, and MPICH ignores the displacement of a single one. */
        lay_out(derived || p == 1 ? CONTIGUOUS : (enum order)order, p, counts, seed, displs);
        allgather_blocks(send, recv, counts, displs, comm);
    }
    free(counts);
    free(displs);
}

static void one_move(enum way way, unsigned regular, unsigned number, int root, int me, int p, MPI_Comm comm) {
    int *counts = malloc(sizeof *counts * (size_t)p), *displs = malloc(sizeof *displs * (size_t)p);
    int derived = chance(6) && !regular; /* where Open MPI by itself fails */
    int average = (int)(total() / (unsigned)p);
    unsigned kind = random_below(DISTRIBUTIONS), order = random_below(ORDERS), seed = next_random(&state);
    struct move m = {.way = way,
                     .regular = (int)regular,
                     .root = root,
                     .in_place = chance(3),
                     .edition = number,
                     .own = derived ? &ints[(seed + (unsigned)me) % INTS_MAKERS] : &bytes,
                     .all = derived ? &ints[seed / 16 % INTS_MAKERS] : &bytes,
                     .counts = counts,
                     .displs = displs,
                     .comm = comm};
    distribute(regular ? SAME : (enum distribution)kind, p, root, average, seed, counts);
    for (int r = 0; derived && r < p; r++) counts[r] = (counts[r] + UNIT_BYTES - 1) / UNIT_BYTES * per_unit(m.all);
    lay_out(regular || derived || p == 1 ? CONTIGUOUS : (enum order)order, p, counts, seed, displs);
    check_move(&m);
    free(counts);
    free(displs);
}

static void one(unsigned number, unsigned seed) {
    state = seed * 7919u + number * 2654435761u;
    unsigned which = random_below(3) ? random_below(2) : random_below(COMMS), what = random_below(7);
    MPI_Comm comm = comms[which];
    if (comm == MPI_COMM_NULL) return;
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    int root = (int)random_below((unsigned)p);
    if (chance(12)) delay(me, p);
    switch (what) {
    case 0: one_bcast(root, comm); break;
    case 1: one_allgather(0, p, comm); break;
    case 2: one_allgather(1, p, comm); break;
    default: one_move(what % 2 ? GATHER : SCATTER, what < 5, number, root, me, p, comm); break;
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "mixed");
    unsigned calls = argc > 1 ? (unsigned)atoi(argv[1]) : 3000, seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    if (argc > 3) most = (unsigned)atoi(argv[3]);
    struct piece piece;
    bytes = dense(MPI_BYTE, &piece);
    for (int i = 0; i < INTS_MAKERS; i++) ints[i] = ints_makers[i]();
    make_comms();
    for (unsigned i = 0; i < calls; i++) one(i, seed);
    for (int i = 1; i < COMMS; i++)
        if (comms[i] != MPI_COMM_NULL) MPI_Comm_free(&comms[i]);
    for (int i = 0; i < INTS_MAKERS; i++) drop(&ints[i]);
    return finish();
}
