/* Random calls: collectives with types, roots, counts, distributions and in place; messages to wildcard receives and
 * nonblocking collectives under way meanwhile; calls with an invalid argument.
 */
#ifndef RANDOM_CALLS_H
#define RANDOM_CALLS_H

#include "random_types.h"

/* Counts of the ranks: even, random, one alone, or every second. */
static long distribution(int p, int *counts, int *displs) {
    int unit = draw_int(draw(4) ? 40 : 2000), one = draw_int(p), kind = draw_int(4), gap = draw_int(3);
    long at = 0;
    for (int r = 0; r < p; r++) {
        switch (kind) {
        case 0: counts[r] = unit; break;
        case 1: counts[r] = draw_int(unit + 1); break;
        case 2: counts[r] = r == one ? unit * 2 : 0; break;
        default: counts[r] = unit * (r % 2);
        }
        displs[r] = (int)at;
        at += counts[r] + gap;
    }
    return at;
}

enum { BCAST, ALLGATHERV, ALLGATHER, GATHERV, GATHER, SCATTERV, SCATTER, COLLECTIVES };

/* May ranks describe the same data, so many bytes, by types of different sizes? Open MPI's MPI_Allgatherv chooses
 * its algorithm by that size, and others of its algorithms cut long data between elements; so does Intel MPI's
 * MPI_Allgather. */
static int may_bundle(int which, long bytes) {
    if (host.open_mpi) return which != ALLGATHERV && bytes <= 1000;
    return !host.intel || which != ALLGATHER || bytes <= 1000;
}

/* May ranks receive so many elements each at its own distance? MPICH cuts long data of MPI_Allgatherv by the extent
 * of a rank's type. */
static int may_differ(int which, long elements) {
    return elements <= 250 || which != ALLGATHERV || !(host.mpich || host.intel);
}

/* What a call with such arguments returns. */
struct call {
    int which, root, in_place, each;
    int *counts, *displs;
    void *all, *own;
    int all_count, own_count;
    MPI_Datatype all_type, own_type;
    MPI_Comm comm;
};

static int make(const struct call *c) {
    const void *out = c->in_place ? MPI_IN_PLACE : c->own;
    void *in = c->in_place ? MPI_IN_PLACE : c->own;
    int own = c->in_place ? 0 : c->own_count;
    switch (c->which) {
    case BCAST: return CALL(Bcast, c->all, c->all_count, c->all_type, c->root, c->comm);
    case ALLGATHERV:
        return CALL(Allgatherv, out, own, c->own_type, c->all, c->counts, c->displs, c->all_type, c->comm);
    case ALLGATHER: return CALL(Allgather, out, own, c->own_type, c->all, c->each, c->all_type, c->comm);
    case GATHERV:
        return CALL(Gatherv, out, own, c->own_type, c->all, c->counts, c->displs, c->all_type, c->root, c->comm);
    case GATHER: return CALL(Gather, out, own, c->own_type, c->all, c->each, c->all_type, c->root, c->comm);
    case SCATTERV:
        return CALL(Scatterv, c->all, c->counts, c->displs, c->all_type, in, own, c->own_type, c->root, c->comm);
    default: return CALL(Scatter, c->all, c->each, c->all_type, in, own, c->own_type, c->root, c->comm);
    }
}

