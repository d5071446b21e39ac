/* MPI_Allgatherv and MPI_Allgather, worked out by hand: what the memory of a rank must be afterwards, byte by byte.
 *
 * Rank r contributes bytes of the data named DATA + r. A trial has the memory that the rank sends from and the one it
 * receives into, both with a margin around them and filled with the rank's own bytes, gaps included. Afterwards
 * the received blocks are where the type maps say, and nothing else has changed: no gap between blocks, none within
 * elements, no margin, and nothing of what was sent.
 */
#ifndef AGV_H
#define AGV_H

#include "layouts.h"

enum { DATA = 40, BEFORE = 3000, SENT = 6000 };

/* `type` as it is, a run of its bytes. Not to be dropped: the type is the caller's. */
static MAYBE_UNUSED struct layout dense(MPI_Datatype type, struct piece *piece) {
    int size;
    MPI_Type_size(type, &size);
    *piece = (struct piece){0, size};
    return (struct layout){"dense", type, size, 0, 1, piece};
}

static MAYBE_UNUSED int is_dense(const struct layout *l) {
    return l->pieces == 1 && l->piece[0].at == 0 && l->piece[0].bytes == l->extent;
}

/* As place_message, and fast where there is nothing to it. */
static MAYBE_UNUSED void place(const struct layout *l, int count, unsigned char *origin, const unsigned char *message) {
    if (is_dense(l))
        memcpy(origin, message, (size_t)count * (size_t)l->extent);
    else
        place_message(l, count, origin, message);
}

/* Memory for blocks of `counts` elements at `displs` elements, which may be negative. Empty blocks take no part,
 * wherever they are. */
static MAYBE_UNUSED struct memory memory_of_blocks(const struct layout *l, int blocks, const int *counts,
                                                   const int *displs) {
    long low = 0, high = 0;
    for (int b = 0; b < blocks; b++)
        for (int end = 0; counts[b] > 0 && end < 2; end++) {
            long shift = ((long)displs[b] + (end ? counts[b] - 1 : 0)) * l->extent;
            for (int i = 0; i < l->pieces; i++) {
                long from = shift + l->piece[i].at, to = from + l->piece[i].bytes;
                if (from < low) low = from;
                if (to > high) high = to;
            }
        }
    struct memory m;
    long below = (MARGIN - low + 15) / 16 * 16;
    m.bytes = (size_t)(below + high + MARGIN);
    m.base = aligned_alloc(16, (m.bytes + 15) / 16 * 16);
    m.origin = m.base + below;
    return m;
}

struct trial {
    struct memory sent, got, want;
    /* The arguments for the call. In place, those that MPI ignores are not even valid. */
    const void *send;
    int send_count;
    MPI_Datatype send_type;
};

/* A call in which this rank sends its bytes as elements of `send`, or in place where that is NULL, and receives
 * `counts` elements of `recv` at `displs`. Ranks may differ in all but the bytes of each block. */
static MAYBE_UNUSED struct trial prepare(const struct layout *send, const struct layout *recv, const int *counts,
                                         const int *displs, MPI_Comm comm) {
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    struct trial t = {.send = MPI_IN_PLACE, .send_count = -1, .send_type = MPI_DATATYPE_NULL};
    t.got = memory_of_blocks(recv, p, counts, displs);
    t.want = memory_of_blocks(recv, p, counts, displs);
    fill(t.got.base, t.got.bytes, BEFORE + (unsigned)me);
    memcpy(t.want.base, t.got.base, t.got.bytes);
    for (int r = 0; r < p; r++) {
        if (counts[r] == 0) continue;
        size_t bytes = (size_t)layout_bytes(recv) * (size_t)counts[r];
        unsigned char *message = malloc(bytes);
        long at = displs[r] * recv->extent;
        fill(message, bytes, DATA + (unsigned)r);
        place(recv, counts[r], t.want.origin + at, message);
        if (r == me && !send) place(recv, counts[r], t.got.origin + at, message);
        free(message);
    }
    if (send) {
        size_t bytes = (size_t)layout_bytes(recv) * (size_t)counts[me];
        unsigned char *message = malloc(bytes + 1);
        t.send_count = (int)(bytes / (size_t)layout_bytes(send));
        t.send_type = send->type;
        t.sent = memory_for(send, t.send_count);
        fill(t.sent.base, t.sent.bytes, SENT + (unsigned)me);
        fill(message, bytes, DATA + (unsigned)me);
        place(send, t.send_count, t.sent.origin, message);
        free(message);
        t.send = t.sent.origin;
    }
    return t;
}

