/* One rank alone makes a call that its MPI library refuses, and gets the error: a mistake of its own. The others go
 * on, and nobody waits for anybody: so it is without Rondo. Every argument that a library refuses on one rank alone, in
 * each of the collectives, on a new communicator and on one in use; under an error handler that returns, that takes its
 * time, and that leaves by a jump. All collectives follow, each of them as the next one after some fault, and again and
 * again, because ranks count calls while they learn who is faster.
 *
 * The library itself says what it refuses, in a call of this process alone. What it does not survive is left out:
 * docs/errors.md.
 */
#include "rondo_test.h"
#include <setjmp.h>

#ifdef OPEN_MPI
enum { OPEN = 1 };
#else
enum { OPEN = 0 };
#endif

/* Elements of a block; who is alone; how long a slow handler takes, in microseconds. */
enum { N = 300, MAX_RANKS = 8, ROOM = MAX_RANKS * N, ALONE = 1, SLOW = 600000 };

enum which {
    BCAST, ALLGATHERV, ALLGATHER, GATHERV, GATHER, SCATTERV, SCATTER, ALLTOALL, ALLTOALLV, ALLTOALLW, ALLREDUCE, REDUCE,
    REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, BARRIER, COLLECTIVES
};

static const char *const names[] = {
    "bcast",     "allgatherv", "allgather", "gatherv", "gather",         "scatterv",             "scatter", "alltoall",
    "alltoallv", "alltoallw",  "allreduce", "reduce",  "reduce_scatter", "reduce_scatter_block", "scan",    "exscan",
    "barrier"};

static int is_rooted(enum which c) { return c == GATHERV || c == GATHER || c == SCATTERV || c == SCATTER; }
static int is_exchange(enum which c) { return c == ALLTOALL || c == ALLTOALLV || c == ALLTOALLW; }
static int reduces(enum which c) { return c >= ALLREDUCE && c <= EXSCAN; }
static int gathers(enum which c) { return c == ALLGATHERV || c == ALLGATHER || c == GATHERV || c == GATHER; }
static int has_root(enum which c) { return is_rooted(c) || c == BCAST || c == REDUCE; }
static int has_counts(enum which c) {
    return c == ALLGATHERV || c == GATHERV || c == SCATTERV || c == ALLTOALLV || c == ALLTOALLW || c == REDUCE_SCATTER;
}

/* The arguments of a call, of which each collective takes some. `from` and `to` are the buffers of what is sent and of
 * what is received. */
