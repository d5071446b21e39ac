/* Random reductions, scans and barriers, whose results every rank computes for itself: integers exactly, by operators
 * of MPI and of the program; doubles to the bit where their order is promised, and nearly otherwise, but then to the
 * bit as on another communicator of the same ranks.
 */
#ifndef RANDOM_REDUCTIONS_H
#define RANDOM_REDUCTIONS_H

#include "random_comms.h"

enum { ALLREDUCE, REDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, BARRIER, REDUCTIONS };

static const char *const reductions[] = {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block",
                                         "scan",      "exscan", "barrier"};

/* Sums and maxima of integers, sums of doubles, maps of 32-bit integers one after the other (which do not commute), and
 * an operator of the program that does. */
enum { SUMS, MAXIMA, DOUBLES, MAPS, OWN_SUMS, KINDS };

/* An element, of 8 bytes whatever it is. */
union element {
    int64_t number;
    double real;
    struct {
        uint32_t a, b; /* x -> a x + b */
    } map;
};

static union element joined(int kind, union element left, union element right) {
    switch (kind) {
    case MAXIMA: return left.number > right.number ? left : right;
    case DOUBLES: return (union element){.real = left.real + right.real};
    case MAPS:
        return (union element){.map = {left.map.a * right.map.a, left.map.b * right.map.a + right.map.b}};
    default: return (union element){.number = left.number + right.number};
    }
}

static void join_maps(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    union element *left = in, *right = inout;
    for (int i = 0; i < *count; i++) right[i] = joined(MAPS, left[i], right[i]);
}

static void join_sums(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    union element *left = in, *right = inout;
    for (int i = 0; i < *count; i++) right[i] = joined(OWN_SUMS, left[i], right[i]);
}

/* Element i of a rank in a call. */
static union element operand(int kind, uint64_t call, int rank, long i) {
    static const double large[] = {1e16, 1, -1e16, 3.5, 1e-3, -7e15};
    uint64_t state = call + (uint64_t)rank * 1000003 + (uint64_t)i * 7919, x = next_of(&state);
    switch (kind) {
    case DOUBLES:
        return (union element){.real = x % 2 ? large[x / 2 % 6] : (double)(int64_t)x / 9e18 * (double)(1 << x % 30)};
    case MAPS: return (union element){.map = {(uint32_t)x | 1, (uint32_t)(x >> 32)}};
    default: return (union element){.number = (int64_t)(x >> 8)};
    }
}

static double size_of(double x) { return x < 0 ? -x : x; }

/* Is `got` what the ranks from 0 to `upto`, which is not among them, give? */
static int right(int kind, uint64_t call, int upto, long i, union element got, int ordered) {
    union element all = operand(kind, call, 0, i);
    double sizes = size_of(all.real);
    for (int r = 1; r < upto; r++) {
        union element next = operand(kind, call, r, i);
        if (kind == DOUBLES) sizes += size_of(next.real);
        all = joined(kind, all, next);
    }
    if (kind != DOUBLES || ordered) return !memcmp(&got, &all, sizeof got);
    return size_of(got.real - all.real) <= 1e-13 * sizes;
}

/* Does Rondo promise the order of ranks on this communicator? */
static int keeps_order(MPI_Comm comm) {
    const char *promise = getenv("RONDO_REPRODUCIBLE");
    return test.expect && promise && !strcmp(promise, "order") && is_rondos_comm(comm);
}

/* Is `got` the same on all ranks? */
static int alike(const union element *got, int n, MPI_Comm comm) {
    uint64_t sum = 0, first;
    for (int i = 0; i < n; i++) sum = (sum ^ (uint64_t)got[i].number) * 0x9e3779b97f4a7c15u;
    first = sum;
    PMPI_Bcast(&first, 1, MPI_UINT64_T, 0, comm);
    return first == sum;
}

/* MPICH 4.0 ends in a segmentation fault where another root than rank 0 has a longer vector in place. */
static int may_be_in_place(int which, int root) { return which != REDUCE || root == 0 || !host.mpich_4; }

/* The arguments of a call. */
struct arguments {
    int which;
    const void *out;
    int n, unit, root;
    const int *counts;
    MPI_Datatype type;
    MPI_Op op;
};

static int call(const struct arguments *a, void *got, MPI_Comm comm) {
    switch (a->which) {
    case ALLREDUCE: return CALL(Allreduce, a->out, got, a->n, a->type, a->op, comm);
    case REDUCE: return CALL(Reduce, a->out, got, a->n, a->type, a->op, a->root, comm);
    case REDUCE_SCATTER: return CALL(Reduce_scatter, a->out, got, a->counts, a->type, a->op, comm);
    case REDUCE_SCATTER_BLOCK: return CALL(Reduce_scatter_block, a->out, got, a->unit, a->type, a->op, comm);
    case SCAN: return CALL(Scan, a->out, got, a->n, a->type, a->op, comm);
    case EXSCAN: return CALL(Exscan, a->out, got, a->n, a->type, a->op, comm);
    default: return CALL(Barrier, comm);
    }
}

/* Calls of Rondo's of this kind so far, or 0 in a bare run. */
static unsigned long long rondos(int which) { return test.expect ? test.calls(reductions[which], NULL) : 0; }