/* Looks at the memory after the call, and frees it. */
static MAYBE_UNUSED void verify(struct trial *t, const struct layout *send, const struct layout *recv,
                                const int *counts, const int *displs, MPI_Comm comm) {
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    size_t at = 0;
    while (at < t->got.bytes && t->got.base[at] == t->want.base[at]) at++;
    CHECK_IN(at == t->got.bytes, "byte %ld, %s to %s, counts %d %d %d..., displs %d...",
             (long)at - (long)(t->got.origin - t->got.base), send ? send->name : "in place", recv->name, counts[0],
             counts[p > 1], counts[p > 2 ? 2 : 0], displs[0]);
    free(t->got.base);
    free(t->want.base);
    if (!send) return;
    /* What was sent is what prepare() put there. */
    unsigned char *message = malloc((size_t)layout_bytes(recv) * (size_t)counts[me] + 1), *sent = malloc(t->sent.bytes);
    fill(message, (size_t)layout_bytes(recv) * (size_t)counts[me], DATA + (unsigned)me);
    fill(sent, t->sent.bytes, SENT + (unsigned)me);
    place(send, t->send_count, sent + (t->sent.origin - t->sent.base), message);
    CHECK_IN(!memcmp(sent, t->sent.base, t->sent.bytes), "%d x %s were sent", t->send_count, send->name);
    free(message);
    free(sent);
    free(t->sent.base);
}

/* One MPI_Allgatherv with all checks; see prepare(). */
static MAYBE_UNUSED void gather_blocks(const struct layout *send, const struct layout *recv, const int *counts,
                                       const int *displs, MPI_Comm comm) {
    struct trial t = prepare(send, recv, counts, displs, comm);
    allgatherv(t.send, t.send_count, t.send_type, t.got.origin, counts, displs, recv->type, comm);
    verify(&t, send, recv, counts, displs, comm);
}

/* The same with blocks one behind the other. */
static MAYBE_UNUSED void gather_counts(const struct layout *send, const struct layout *recv, const int *counts,
                                       MPI_Comm comm) {
    int p, at = 0;
    MPI_Comm_size(comm, &p);
    int *displs = malloc(sizeof *displs * (size_t)p);
    for (int r = 0; r < p; r++) {
        displs[r] = at;
        at += counts[r];
    }
    gather_blocks(send, recv, counts, displs, comm);
    free(displs);
}

/* Bytes from each rank: none, one, two or three times `unit` of them, so that neighbours differ. */
static MAYBE_UNUSED void gather_bytes(int unit, MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    int *counts = malloc(sizeof *counts * (size_t)p);
    for (int r = 0; r < p; r++) counts[r] = (5 * r + unit) % 4 * unit;
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    gather_counts(&byte, &byte, counts, comm);
    free(counts);
}

/* One MPI_Allgather of `count` elements of `recv` from each rank, with the same checks. */
static MAYBE_UNUSED void gather_regular(const struct layout *send, const struct layout *recv, int count,
                                        MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    int *counts = malloc(sizeof *counts * (size_t)p), *displs = malloc(sizeof *displs * (size_t)p);
    for (int r = 0; r < p; r++) {
        counts[r] = count;
        displs[r] = r * count;
    }
    struct trial t = prepare(send, recv, counts, displs, comm);
    allgather(t.send, t.send_count, t.send_type, t.got.origin, count, recv->type, comm);
    verify(&t, send, recv, counts, displs, comm);
    free(counts);
    free(displs);
}

/* ---- types: all are made of ints, and 12 ints are a whole number of elements of each ---- */

static MAYBE_UNUSED struct layout ints_plain(void) {
    struct layout l = new_layout("dup of int", 4);
    MPI_Datatype t;
    MPI_Type_dup(MPI_INT, &t);
    add(&l, 0, 4);
    return commit(l, t);
}

static MAYBE_UNUSED struct layout ints_contiguous(void) {
    struct layout l = new_layout("contiguous 12", 48);
    MPI_Datatype t;
    MPI_Type_contiguous(12, MPI_INT, &t);
    add(&l, 0, 48);
    return commit(l, t);
}

static MAYBE_UNUSED struct layout ints_vector(void) {
    struct layout l = new_layout("vector of 4 x 3, stride 5", 72);
    MPI_Datatype t;
    MPI_Type_vector(4, 3, 5, MPI_INT, &t);
    for (int i = 0; i < 4; i++) add(&l, 20 * i, 12);
    return commit(l, t);
}

/* The lower bound is -48, and an element runs towards lower addresses. */
static MAYBE_UNUSED struct layout ints_backward(void) {
    struct layout l = new_layout("hvector of 4, stride -16 bytes", 52);
    MPI_Datatype t;
    MPI_Type_create_hvector(4, 1, -16, MPI_INT, &t);
    for (int i = 0; i < 4; i++) add(&l, -16 * i, 4);
    return commit(l, t);
}

static MAYBE_UNUSED struct layout ints_indexed(void) {
    struct layout l = new_layout("indexed 3, 1, 2 out of order", 40);
    int lengths[] = {3, 1, 2}, at[] = {5, 9, 0};
    MPI_Datatype t;
    MPI_Type_indexed(3, lengths, at, MPI_INT, &t);
    for (int i = 0; i < 3; i++) add(&l, 4L * at[i], 4L * lengths[i]);
    return commit(l, t);
}

/* Dense, size equal to extent, and still no contiguous copy. */
static MAYBE_UNUSED struct layout ints_permuted(void) {
    struct layout l = new_layout("4 in the order 2 0 3 1", 16);
    int at[] = {2, 0, 3, 1};
    MPI_Datatype t;
    MPI_Type_create_indexed_block(4, 1, at, MPI_INT, &t);
    for (int i = 0; i < 4; i++) add(&l, 4L * at[i], 4);
    return commit(l, t);
}