struct call {
    int *from, *to;
    int sent, received;
    const int *counts, *places;
    MPI_Datatype from_type, to_type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

static int own[ROOM], all[ROOM];
static MPI_Datatype uncommitted;

static int make(enum which c, const struct call *a) {
    MPI_Datatype sent[MAX_RANKS], received[MAX_RANKS];
    int bytes[MAX_RANKS];
    for (int r = 0; r < MAX_RANKS; r++) {
        sent[r] = a->from_type, received[r] = a->to_type;
        bytes[r] = (int)sizeof(int) * r * N;
    }
    switch (c) {
    case BCAST: return MPI_Bcast(a->from, a->sent, a->from_type, a->root, a->comm);
    case ALLGATHERV:
        return MPI_Allgatherv(a->from, a->sent, a->from_type, a->to, a->counts, a->places, a->to_type, a->comm);
    case ALLGATHER: return MPI_Allgather(a->from, a->sent, a->from_type, a->to, a->received, a->to_type, a->comm);
    case GATHERV:
        return MPI_Gatherv(a->from, a->sent, a->from_type, a->to, a->counts, a->places, a->to_type, a->root, a->comm);
    case GATHER: return MPI_Gather(a->from, a->sent, a->from_type, a->to, a->received, a->to_type, a->root, a->comm);
    case SCATTERV:
        return MPI_Scatterv(a->from, a->counts, a->places, a->from_type, a->to, a->received, a->to_type, a->root,
                            a->comm);
    case SCATTER: return MPI_Scatter(a->from, a->sent, a->from_type, a->to, a->received, a->to_type, a->root, a->comm);
    case ALLTOALL: return MPI_Alltoall(a->from, a->sent, a->from_type, a->to, a->received, a->to_type, a->comm);
    case ALLTOALLV:
        return MPI_Alltoallv(a->from, a->counts, a->places, a->from_type, a->to, a->counts, a->places, a->to_type,
                             a->comm);
    case ALLTOALLW:
        return MPI_Alltoallw(a->from, a->counts, a->places ? bytes : NULL, sent, a->to, a->counts,
                             bytes, a->from_type == a->to_type ? sent : received, a->comm);
    case ALLREDUCE: return MPI_Allreduce(a->from, a->to, a->sent, a->from_type, a->op, a->comm);
    case REDUCE: return MPI_Reduce(a->from, a->to, a->sent, a->from_type, a->op, a->root, a->comm);
    case REDUCE_SCATTER: return MPI_Reduce_scatter(a->from, a->to, a->counts, a->from_type, a->op, a->comm);
    case REDUCE_SCATTER_BLOCK: return MPI_Reduce_scatter_block(a->from, a->to, a->sent, a->from_type, a->op, a->comm);
    case SCAN: return MPI_Scan(a->from, a->to, a->sent, a->from_type, a->op, a->comm);
    case EXSCAN: return MPI_Exscan(a->from, a->to, a->sent, a->from_type, a->op, a->comm);
    default: return MPI_Barrier(a->comm);
    }
}

static int counts[MAX_RANKS], places[MAX_RANKS], negative[MAX_RANKS];

static struct call valid(int root, MPI_Comm comm) {
    return (struct call){own, all, N, N, counts, places, MPI_INT, MPI_INT, MPI_SUM, root, comm};
}

/* ---- valid calls ---- */

/* Element `i` of what rank `from` has for rank `to`. */
static int element(int from, int to, int i) { return 1000000 * from + 10000 * to + i; }

static int made[COLLECTIVES]; /* valid calls, for each collective */

/* A valid call, with a check of all that it leaves. */
static void right(enum which c, int root, MPI_Comm comm) {
    const int me = test.rank, p = test.ranks;
    struct call a = valid(root, comm);
    for (int r = 0; r < p; r++)
        for (int i = 0; i < N; i++) own[r * N + i] = gathers(c) ? element(me, 0, i) : element(me, r, i);
    if (c == BCAST && me != root) memset(own, 0, sizeof own);
    memset(all, 0, sizeof all);
    CHECK_IN(make(c, &a) == MPI_SUCCESS, "%s", names[c]);
    made[c]++;
    int *got = c == BCAST ? own : all;
    int is_roots = c == GATHERV || c == GATHER || c == REDUCE;
    int is_here = c != BARRIER && !(is_roots && me != root) && !(c == EXSCAN && me == 0);
    int blocks = gathers(c) || is_exchange(c) ? p : 1, wrong = 0;
    for (int b = 0; is_here && b < blocks; b++)
        for (int i = 0; i < N; i++) {
            int expected = 0, part = c == REDUCE_SCATTER || c == REDUCE_SCATTER_BLOCK ? me : 0;
            if (c == BCAST) expected = element(root, 0, i);
            if (gathers(c)) expected = element(b, 0, i);
            if (c == SCATTERV || c == SCATTER) expected = element(root, me, i);
            if (is_exchange(c)) expected = element(b, me, i);
            int until = c == SCAN ? me + 1 : c == EXSCAN ? me : p;
            for (int r = 0; reduces(c) && r < until; r++) expected += element(r, part, i);
            wrong += got[b * N + i] != expected;
        }
    CHECK_IN(wrong == 0, "%s: %d of %d", names[c], wrong, blocks * N);
}

/* So many collectives, first the one with this number. */
static void go_on(int first, int n, MPI_Comm comm) {
    for (int i = first; i < first + n; i++) right((enum which)(i % COLLECTIVES), i % test.ranks, comm);
}

/* ---- faults ---- */

enum fault {
    SEND_NULL, RECV_NULL, ALIAS, SEND_IN_PLACE, RECV_IN_PLACE, SEND_COUNT, RECV_COUNT, COUNTS, COUNTS_NULL, PLACES_NULL,
    SEND_TYPE, RECV_TYPE, SEND_UNCOMMITTED, RECV_UNCOMMITTED, OP, OP_OF_TYPE, ROOT, FAULTS
};

/* Puts the fault into the arguments of `rank`; false if there is no such argument. */
static int spoil(struct call *a, enum which c, enum fault f, int rank) {
    int scatters = c == SCATTERV || c == SCATTER;
    int takes_counts = has_counts(c), one_count = !is_rooted(c) && !gathers(c) && !is_exchange(c);
    if (c == BARRIER) return 0;
    switch (f) {
    case SEND_NULL: return a->from = NULL, 1;
    case RECV_NULL: return a->to = NULL, c != BCAST;
    case ALIAS:
        if (gathers(c)) a->from = all + rank * N;
        else if (scatters) a->to = own + rank * N;
        else a->from = all;
        return c != BCAST;
    case SEND_IN_PLACE: return a->from = MPI_IN_PLACE, c == BCAST || scatters;
    case RECV_IN_PLACE: return a->to = MPI_IN_PLACE, !scatters && c != BCAST;
    case SEND_COUNT: return a->sent = -1, !(takes_counts && (scatters || !gathers(c)));
    case RECV_COUNT: return a->received = -1, !one_count && (!takes_counts || scatters);
    case COUNTS: return a->counts = negative, takes_counts;
    case COUNTS_NULL: return a->counts = NULL, takes_counts;
    case PLACES_NULL: return a->places = NULL, takes_counts && c != REDUCE_SCATTER;
    case SEND_TYPE: return a->from_type = MPI_DATATYPE_NULL, 1;
    case RECV_TYPE: return a->to_type = MPI_DATATYPE_NULL, !one_count;
    case SEND_UNCOMMITTED: return a->from_type = uncommitted, 1;
    case RECV_UNCOMMITTED: return a->to_type = uncommitted, !one_count;
    case OP: return a->op = MPI_OP_NULL, reduces(c);
    case OP_OF_TYPE: return a->op = MPI_BAND, a->from_type = MPI_DOUBLE, reduces(c);
    case ROOT: return a->root = -5, has_root(c);
    default: return 0;
    }
}

/* Does the library crash or hang? */
static int is_deadly(enum which c, enum fault f) {
    if (!OPEN)
        return f == COUNTS_NULL || f == PLACES_NULL || (f == SEND_IN_PLACE && c == BCAST) ||
               (f == SEND_COUNT && reduces(c)) ||
               /* MPICH 5 looks into types that are none. */
               (MPI_VERSION >= 5 && (f == SEND_TYPE || f == SEND_UNCOMMITTED) && reduces(c));
    return f == SEND_NULL || f == RECV_NULL || (c == ALLGATHERV && (f == COUNTS || f == COUNTS_NULL)) ||
           (c == SCATTER && f == SEND_COUNT) || (c == ALLTOALL && f == RECV_IN_PLACE);
}

/* ---- error handlers ---- */

enum manner { RETURNS, TAKES_LONG, JUMPS };

static enum manner manner;
static int handled;
static jmp_buf back;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
    if (manner == TAKES_LONG) usleep(SLOW);
    if (manner == JUMPS) longjmp(back, 1);
}

