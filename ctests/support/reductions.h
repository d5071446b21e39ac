/* The six reductions, on operands that every rank can compute for all ranks.
 *
 * What must come out is computed with MPI_Reduce_local, from rank 0 to the last one; what may change in memory follows
 * from the layout (layouts.h). Operands are given packed, so that ranks may describe the same data by different types.
 */
#ifndef REDUCTIONS_H
#define REDUCTIONS_H

#include "layouts.h"

struct reducing {
    const char *name;
    const struct layout *layout;
    /* How to compare each piece: 'f' float, 'd' double, 'l' long double, 'q' of 16 bytes, by value because zero has two
     * signs and a long double has bytes without meaning; 'b' bytes. NULL: all are bytes. */
    const char *kinds;
    MPI_Op op;
    int commutes;
    /* Do the MPI libraries by themselves leave the bytes between pieces as they were? */
    int keeps_gaps;
    /* Writes element i of a rank's operand, the pieces one behind the other. */
    void (*operand)(const struct reducing *of, int rank, long i, unsigned char *packed);
};

/* Checks that a call succeeded and, where the environment names an algorithm, that Rondo carried it out: by this
 * algorithm, unless the order of ranks must be kept, which not every algorithm does. */
static MAYBE_UNUSED void check_reduction(struct counts before, int code, long long bytes, int any_order,
                                         MPI_Comm comm) {
    const char *name = before.collective, *expect = expected(name);
    if (any_order || !is_algorithm(expect)) {
        check_call(before, code, bytes, comm);
        return;
    }
    CHECK_IN(code == MPI_SUCCESS, "%s returned %d", name, code);
    struct counts now = counts_of(name);
    unsigned long long rondo = now.rondo - before.rondo, host = now.host - before.host;
    unsigned long long takes = (unsigned long long)forced_takes(bytes, comm);
    CHECK_IN(rondo == takes && host == !takes, "%s: %llu by Rondo, %llu by the host", name, rondo, host);
}

static MAYBE_UNUSED int same_piece(char kind, const unsigned char *x, const unsigned char *y, long bytes) {
    float f[2];
    double d[2];
    long double l[2];
    __float128 q[2];
    switch (kind) {
    case 'f': return memcpy(&f[0], x, sizeof *f), memcpy(&f[1], y, sizeof *f), f[0] == f[1];
    case 'd': return memcpy(&d[0], x, sizeof *d), memcpy(&d[1], y, sizeof *d), d[0] == d[1];
    case 'l': return memcpy(&l[0], x, sizeof *l), memcpy(&l[1], y, sizeof *l), l[0] == l[1];
    case 'q': return memcpy(&q[0], x, sizeof *q), memcpy(&q[1], y, sizeof *q), q[0] == q[1];
    default: return !memcmp(x, y, (size_t)bytes);
    }
}

/* All operands of a case for elements 0 to `total`, and what becomes of them. All packed. */
struct outcome {
    unsigned char *own;    /* this rank's operand */
    unsigned char *before; /* of all ranks below this one; nothing on rank 0 */
    unsigned char *upto;   /* with this one */
    unsigned char *all;
};

static MAYBE_UNUSED struct outcome outcome_of(const struct reducing *c, long total, MPI_Comm comm) {
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    const struct layout *l = c->layout;
    size_t bytes = (size_t)(layout_bytes(l) * total) + 1;
    struct outcome out = {malloc(bytes), NULL, NULL, NULL};
    struct memory left = memory_for(l, (int)total), right = memory_for(l, (int)total);
    memset(left.base, 0, left.bytes);
    memset(right.base, 0, right.bytes);
    unsigned char *packed = malloc(bytes);
    for (int r = 0; r < p; r++) {
        for (long i = 0; i < total; i++) c->operand(c, r, i, packed + i * layout_bytes(l));
        if (r == rank) {
            memcpy(out.own, packed, bytes - 1);
            if (r > 0) out.before = message_of(l, (int)total, left.origin);
        }
        place_message(l, (int)total, right.origin, packed);
        if (r > 0 && total > 0) MPI_Reduce_local(left.origin, right.origin, (int)total, l->type, c->op);
        struct memory other = left; /* the result is the next left operand */
        left = right;
        right = other;
        if (r == rank) out.upto = message_of(l, (int)total, left.origin);
    }
    out.all = message_of(l, (int)total, left.origin);
    free(packed);
    free(left.base);
    free(right.base);
    return out;
}

static MAYBE_UNUSED void free_outcome(struct outcome out) {
    free(out.own);
    free(out.before);
    free(out.upto);
    free(out.all);
}

/* The buffers of one call. */
struct buffers {
    struct memory sent, got, was; /* `was`: what the receive buffer is before the call */
    long room;                    /* elements it has room for */
    int in_place;
};

/* `elements` elements to send; where they are received into, in place or not, there is room for as many. */
static MAYBE_UNUSED struct buffers buffers_of(const struct reducing *c, const unsigned char *own, long elements,
                                              int in_place) {
    const struct layout *l = c->layout;
    struct buffers b = {memory_for(l, (int)elements), memory_for(l, (int)elements), memory_for(l, (int)elements),
                        elements, in_place};
    fill(b.sent.base, b.sent.bytes, 3);
    fill(b.got.base, b.got.bytes, 4);
    place_message(l, (int)elements, b.sent.origin, own);
    if (in_place) place_message(l, (int)elements, b.got.origin, own);
    memcpy(b.was.base, b.got.base, b.got.bytes);
    return b;
}

static MAYBE_UNUSED const void *send_of(const struct buffers *b) {
    return b->in_place ? MPI_IN_PLACE : (const void *)b->sent.origin;
}