static MAYBE_UNUSED struct layout ints_spread(void) {
    struct layout l = new_layout("int resized to 12 bytes", 12);
    MPI_Datatype t;
    MPI_Type_create_resized(MPI_INT, 0, 12, &t);
    add(&l, 0, 4);
    return commit(l, t);
}

static MAYBE_UNUSED struct layout ints_resized_below(void) {
    struct layout l = new_layout("3 resized to [-16, 48)", 64);
    MPI_Datatype s, t;
    MPI_Type_contiguous(3, MPI_INT, &s);
    MPI_Type_create_resized(s, -16, 64, &t);
    MPI_Type_free(&s);
    add(&l, 0, 12);
    return commit(l, t);
}

/* An element reaches into the next ones, and a block into the next block: together they leave no gap, and write no
 * byte twice. The extent is smaller than what an element spans. */
static MAYBE_UNUSED struct layout ints_interleaved(void) {
    struct layout l = new_layout("2 at 0 and 20, resized to 8", 8);
    int at[] = {0, 5};
    MPI_Datatype s, t;
    MPI_Type_create_indexed_block(2, 1, at, MPI_INT, &s);
    MPI_Type_create_resized(s, 0, 8, &t);
    MPI_Type_free(&s);
    add(&l, 0, 4);
    add(&l, 20, 4);
    return commit(l, t);
}

/* Elements, and with them displacements, step backwards through memory. */
static MAYBE_UNUSED struct layout ints_negative_extent(void) {
    struct layout l = new_layout("2 resized to extent -8", -8);
    MPI_Datatype s, t;
    MPI_Type_contiguous(2, MPI_INT, &s);
    MPI_Type_create_resized(s, 0, -8, &t);
    MPI_Type_free(&s);
    add(&l, 0, 8);
    return commit(l, t);
}

static MAYBE_UNUSED struct layout ints_struct(void) {
    struct layout l = new_layout("struct of int[4] and int[2]", 36);
    int lengths[] = {4, 2};
    MPI_Aint at[] = {0, 28};
    MPI_Datatype parts[] = {MPI_INT, MPI_INT}, t;
    MPI_Type_create_struct(2, lengths, at, parts, &t);
    add(&l, 0, 16);
    add(&l, 28, 8);
    return commit(l, t);
}

static MAYBE_UNUSED struct layout ints_subarray(void) {
    struct layout l = new_layout("subarray in C order", 4 * 5 * 4);
    int sizes[] = {4, 5}, part[] = {2, 3}, from[] = {1, 2};
    MPI_Datatype t;
    MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_INT, &t);
    for (int i = 0; i < 2; i++) add(&l, 4L * ((1 + i) * 5 + 2), 12);
    return commit(l, t);
}

static MAYBE_UNUSED struct layout ints_dup_vector(void) {
    struct layout l = new_layout("dup of vector of 2 x 1, stride 4", 20);
    MPI_Datatype s, t;
    MPI_Type_vector(2, 1, 4, MPI_INT, &s);
    MPI_Type_dup(s, &t);
    MPI_Type_free(&s);
    add(&l, 0, 4);
    add(&l, 16, 4);
    return commit(l, t);
}

static MAYBE_UNUSED struct layout ints_nested(void) {
    struct layout l = new_layout("hvector of 3, 40 bytes apart, of vector of 2 x 2, stride 3", 100);
    MPI_Datatype s, t;
    MPI_Type_vector(2, 2, 3, MPI_INT, &s); /* extent 20 */
    MPI_Type_create_hvector(3, 1, 40, s, &t);
    MPI_Type_free(&s);
    for (int i = 0; i < 3; i++) {
        add(&l, 40 * i, 8);
        add(&l, 40 * i + 12, 8);
    }
    return commit(l, t);
}

typedef struct layout (*ints_maker)(void);

static MAYBE_UNUSED const ints_maker ints_makers[] = {
    ints_plain,         ints_contiguous,  ints_vector,          ints_backward, ints_indexed,
    ints_permuted,      ints_spread,      ints_struct,          ints_subarray, ints_nested,
    ints_resized_below, ints_interleaved, ints_negative_extent, ints_dup_vector,
};
enum { INTS_MAKERS = sizeof ints_makers / sizeof *ints_makers, UNIT_BYTES = 48 };

/* Elements of the layout in one unit of 12 ints. */
static MAYBE_UNUSED int per_unit(const struct layout *l) { return (int)(UNIT_BYTES / layout_bytes(l)); }

/* Blocks of `units[r]` units of 12 ints, sent as `send` or in place, received as `recv`, each rank's own choice. */
static MAYBE_UNUSED void gather_units(const struct layout *send, const struct layout *recv, const int *units,
                                      MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    int *counts = malloc(sizeof *counts * (size_t)p);
    for (int r = 0; r < p; r++) counts[r] = units[r] * per_unit(recv);
    gather_counts(send, recv, counts, comm);
    free(counts);
}

#endif
