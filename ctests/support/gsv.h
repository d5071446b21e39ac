/* MPI_Gatherv, MPI_Scatterv, MPI_Gather and MPI_Scatter, worked out by hand: what the memory of a rank must be
 * afterwards, byte by byte.
 *
 * The two directions are mirror images: every rank has a block of its own, the root has the blocks of all, and a
 * gather moves bytes from the first to the second, a scatter back. Either memory has a margin around it, and is filled
 * with the rank's own bytes, gaps included. Afterwards the received bytes are where the type maps say, and nothing
 * else has changed: no gap between blocks, none within elements, no margin, and nothing of what was sent.
 *
 * Every rank of the test knows all about a call. MPI is told only what is this rank's business; arguments that it must
 * ignore are such that nobody can use them.
 */
#ifndef GSV_H
#define GSV_H

#include "blocks.h"

enum way { GATHER, SCATTER, WAYS };

/* Names of the two memories, for `bottom`. */
enum { OWN = 1, ALL = 2 };

/* One call. */
struct move {
    enum way way;
    int regular;  /* by MPI_Gather or MPI_Scatter: `counts` are equal, and `displs` one behind the other */
    int root;
    int in_place; /* the root's own block stays where it is */
    int bottom;   /* of these memories MPI gets the addresses by the datatype, and MPI_BOTTOM as the buffer */
    unsigned edition; /* of the data; calls that follow each other should differ */
    const struct layout *own; /* elements of this rank's own block, which need not be those of other ranks */
    const struct layout *all; /* elements of the blocks at the root */
    const int *counts, *displs; /* of the blocks at the root, in such elements */
    MPI_Comm comm;
};

/* The memory and the arguments of a call. */
struct scene {
    struct memory own, own_after, all, all_after;
    void *own_buffer, *all_buffer;
    int own_count, each_count;
    const int *counts, *displs;
    MPI_Datatype own_type, all_type;
    MPI_Datatype absolute[2];
};

enum { OWN_BYTES = 3000, ALL_BYTES = 6000, BLOCK_BYTES = 10000 };

/* `type` with the address built in: what elements at `address` are, elements at MPI_BOTTOM are of this type. */
static MAYBE_UNUSED MPI_Datatype absolute_type(MPI_Datatype type, void *address) {
    int one = 1;
    MPI_Aint at;
    MPI_Datatype t;
    MPI_Get_address(address, &at);
    MPI_Type_create_hindexed(1, &one, &at, type, &t);
    MPI_Type_commit(&t);
    return t;
}

/* What rank `r` has to give, or to get: `bytes` bytes. */
static MAYBE_UNUSED unsigned char *block_of(const struct move *m, int r, size_t bytes) {
    unsigned char *block = malloc(bytes + 1);
    fill(block, bytes, BLOCK_BYTES + 100 * m->edition + (unsigned)r);
    return block;
}

static MAYBE_UNUSED void set_own(struct scene *s, const struct move *m, int me) {
    size_t bytes = (size_t)layout_bytes(m->all) * (size_t)m->counts[me];
    unsigned char *block = block_of(m, me, bytes);
    s->own_count = (int)(bytes / (size_t)layout_bytes(m->own));
    s->own = memory_for(m->own, s->own_count);
    s->own_after = memory_for(m->own, s->own_count);
    fill(s->own.base, s->own.bytes, OWN_BYTES + (unsigned)me);
    if (m->way == GATHER) place(m->own, s->own_count, s->own.origin, block);
    memcpy(s->own_after.base, s->own.base, s->own.bytes);
    if (m->way == SCATTER) place(m->own, s->own_count, s->own_after.origin, block);
    s->own_buffer = s->own.origin;
    s->own_type = m->own->type;
    free(block);
    if (!(m->bottom & OWN)) return;
    s->own_buffer = MPI_BOTTOM;
    s->own_type = s->absolute[0] = absolute_type(m->own->type, s->own.origin);
}