static void collective(MPI_Comm comm) {
    int p, me, counts[128], displs[128], size;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    now.own = draw(UINT64_MAX) + (uint64_t)me * 77777;
    struct call c = {.which = draw_int(COLLECTIVES), .counts = counts, .displs = displs, .comm = comm};
    c.root = draw_int(p);
    c.in_place = draw(3) == 0;
    int bundles = draw(2) == 0, regular = c.which == ALLGATHER || c.which == GATHER || c.which == SCATTER;
    long elements = distribution(p, counts, displs);
    c.each = counts[0];
    if (regular) elements = (long)c.each * p;
    /* Open MPI 4.1 reads past its description of a type without bytes when it copies one in these. */
    int may_be_empty = !(host.open_mpi_4 && regular);
    struct typed type = a_type(elements, may_be_empty), own_type, all_type;
    c.own_count = regular ? c.each : counts[me];
    c.all_count = (int)elements;
    MPI_Type_size(type.type, &size);
    bundles = bundles && may_bundle(c.which, elements * size);
    own_type = bundles ? bundle(type, &c.own_count) : like(type);
    all_type = bundles && c.which == BCAST ? bundle(type, &c.all_count) : like(type);
    if (!may_differ(c.which, elements)) {
        drop(&all_type);
        all_type = (struct typed){type.type, 0, 0};
    }
    if (c.which != ALLGATHER && c.which != ALLGATHERV) c.in_place = c.in_place && me == c.root;
    struct area all = area_of(all_type.type, c.all_count), own = area_of(own_type.type, c.own_count);
    c.all = all.at;
    c.own = own.at;
    c.all_type = all_type.type;
    c.own_type = own_type.type;
    add_code(make(&c));
    add_area(&all);
    add_area(&own);
    drop(&own_type);
    drop(&all_type);
    drop(&type);
}

/* Nonblocking collectives of the host, and receives of anything from anybody, which collectives must leave alone. */
struct pending {
    MPI_Request request;
    MPI_Comm comm; /* on which a message is to be sent to complete it; MPI_COMM_NULL: none is */
    int to, data[64], sent;
};

static void begin(struct pending *a, MPI_Comm comm, int number) {
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    for (int i = 0; i < 64; i++) a->data[i] = me * 100 + i + number;
    a->comm = MPI_COMM_NULL;
    switch (draw(3)) {
    case 0: MPI_Ibcast(a->data, 64, MPI_INT, draw_int(p), comm, &a->request); break;
    case 1: MPI_Iallreduce(MPI_IN_PLACE, a->data, 64, MPI_INT, MPI_SUM, comm, &a->request); break;
    default:
        a->comm = comm;
        a->to = (me + 1) % p;
        a->sent = me * 1000 + number;
        MPI_Irecv(a->data, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &a->request);
    }
}

static void end(struct pending *a) {
    if (a->comm != MPI_COMM_NULL) MPI_Send(&a->sent, 1, MPI_INT, a->to, 5, a->comm);
    MPI_Wait(&a->request, MPI_STATUS_IGNORE);
    add(a->data, sizeof a->data);
}

/* A call that no host carries out, with an argument that is wrong on all ranks and that all ranks look at. Where
 * only the root's counted, hosts would leave the others waiting. */
static void invalid(MPI_Comm comm, int null_comm) {
    int p, me, counts[128] = {0}, displs[128] = {0}, memory[256] = {0};
    MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    if (!host.plain_types) MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    for (int r = 0; r < p; r++) counts[r] = 1, displs[r] = r;
    struct call c = {.which = draw_int(COLLECTIVES), .root = draw_int(p), .each = 1, .counts = counts, .displs = displs,
                     .all = memory, .own = memory + 200, .all_count = 1, .own_count = 1, .all_type = MPI_INT,
                     .own_type = MPI_INT, .comm = comm};
    switch (draw(null_comm ? 6 : 5)) {
    case 0:
        c.root = draw(2) ? p : -77;
        if (c.which == ALLGATHER || c.which == ALLGATHERV) c.own_count = -1;
        break;
    case 1:
        c.own_count = -1;
        c.all_count = -1;
        break;
    case 2:
        c.own_type = MPI_DATATYPE_NULL;
        if (c.which == BCAST) c.all_type = MPI_DATATYPE_NULL;
        break;
    case 3:
        c.own_type = uncommitted;
        if (c.which == BCAST) c.all_type = uncommitted;
        break;
    case 4: /* the same memory for both, which Open MPI does not see */
        if (host.open_mpi) {
            c.own_count = -1;
            c.all_count = -1;
        } else {
            c.which = draw(2) ? ALLGATHER : ALLGATHERV;
            c.own = memory + me;
        }
        break;
    default:
        if (host.open_mpi && c.which == ALLGATHER) c.which = ALLGATHERV; /* Open MPI's MPI_Allgather looks into it */
        c.comm = MPI_COMM_NULL;
    }
    add_code(make(&c));
    add(memory, sizeof memory);
    if (!host.plain_types) MPI_Type_free(&uncommitted);
}

#endif