/* Is the same sum to have the same bits on every communicator of these ranks? */
static int keeps_bits(void) {
    const char *promise = getenv("RONDO_REPRODUCIBLE");
    return test.expect && (!promise || (strcmp(promise, "host") && strcmp(promise, "off")));
}

/* A sum that Rondo carried out has the same bits on another communicator of these ranks, if Rondo carries it out there,
 * be it new or not. `was` is what the receive buffer was. */
static void check_again(const struct arguments *a, const union element *was, const union element *got, int results,
                        MPI_Comm comm) {
    MPI_Comm same;
    int me;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_split(comm, 0, me, &same); /* attributes are not copied */
    for (int time = 0; time < 2; time++) {
        union element *next = malloc(sizeof *next * (size_t)(a->n + 1));
        memcpy(next, was, sizeof *next * (size_t)a->n);
        unsigned long long before = rondos(a->which);
        call(a, next, same);
        int alike = rondos(a->which) == before || !memcmp(next, got, sizeof *next * (size_t)results);
        CHECK_IN(alike, "%s of %d doubles: other bits, time %d", reductions[a->which], a->n, time);
        free(next);
    }
    MPI_Comm_free(&same);
}

static void reduction(struct slot *slot) {
    int p, me, counts[128], from = 0, n = 0;
    MPI_Comm comm = slot->comm;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    int which = draw_int(REDUCTIONS), kind = draw_int(KINDS), root = draw_int(p), in_place = draw(3) == 0;
    int most = draw(4) ? 40 : 3000, unit = draw_int(most), alone = draw_int(p), uneven = draw_int(3);
    uint64_t number = draw(UINT64_MAX);
    for (int r = 0; r < p; r++) {
        int some = draw_int(unit + 1);
        counts[r] = which == REDUCE_SCATTER_BLOCK || !uneven ? unit : uneven == 1 ? some : unit * 2 * (r == alone);
        if (r < me) from += counts[r];
        n += counts[r];
    }
    int scatters = which == REDUCE_SCATTER || which == REDUCE_SCATTER_BLOCK;
    if (!scatters) n = unit;
    in_place = in_place && may_be_in_place(which, root) && (which != REDUCE || me == root);
    union element *own = malloc(sizeof *own * (size_t)(n + 1)), *got = malloc(sizeof *got * (size_t)(n + 1));
    for (int i = 0; i < n; i++) own[i] = operand(kind, number, me, i);
    memcpy(got, own, sizeof *own * (size_t)n);
    got[n].number = 0x5a5a;
    const void *out = in_place ? MPI_IN_PLACE : (const void *)own;

    MPI_Op op = kind == MAXIMA ? MPI_MAX : MPI_SUM;
    if (kind == MAPS) MPI_Op_create(join_maps, 0, &op);
    if (kind == OWN_SUMS) MPI_Op_create(join_sums, 1, &op);
    MPI_Datatype type = kind == DOUBLES ? MPI_DOUBLE : MPI_INT64_T;
    struct arguments arguments = {which, out, n, unit, root, counts, type, op};
    unsigned long long before = rondos(which);
    int rc = call(&arguments, got, comm), is_rondos = rondos(which) > before;
    if (kind == MAPS || kind == OWN_SUMS) MPI_Op_free(&op);
    add_code(rc);

    int results = which == BARRIER || (which == REDUCE && me != root) ? 0 : scatters ? counts[me] : n;
    int upto = which == SCAN ? me + 1 : which == EXSCAN ? me : p, ordered = keeps_order(comm), bad = 0;
    if (upto == 0) results = 0;
    for (int i = 0; i < results; i++)
        bad += !right(kind, number, upto, (scatters ? from : 0) + i, got[i], ordered);
    CHECK_IN(bad == 0, "%d of %d wrong: %s, kind %d, %d ranks, root %d%s", bad, results, reductions[which], kind, p,
             root, in_place ? ", in place" : "");
    CHECK_IN(got[n].number == 0x5a5a, "%s of %d writes beyond", reductions[which], n);
    if (which == ALLREDUCE && test.expect)
        CHECK_IN(alike(got, n, comm), "allreduce of %d, kind %d: not the same on all ranks", n, kind);
    if (kind == DOUBLES && which != BARRIER && is_rondos && keeps_bits())
        check_again(&arguments, own, got, results, comm);
    /* Doubles are not what they are bare. */
    if (kind != DOUBLES) add(got, sizeof *got * (size_t)results);
    free(own);
    free(got);
}

/* Has Rondo carried out some of each, where it must? */
static MAYBE_UNUSED void check_reductions(void) {
    for (int which = 0; which < REDUCTIONS; which++) {
        char variable[40] = "RONDO_";
        size_t at = strlen(variable);
        for (const char *c = reductions[which]; *c; c++) variable[at++] = (char)toupper((unsigned char)*c);
        const char *algorithm = getenv(variable);
        if (test.expect && is_algorithm(algorithm) && test.ranks >= 3)
            CHECK_IN(test.calls(reductions[which], NULL) > 0, "%s", reductions[which]);
    }
}

#endif