static MAYBE_UNUSED void set_all(struct scene *s, const struct move *m, int p) {
    s->all = memory_of_blocks(m->all, p, m->counts, m->displs);
    s->all_after = memory_of_blocks(m->all, p, m->counts, m->displs);
    fill(s->all.base, s->all.bytes, ALL_BYTES + (unsigned)m->root);
    memcpy(s->all_after.base, s->all.base, s->all.bytes);
    for (int r = 0; r < p; r++) {
        if (m->counts[r] == 0) continue;
        unsigned char *block = block_of(m, r, (size_t)layout_bytes(m->all) * (size_t)m->counts[r]);
        long at = m->displs[r] * m->all->extent;
        place(m->all, m->counts[r], s->all_after.origin + at, block);
        if (m->way == SCATTER || (m->in_place && r == m->root))
            place(m->all, m->counts[r], s->all.origin + at, block);
        free(block);
    }
    s->all_buffer = s->all.origin;
    s->all_type = m->all->type;
    s->each_count = m->counts[0];
    s->counts = m->counts;
    s->displs = m->displs;
    if (!(m->bottom & ALL)) return;
    s->all_buffer = MPI_BOTTOM;
    s->all_type = s->absolute[1] = absolute_type(m->all->type, s->all.origin);
}

/* This rank's memory before the call and as it must be after it, and its arguments. */
static MAYBE_UNUSED struct scene set_scene(const struct move *m) {
    int p, me;
    MPI_Comm_size(m->comm, &p);
    MPI_Comm_rank(m->comm, &me);
    struct scene s = {.own_buffer = MPI_IN_PLACE,
                      .own_count = -1,
                      .own_type = MPI_DATATYPE_NULL,
                      .all_buffer = (void *)8,
                      .each_count = -1,
                      .all_type = MPI_DATATYPE_NULL,
                      .absolute = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}};
    if (me != m->root || !m->in_place) set_own(&s, m, me);
    if (me == m->root) set_all(&s, m, p);
    return s;
}

static MAYBE_UNUSED void carry_out(const struct scene *s, const struct move *m) {
    void *own = s->own_buffer, *all = s->all_buffer;
    if (m->way == GATHER && m->regular)
        gather(own, s->own_count, s->own_type, all, s->each_count, s->all_type, m->root, m->comm);
    else if (m->way == GATHER)
        gatherv(own, s->own_count, s->own_type, all, s->counts, s->displs, s->all_type, m->root, m->comm);
    else if (m->regular)
        scatter(all, s->each_count, s->all_type, own, s->own_count, s->own_type, m->root, m->comm);
    else
        scatterv(all, s->counts, s->displs, s->all_type, own, s->own_count, s->own_type, m->root, m->comm);
}

static MAYBE_UNUSED void compare(const struct memory *is, const struct memory *must, const char *whose,
                                 const struct move *m) {
    if (!is->base) return;
    size_t at = 0;
    while (at < is->bytes && is->base[at] == must->base[at]) at++;
    int p;
    MPI_Comm_size(m->comm, &p);
    CHECK_IN(at == is->bytes, "%s%s, root %d: %s memory, byte %ld, %s and %s, counts %d %d %d...",
             m->way == GATHER ? "gather" : "scatter", m->regular ? "" : "v", m->root, whose,
             (long)at - (long)(is->origin - is->base), m->in_place ? "in place" : m->own->name, m->all->name,
             m->counts[0], m->counts[p > 1], m->counts[p > 2 ? 2 : 0]);
    free(is->base);
    free(must->base);
}

/* Looks at the memory after the call, and frees it. */
static MAYBE_UNUSED void look(struct scene *s, const struct move *m) {
    compare(&s->own, &s->own_after, "its own", m);
    compare(&s->all, &s->all_after, "the root's", m);
    for (int i = 0; i < 2; i++)
        if (s->absolute[i] != MPI_DATATYPE_NULL) MPI_Type_free(&s->absolute[i]);
}

/* One call with all checks. */
static MAYBE_UNUSED void check_move(const struct move *m) {
    struct scene s = set_scene(m);
    carry_out(&s, m);
    look(&s, m);
}