static MPI_Errhandler errhandler;

static MPI_Comm comm_with_handler(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, errhandler);
    return comm;
}

/* Is the call refused? Its handler was called then. */
static int is_refused(enum which c, const struct call *a) {
    volatile int before = handled;
    if (setjmp(back) == 0) make(c, a);
    return handled > before;
}

static MPI_Comm myself; /* this process alone */

/* Rank 1 makes the call with this fault, as the root or not, if its library refuses it. The others do not. All ranks
 * know whether it was made. */
static int alone(enum which c, enum fault f, int as_root, enum manner how, MPI_Comm comm) {
    static int refuses[COLLECTIVES][FAULTS]; /* 1: no, 2: yes */
    struct call a = valid(0, myself);
    if (is_deadly(c, f) || !spoil(&a, c, f, 0)) return 0;
    if (refuses[c][f] == 0) {
        manner = RETURNS;
        refuses[c][f] = 1 + is_refused(c, &a);
    }
    if (refuses[c][f] == 1) return 0;
    a = valid(as_root ? ALONE : 0, comm);
    spoil(&a, c, f, ALONE);
    if (test.rank != ALONE) return 1;
    manner = how;
    CHECK_IN(is_refused(c, &a), "%s, fault %d", names[c], (int)f);
    return 1;
}

