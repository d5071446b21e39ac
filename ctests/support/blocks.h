/* The blocks of an irregular collective: where they lie in memory, in any order, and the types of their elements, each
 * with its map written down.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "layouts.h"
#include <stddef.h>

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

/* ---- where the blocks lie ---- */

static MAYBE_UNUSED unsigned next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

enum order { CONTIGUOUS, GAPS, REVERSED, PERMUTED, BELOW, MIDDLE, ORDERS };

/* Gives every block its place, in elements. The seed makes the permutation, and the widths of its gaps. */
static MAYBE_UNUSED void lay_out(enum order kind, int p, const int *counts, unsigned seed, int *displs) {
    int at = 0, total = 0, *order = malloc(sizeof *order * (size_t)p);
    for (int i = 0; i < p; i++) order[i] = kind == REVERSED ? p - 1 - i : i;
    for (int i = p - 1; kind == PERMUTED && i > 0; i--) {
        int j = (int)(next_random(&seed) % (unsigned)(i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (int i = 0; i < p; i++) total += counts[i];
    if (kind == BELOW) at = -total - 3 * p;
    if (kind == MIDDLE) at = -total / 2;
    for (int i = 0; i < p; i++) {
        displs[order[i]] = at;
        at += counts[order[i]];
        if (kind == GAPS) at += 1 + 5 * i;
        if (kind == PERMUTED) at += (int)(next_random(&seed) % 4);
        if (kind == BELOW) at += 2;
    }
    free(order);
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

typedef struct layout (*layout_maker)(void);

static MAYBE_UNUSED const layout_maker ints_makers[] = {
    ints_plain,         ints_contiguous,  ints_vector,          ints_backward, ints_indexed,
    ints_permuted,      ints_spread,      ints_struct,          ints_subarray, ints_nested,
    ints_resized_below, ints_interleaved, ints_negative_extent, ints_dup_vector,
};
enum { INTS_MAKERS = sizeof ints_makers / sizeof *ints_makers, UNIT_BYTES = 48 };

/* Elements of the layout in one unit of 12 ints. */
static MAYBE_UNUSED int per_unit(const struct layout *l) { return (int)(UNIT_BYTES / layout_bytes(l)); }

#if MPI_VERSION >= 4
/* A type made by a large-count constructor, whose contents MPI_Type_get_contents cannot give. */
static MAYBE_UNUSED struct layout ints_large_constructor(void) {
    struct layout l = new_layout("vector_c of 4 x 3 ints, stride 5", 72);
    MPI_Datatype t;
    MPI_Type_vector_c(4, 3, 5, MPI_INT, &t);
    for (int i = 0; i < 4; i++) add(&l, 20 * i, 12);
    return commit(l, t);
}
#endif

/* ---- types of more than ints ---- */

struct record {
    char tag;
    double value;
    int list[3];
};

/* A char, a double and three ints, in this order in the message; in memory at `at`. */
static MAYBE_UNUSED struct layout record(const char *name, const MPI_Aint at[3], long extent) {
    struct layout l = new_layout(name, extent);
    const int lengths[] = {1, 1, 3};
    const MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    MPI_Datatype s, t;
    MPI_Type_create_struct(3, lengths, at, parts, &s);
    MPI_Type_create_resized(s, 0, extent, &t);
    MPI_Type_free(&s);
    add(&l, at[0], 1);
    add(&l, at[1], 8);
    add(&l, at[2], 12);
    return commit(l, t);
}

static MAYBE_UNUSED struct layout record_padded(void) {
    const MPI_Aint at[] = {offsetof(struct record, tag), offsetof(struct record, value), offsetof(struct record, list)};
    return record("record with padding", at, sizeof(struct record));
}

static MAYBE_UNUSED struct layout record_packed(void) {
    const MPI_Aint at[] = {0, 1, 9};
    return record("record without padding", at, 21);
}

static MAYBE_UNUSED struct layout record_turned(void) {
    const MPI_Aint at[] = {20, 12, 0};
    return record("record turned round", at, 21);
}

static MAYBE_UNUSED const layout_maker records[] = {record_padded, record_packed, record_turned};
enum { RECORDS = sizeof records / sizeof *records };

#endif