/* The same with blocks one behind the other. */
static MAYBE_UNUSED void check_dense(struct move m) {
    int p;
    MPI_Comm_size(m.comm, &p);
    int *displs = malloc(sizeof *displs * (size_t)p);
    lay_out(CONTIGUOUS, p, m.counts, 0, displs);
    m.displs = displs;
    check_move(&m);
    free(displs);
}

/* The same by MPI_Gather or MPI_Scatter, with `count` elements for each rank. */
static MAYBE_UNUSED void check_regular(struct move m, int count) {
    int p;
    MPI_Comm_size(m.comm, &p);
    int *counts = malloc(sizeof *counts * (size_t)p);
    for (int r = 0; r < p; r++) counts[r] = count;
    m.counts = counts;
    m.regular = 1;
    check_dense(m);
    free(counts);
}

/* A gather and a scatter of bytes, with none, one, two or three times `unit` of them for each rank, so that neighbours
 * differ. */
static MAYBE_UNUSED void both_ways(int unit, int root, MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    int *counts = malloc(sizeof *counts * (size_t)p);
    for (int r = 0; r < p; r++) counts[r] = (5 * r + unit + root) % 4 * unit;
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    for (int way = 0; way < WAYS; way++)
        check_dense((struct move){.way = (enum way)way,
                                  .root = root,
                                  .in_place = (unit + way) % 2,
                                  .edition = (unsigned)(unit + root),
                                  .own = &byte,
                                  .all = &byte,
                                  .counts = counts,
                                  .comm = comm});
    free(counts);
}

/* The same with `count` bytes for each rank, by MPI_Gather and MPI_Scatter. */
static MAYBE_UNUSED void both_ways_regular(int count, int root, MPI_Comm comm) {
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    for (int way = 0; way < WAYS; way++)
        check_regular((struct move){.way = (enum way)way,
                                    .root = root,
                                    .in_place = (count + way) % 2,
                                    .edition = (unsigned)(count + root),
                                    .own = &byte,
                                    .all = &byte,
                                    .comm = comm},
                      count);
}

/* ---- distributions of bytes or elements over the ranks ---- */

/* Of the literature, up to TWO_BLOCKS, and those in which ranks have nothing. */
enum distribution {
    SAME,
    RANDOM,
    BUCKET,
    SPIKES,
    DECREASING,
    INCREASING,
    ALTERNATING,
    SKEWED,
    TWO_BLOCKS,
    NOTHING,
    ROOT_ALONE,
    ANOTHER_ALONE,
    HOLES,
    DISTRIBUTIONS
};

/* The counts of p ranks, `b` on average where the distribution has an average. */
static MAYBE_UNUSED void distribute(enum distribution kind, int p, int root, int b, unsigned seed, int *counts) {
    enum { RHO = 5 };
    int large = p < RHO ? p : RHO;
    for (int r = 0; r < p; r++) {
        int random = (int)(next_random(&seed) & 0xffffff);
        switch (kind) {
        case SAME: counts[r] = b; break;
        case RANDOM: counts[r] = b ? 1 + random % (2 * b) : 0; break;
        case BUCKET: counts[r] = b ? b / 2 + 1 + random % b : 0; break;
        case SPIKES: counts[r] = random % RHO ? 1 : RHO * b; break;
        case DECREASING: counts[r] = (int)(2L * b * (p - r) / p) + 1; break;
        case INCREASING: counts[r] = (int)(2L * b * (r + 1) / p) + 1; break;
        case ALTERNATING: counts[r] = r % 2 ? b - b / 2 : b + b / 2; break;
        case SKEWED: counts[r] = r < large ? (int)((long)b * p / large) : 1; break;
        case TWO_BLOCKS: counts[r] = r == 0 || r == p - 1 ? (int)((long)b * p / 2) : 0; break;
        case NOTHING: counts[r] = 0; break;
        case ROOT_ALONE: counts[r] = r == root ? b : 0; break;
        case ANOTHER_ALONE: counts[r] = p > 1 && r == (root + 1 + b % (p - 1)) % p ? b : 0; break;
        case HOLES: counts[r] = random % 3 ? 0 : random / 3 % (2 * b + 1); break;
        case DISTRIBUTIONS: break;
        }
    }
}

#endif
