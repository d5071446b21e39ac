/* Derived datatypes with their type maps written down by hand.
 *
 * The maps are the oracle: what a broadcast must do is computed from them byte by byte, without asking MPI about
 * the type. A layout describes one element; element i of a buffer lies i * extent bytes further.
 */
#ifndef LAYOUTS_H
#define LAYOUTS_H

#include "rondo_test.h"

struct piece {
    long at, bytes; /* relative to the buffer's address */
};

struct layout {
    const char *name;
    MPI_Datatype type;
    long extent;
    int max_count; /* more elements would overlap; 0: any number */
    int pieces;
    struct piece *piece; /* in the order of the type map, which is the order on the wire */
};

static MAYBE_UNUSED struct layout new_layout(const char *name, long extent) {
    struct layout l = {name, MPI_DATATYPE_NULL, extent, 0, 0, NULL};
    return l;
}

static MAYBE_UNUSED void add(struct layout *l, long at, long bytes) {
    l->piece = realloc(l->piece, sizeof *l->piece * (size_t)(l->pieces + 1));
    l->piece[l->pieces].at = at;
    l->piece[l->pieces++].bytes = bytes;
}

static MAYBE_UNUSED void drop(struct layout *l) {
    MPI_Type_free(&l->type);
    free(l->piece);
}

/* Lays the constructed type into the layout, committed. */
static MAYBE_UNUSED struct layout commit(struct layout l, MPI_Datatype type) {
    l.type = type;
    MPI_Type_commit(&l.type);
    return l;
}

static MAYBE_UNUSED long layout_bytes(const struct layout *l) {
    long bytes = 0;
    for (int i = 0; i < l->pieces; i++) bytes += l->piece[i].bytes;
    return bytes;
}

/* Memory that holds `count` elements, with a margin on both sides. `origin` is where the buffer's address is. */
struct memory {
    unsigned char *base, *origin;
    size_t bytes;
};

enum { MARGIN = 64 };

static MAYBE_UNUSED struct memory memory_for(const struct layout *l, int count) {
    long low = 0, high = 0;
    for (int e = 0; e < 2; e++) {
        long shift = e ? (count > 0 ? count - 1 : 0) * l->extent : 0;
        for (int i = 0; i < l->pieces; i++) {
            if (shift + l->piece[i].at < low) low = shift + l->piece[i].at;
            if (shift + l->piece[i].at + l->piece[i].bytes > high) high = shift + l->piece[i].at + l->piece[i].bytes;
        }
    }
    struct memory m;
    /* Elements are aligned as their largest part would be in a C program. */
    long below = (MARGIN - low + 15) / 16 * 16;
    m.bytes = (size_t)(below + high + MARGIN);
    m.base = aligned_alloc(16, (m.bytes + 15) / 16 * 16);
    m.origin = m.base + below;
    return m;
}

/* The message: the bytes of `count` elements at `origin` in the order of the type map. */
static MAYBE_UNUSED unsigned char *message_of(const struct layout *l, int count, const unsigned char *origin) {
    unsigned char *message = malloc((size_t)(layout_bytes(l) * count) + 1), *to = message;
    for (long e = 0; e < count; e++)
        for (int i = 0; i < l->pieces; i++) {
            memcpy(to, origin + e * l->extent + l->piece[i].at, (size_t)l->piece[i].bytes);
            to += l->piece[i].bytes;
        }
    return message;
}

/* The opposite: puts a message where `count` elements at `origin` have their bytes. */
static MAYBE_UNUSED void place_message(const struct layout *l, int count, unsigned char *origin,
                                       const unsigned char *message) {
    for (long e = 0; e < count; e++)
        for (int i = 0; i < l->pieces; i++) {
            memcpy(origin + e * l->extent + l->piece[i].at, message, (size_t)l->piece[i].bytes);
            message += l->piece[i].bytes;
        }
}

/* Broadcasts from `root`, which describes the message as `roots_count` elements of `roots`, into `count` elements of
 * `mine` (at the root both are the same). Afterwards the described bytes are the root's, and every other byte
 * of the memory, gaps and margins, is what it was. */
static MAYBE_UNUSED void bcast_layouts(const struct layout *roots, int roots_count, const struct layout *mine,
                                       int count, int root, MPI_Comm comm) {
    int me;
    MPI_Comm_rank(comm, &me);

    struct memory sent = memory_for(roots, roots_count);
    fill(sent.base, sent.bytes, 11);
    unsigned char *message = message_of(roots, roots_count, sent.origin);

    struct memory got = memory_for(mine, count), want = memory_for(mine, count);
    unsigned seed = me == root ? 11 : 100 + (unsigned)me;
    fill(got.base, got.bytes, seed);
    fill(want.base, want.bytes, seed);
    place_message(mine, count, want.origin, message);

    bcast(got.origin, count, mine->type, root, comm);
    CHECK_IN(memcmp(got.base, want.base, got.bytes) == 0, "%d x %s from root %d with %d x %s", count, mine->name, root,
             roots_count, roots->name);

    free(sent.base);
    free(got.base);
    free(want.base);
    free(message);
}

#endif