/* Is this argument one that others than the root have as well? */
static int is_of_all(enum which c, enum fault f) {
    if (f == OP || f == OP_OF_TYPE || f == ROOT) return has_root(c);
    if (c == GATHERV || c == GATHER || c == REDUCE)
        return f == SEND_NULL || f == SEND_COUNT || f == SEND_TYPE || f == SEND_UNCOMMITTED;
    if (c == SCATTERV || c == SCATTER)
        return f == RECV_NULL || f == RECV_COUNT || f == RECV_TYPE || f == RECV_UNCOMMITTED;
    return c == BCAST;
}

/* ---- what happens ---- */

static int next; /* the collective that follows the next fault */

/* Every fault, or every so many-th one, on a communicator in use, or each on a new one, whose first call it is. */
static void each(int is_new, enum manner how, int stride) {
    MPI_Comm used = comm_with_handler(), comm = used;
    int number = 0;
    go_on(0, COLLECTIVES, used);
    for (int c = 0; c < COLLECTIVES; c++)
        for (int f = 0; f < FAULTS; f++)
            for (int as_root = is_of_all(c, f) ? 0 : 1; as_root < 2; as_root++) {
                if (number++ % stride) continue;
                if (is_new) comm = comm_with_handler();
                if (alone(c, f, as_root, how, comm)) go_on(next++, 3, comm);
                if (is_new) MPI_Comm_free(&comm);
            }
    go_on(0, COLLECTIVES, used);
    MPI_Comm_free(&used);
    next += 5;
}

/* The same call again and again, with one that is refused in between now and then. */
static void again(enum which c) {
    MPI_Comm comm = comm_with_handler();
    for (int i = 0; i < 60; i++) {
        if (i >= 5 && i % 2 == 0) alone(c, (enum fault)(i / 2 % FAULTS), 1, i % 4 ? RETURNS : JUMPS, comm);
        right(c, 0, comm);
    }
    MPI_Comm_free(&comm);
}

/* Did Rondo have the calls of a collective where it is forced? */
static void check_at_work(enum which c) {
    char variable[60] = "EXPECT_RONDO_";
    for (size_t i = 0, n = strlen(variable); names[c][i]; i++)
        variable[n + i] = (char)toupper((unsigned char)names[c][i]), variable[n + i + 1] = 0;
    const char *expect = getenv(variable);
    if (!test.expect || !is_algorithm(expect)) return;
    unsigned long long rondo = test.calls(names[c], NULL);
    CHECK_IN(rondo == (unsigned long long)made[c], "%s: %llu of %d", names[c], rondo, made[c]);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "refused_alone");
    for (int r = 0; r < MAX_RANKS; r++) counts[r] = negative[r] = N, places[r] = r * N;
    negative[0] = -1;
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_dup(MPI_COMM_SELF, &myself);
    MPI_Comm_set_errhandler(myself, errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler); /* Open MPI 4.1 calls that of some faults in MPI_Allreduce */

    each(0, RETURNS, 1);
    each(1, RETURNS, 1);
    each(0, JUMPS, 2);
    each(1, JUMPS, 7);
    each(0, TAKES_LONG, 31);
    for (int c = 0; c < COLLECTIVES; c++) again((enum which)c);
    CHECK(next > 250);
    for (int c = 0; c < COLLECTIVES; c++) check_at_work((enum which)c);

    MPI_Comm_free(&myself);
    MPI_Errhandler_free(&errhandler);
    MPI_Type_free(&uncommitted);
    return finish();
}