/* The receive buffer has the `count` elements of `want` (packed) at its beginning and is otherwise as it was, as far as
 * that is promised; the send buffer is as it was. Frees the buffers. */
static MAYBE_UNUSED void check_buffers(const struct reducing *c, struct buffers b, const unsigned char *own,
                                       const unsigned char *want, long count, const char *call, const char *where) {
    const struct layout *l = c->layout;
    long bad = 0, size = layout_bytes(l);
    for (long e = 0; e < b.room; e++) {
        const unsigned char *packed = want + e * size;
        for (int i = 0; i < l->pieces; i++) {
            long at = e * l->extent + l->piece[i].at, bytes = l->piece[i].bytes;
            unsigned char *got = b.got.origin + at;
            if (e < count) {
                bad += !same_piece(c->kinds ? c->kinds[i] : 'b', got, packed, bytes);
                packed += bytes;
            }
            /* The rest of a buffer in place may be used for anything. */
            if (e < count || b.in_place) memcpy(b.was.origin + at, got, (size_t)bytes);
        }
    }
    CHECK_IN(bad == 0, "%s: %s of %ld (%s): %ld wrong", c->name, call, count, where, bad);
    if (c->keeps_gaps)
        CHECK_IN(!memcmp(b.got.base, b.was.base, b.got.bytes), "%s: %s of %ld (%s): gaps", c->name, call, count,
                 where);
    CHECK_IN(!memcmp(b.got.base, b.was.base, MARGIN / 2), "%s: %s of %ld (%s): margin", c->name, call, count, where);
    fill(b.was.base, b.sent.bytes, 3);
    place_message(l, (int)b.room, b.was.origin, own);
    CHECK_IN(!memcmp(b.sent.base, b.was.base, b.sent.bytes), "%s: %s of %ld (%s): sent", c->name, call, count, where);
    free(b.sent.base);
    free(b.got.base);
    free(b.was.base);
}

/* Does whoever carries out MPI_Reduce_scatter_block do it right? MPICH 4.0 by itself, where the order of ranks counts,
 * gives wrong results for elements with gaps, and writes beyond its own memory. */
static MAYBE_UNUSED int scatters_blocks(const struct reducing *c, MPI_Comm comm) {
#ifdef OPEN_MPI
    (void)c, (void)comm;
    return 1;
#else
    int rondos = is_algorithm(expected("reduce_scatter_block")) && is_rondos_comm(comm);
    return c->commutes || rondos;
#endif
}

/* All six calls, of `n` elements, or of about so many for each rank. */
static MAYBE_UNUSED void reduce_by_all(const struct reducing *c, int n, int root, int in_place, MPI_Comm comm) {
    int rank, p, *counts, from = 0, total = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    counts = malloc((size_t)p * sizeof *counts);
    for (int r = 0; r < p; r++) {
        counts[r] = (r + 1) % 3 * n / 2;
        if (r < rank) from += counts[r];
        total += counts[r];
    }
    MPI_Datatype type = c->layout->type;
    long long size = layout_bytes(c->layout), bytes = n * size;
    struct outcome out = outcome_of(c, (long)n * p, comm);
    const char *where = in_place ? "in place" : "not in place";

    struct buffers b = buffers_of(c, out.own, n, in_place);
    struct counts before = counts_of("allreduce");
    int rc = MPI_Allreduce(send_of(&b), b.got.origin, n, type, c->op, comm);
    check_reduction(before, rc, bytes, c->commutes, comm);
    check_buffers(c, b, out.own, out.all, n, "allreduce", where);

    b = buffers_of(c, out.own, n, in_place && rank == root);
    before = counts_of("reduce");
    /* Off the root the receive buffer means nothing, and need not be one. */
    void *into = rank == root || rank % 2 ? b.got.origin : NULL;
    rc = MPI_Reduce(send_of(&b), into, n, type, c->op, root, comm);
    check_reduction(before, rc, bytes, c->commutes, comm);
    check_buffers(c, b, out.own, out.all, rank == root ? n : 0, "reduce", where);

    if (scatters_blocks(c, comm)) {
        b = buffers_of(c, out.own, (long)n * p, in_place);
        before = counts_of("reduce_scatter_block");
        rc = MPI_Reduce_scatter_block(send_of(&b), b.got.origin, n, type, c->op, comm);
        check_reduction(before, rc, bytes, c->commutes, comm);
        check_buffers(c, b, out.own, out.all + rank * bytes, n, "reduce_scatter_block", where);
    }

    b = buffers_of(c, out.own, total, in_place);
    before = counts_of("reduce_scatter");
    rc = MPI_Reduce_scatter(send_of(&b), b.got.origin, counts, type, c->op, comm);
    check_reduction(before, rc, total * size, c->commutes, comm);
    check_buffers(c, b, out.own, out.all + from * size, counts[rank], "reduce_scatter", where);

    b = buffers_of(c, out.own, n, in_place);
    before = counts_of("scan");
    rc = MPI_Scan(send_of(&b), b.got.origin, n, type, c->op, comm);
    check_reduction(before, rc, bytes, c->commutes, comm);
    check_buffers(c, b, out.own, out.upto, n, "scan", where);

    b = buffers_of(c, out.own, n, in_place);
    before = counts_of("exscan");
    rc = MPI_Exscan(send_of(&b), b.got.origin, n, type, c->op, comm);
    check_reduction(before, rc, bytes, c->commutes, comm);
    /* Rank 0 gets nothing, and in place what it has may change. */
    check_buffers(c, b, out.own, out.before, rank > 0 ? n : 0, "exscan", where);

    free_outcome(out);
    free(counts);
}

#endif
