/* MPI_Allgatherv and MPI_Allgather, worked out by hand: what the memory of a rank must be afterwards, byte by byte.
 *
 * Rank r contributes bytes of the data named DATA + r. A trial has the memory that the rank sends from and the one it
 * receives into, both with a margin around them and filled with the rank's own bytes, gaps included. Afterwards
 * the received blocks are where the type maps say, and nothing else has changed: no gap between blocks, none within
 * elements, no margin, and nothing of what was sent.
 */
#ifndef AGV_H
#define AGV_H

#include "blocks.h"

enum { DATA = 40, BEFORE = 3000, SENT = 6000 };

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
static MAYBE_UNUSED void allgather_blocks(const struct layout *send, const struct layout *recv, const int *counts,
                                          const int *displs, MPI_Comm comm) {
    struct trial t = prepare(send, recv, counts, displs, comm);
    allgatherv(t.send, t.send_count, t.send_type, t.got.origin, counts, displs, recv->type, comm);
    verify(&t, send, recv, counts, displs, comm);
}

/* The same with blocks one behind the other. */
static MAYBE_UNUSED void allgather_counts(const struct layout *send, const struct layout *recv, const int *counts,
                                          MPI_Comm comm) {
    int p, at = 0;
    MPI_Comm_size(comm, &p);
    int *displs = malloc(sizeof *displs * (size_t)p);
    for (int r = 0; r < p; r++) {
        displs[r] = at;
        at += counts[r];
    }
    allgather_blocks(send, recv, counts, displs, comm);
    free(displs);
}

/* Bytes from each rank: none, one, two or three times `unit` of them, so that neighbours differ. */
static MAYBE_UNUSED void allgather_bytes(int unit, MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    int *counts = malloc(sizeof *counts * (size_t)p);
    for (int r = 0; r < p; r++) counts[r] = (5 * r + unit) % 4 * unit;
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    allgather_counts(&byte, &byte, counts, comm);
    free(counts);
}

/* One MPI_Allgather of `count` elements of `recv` from each rank, with the same checks. */
static MAYBE_UNUSED void allgather_regular(const struct layout *send, const struct layout *recv, int count,
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

/* Blocks of `units[r]` units of 12 ints, sent as `send` or in place, received as `recv`, each rank's own choice. */
static MAYBE_UNUSED void allgather_units(const struct layout *send, const struct layout *recv, const int *units,
                                         MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    int *counts = malloc(sizeof *counts * (size_t)p);
    for (int r = 0; r < p; r++) counts[r] = units[r] * per_unit(recv);
    allgather_counts(send, recv, counts, comm);
    free(counts);
}

#endif
