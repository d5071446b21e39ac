/* Ranks whose clocks differ (support/skewed.c) choose alike: whoever has a call has it on all of them, and behind it
 * all know the same of the network. Meanwhile Rondo learns who is faster, of calls of several kinds and sizes, and
 * measures the network, once more where calls contradict it, and its rate.
 */
#include "agv.h"
#include "exchanges.h"

enum { ROUNDS = 150, FIGURES = 5, ELEMENTS = 6000, BLOCK = 24, RANKS_MAX = 16 };

/* All that may have one of these calls. */
static const char *const parties[] = {
    "host",     "circulant", "binomial",  "postal",    "relay",     "bruck",     "ring",          "linear",
    "halving",  "gather",    "ordered",   "split",     "doubling",  "census",    "dissemination", "reduce-bcast",
    "chain",    "binary",    "kary",      "knomial",   "fibonacci", "in-order",  "two-tree",      "mesh",
    "neighbor", "hypercube", "pairwise",  "dual-root", "full-lane", "scatter-allgather",
};
enum { PARTIES = sizeof parties / sizeof *parties };

static const char *const figures[FIGURES] = {"alpha_us", "gap_us", "beta_ns_per_kb", "node_alpha_us",
                                             "node_beta_ns_per_kb"};

static void short_broadcast(int round) { bcast_bytes((size_t)(200 + round), round % test.ranks, MPI_COMM_WORLD); }

static void broadcast(int round) { bcast_bytes((size_t)(40000 + round), round % test.ranks, MPI_COMM_WORLD); }

/* Long enough to show the rate of the network. */
static void long_broadcast(int round) { bcast_bytes((size_t)(600000 - round), round % 2, MPI_COMM_WORLD); }

static void equal_parts(int round) {
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    allgather_regular(&byte, &byte, 9000 + 5 * round, MPI_COMM_WORLD);
}

static void other_parts(int round) { allgather_bytes(3000 + round, MPI_COMM_WORLD); }

static void sum(int round) {
    static int own[ELEMENTS], got[ELEMENTS];
    int n = ELEMENTS - round, p = test.ranks, wrong = 0;
    for (int i = 0; i < n; i++) own[i] = test.rank * i + round;
    CHECK(MPI_Allreduce(own, got, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int i = 0; i < n; i++) wrong += got[i] != p * (p - 1) / 2 * i + p * round;
    CHECK_IN(wrong == 0, "round %d, %d elements", round, wrong);
}

static void exchange(int round) {
    unsigned char sent[RANKS_MAX * BLOCK], got[RANKS_MAX * BLOCK];
    unsigned call = (unsigned)round;
    for (int r = 0; r < test.ranks; r++) fill(sent + r * BLOCK, BLOCK, pair_seed(test.rank, r, call));
    alltoall(sent, BLOCK, MPI_BYTE, got, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < test.ranks; r++) CHECK(!wrong(got + r * BLOCK, BLOCK, pair_seed(r, test.rank, call)));
}

static const struct {
    const char *collective;
    void (*call)(int round);
} kinds[] = {
    {"bcast", short_broadcast},   {"bcast", broadcast}, {"bcast", long_broadcast}, {"allgather", equal_parts},
    {"allgatherv", other_parts}, {"allreduce", sum},   {"alltoall", exchange},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* What a rank knows behind a call: who had it, and the figures of the network. */
static struct known {
    int party; /* -1: nobody, as far as Rondo says */
    double figures[FIGURES];
} all[ROUNDS][KINDS], theirs[ROUNDS][KINDS];

static double (*figure)(const char *name);

static void make_call(int round, int kind) {
    const char *collective = kinds[kind].collective;
    struct known *known = &all[round][kind];
    unsigned long long before[PARTIES];
    for (int i = 0; test.calls && i < PARTIES; i++) before[i] = test.calls(collective, parties[i]);
    kinds[kind].call(round);
    known->party = -1;
    if (!test.calls) return;
    for (int i = 0; i < PARTIES; i++)
        if (test.calls(collective, parties[i]) != before[i]) known->party = i;
    for (int i = 0; i < FIGURES; i++) known->figures[i] = figure(figures[i]);
    CHECK_IN(known->party >= 0, "%s, round %d", collective, round);
}

static const char *party_name(int party) { return party < 0 ? "nobody" : parties[party]; }

/* Is all as on rank 0? */
static void compare(void) {
    memcpy(theirs, all, sizeof all);
    MPI_Bcast(theirs, (int)sizeof theirs, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        for (int kind = 0; kind < KINDS; kind++) {
            struct known *own = &all[round][kind], *other = &theirs[round][kind];
            CHECK_IN(own->party == other->party, "kind %d, round %d: %s here, and %s on rank 0", kind, round,
                     party_name(own->party), party_name(other->party));
            for (int i = 0; i < FIGURES; i++)
                CHECK_IN(own->figures[i] == other->figures[i], "%s is %g here, and %g on rank 0, kind %d, round %d",
                         figures[i], own->figures[i], other->figures[i], kind, round);
        }
    }
}

/* Did the calls of a kind change hands between Rondo and the MPI library? */
static int are_learnt(int kind) {
    int had[2] = {0, 0};
    for (int round = 0; round < ROUNDS; round++) had[all[round][kind].party == 0] = 1;
    return had[0] && had[1];
}

int main(int argc, char **argv) {
    start(&argc, &argv, "clocks");
    CHECK(test.ranks <= RANKS_MAX);
    *(void **)&figure = dlsym(RTLD_DEFAULT, "rondo_figure");
    for (int round = 0; round < ROUNDS; round++)
        for (int kind = 0; kind < KINDS; kind++) make_call(round, kind);
    compare();
    if (test.calls) {
        int learnt = 0;
        for (int kind = 0; kind < KINDS; kind++) learnt += are_learnt(kind);
        CHECK_IN(learnt > 0, "%d kinds of calls changed hands", learnt);
        unsigned long long (*readings)(void);
        *(void **)&readings = dlsym(RTLD_DEFAULT, "skewed_readings");
        CHECK(readings && readings() > ROUNDS);
        CHECK(figure("alpha_us") >= 0);
    }
    return finish();
}
