/* MPI_Allgatherv and MPI_Allgather on communicators of every kind, and beside other traffic.
 *
 * - Parts of MPI_COMM_WORLD, ranks in another order, duplicates, parents freed before children, many alive at a time.
 * - Inter-communicators are the host's.
 * - Broadcasts and both gathers follow each other on one communicator without a pause while one rank is late.
 * - A receive from any source with any tag, posted before, never sees a message of theirs.
 */
#include "agv.h"
#include <unistd.h>

static void regular_bytes(int count, MPI_Comm comm) {
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    gather_regular(count % 2 ? &byte : NULL, &byte, count, comm);
}

static void use(MPI_Comm comm) {
    const int units[] = {1, 50, 3001, 20000};
    for (int i = 0; i < 4; i++) {
        gather_bytes(units[i], comm);
        regular_bytes(units[i], comm);
    }
}

static void split(int color, int key) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    if (comm == MPI_COMM_NULL) return;
    use(comm);
    MPI_Comm_free(&comm);
}

static void parts(void) {
    split(test.rank % 2, test.rank);
    split(0, -test.rank);
    split(test.rank == test.ranks - 1 ? MPI_UNDEFINED : 3, 0);
    for (int size = 1; size <= 3; size++) split(test.rank / size, -test.rank);
}

static void dups(void) {
    MPI_Comm first, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    use(first);
    MPI_Comm_dup(first, &second);
    MPI_Comm_free(&first);
    use(second);
    MPI_Comm_free(&second);
}

/* Twenty at a time, with ranks in different orders; they take turns, and are freed in another order. */
static void many(void) {
    enum { MANY = 20 };
    MPI_Comm comm[MANY];
    for (int i = 0; i < MANY; i++) MPI_Comm_split(MPI_COMM_WORLD, 0, (test.rank + i) % test.ranks, &comm[i]);
    for (int i = 0; i < 2 * MANY; i++) gather_bytes(10 + i * 7, comm[i * 3 % MANY]);
    for (int i = 0; i < MANY; i += 2) MPI_Comm_free(&comm[i]);
    for (int i = 1; i < MANY; i += 2) gather_bytes(500 + i, comm[i]);
    for (int i = 1; i < MANY; i += 2) MPI_Comm_free(&comm[i]);
}

/* What rank r of either group contributes to a call on the inter-communicator. */
static int inter_count(int low, int r) { return low ? 100 + 10 * r : r % 2 * 3000; }

/* Each group receives what the other one has sent. */
static void inter(void) {
    if (test.ranks < 2) return;
    int lows = (test.ranks + 1) / 2, low = test.rank < lows, me, others, at = 0;
    MPI_Comm half, inter, merged;
    MPI_Comm_split(MPI_COMM_WORLD, low, test.rank, &half);
    MPI_Comm_rank(half, &me);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? lows : 0, 5, &inter);
    MPI_Comm_remote_size(inter, &others);
    int *counts = malloc(sizeof *counts * (size_t)others), *displs = malloc(sizeof *displs * (size_t)others);
    for (int r = 0; r < others; r++) {
        counts[r] = inter_count(!low, r);
        displs[r] = at;
        at += counts[r] + 3;
    }
    size_t room = (size_t)(at + 64 * others);
    unsigned char *got = malloc(room), sent[4000];
    for (int i = 0; i < 3; i++) {
        memset(got, 0x55, room);
        fill(sent, sizeof sent, (unsigned)(1000 * low + me));
        allgatherv(sent, inter_count(low, me), MPI_BYTE, got, counts, displs, MPI_BYTE, inter);
        for (int r = 0; r < others; r++) {
            CHECK_IN(wrong(got + displs[r], (size_t)counts[r], (unsigned)(1000 * !low + r)) == 0, "block %d", r);
            for (int k = 0; k < 3; k++) CHECK(got[displs[r] + counts[r] + k] == 0x55);
        }
        allgather(sent, 64, MPI_BYTE, memset(got, 0x55, room), 64, MPI_BYTE, inter);
        for (int r = 0; r < others; r++)
            CHECK_IN(wrong(got + 64 * r, 64, (unsigned)(1000 * !low + r)) == 0, "block %d", r);
    }
    MPI_Intercomm_merge(inter, low, &merged);
    use(merged);
    MPI_Comm_free(&inter);
    use(merged);
    MPI_Comm_free(&half);
    MPI_Comm_free(&merged);
    free(counts);
    free(displs);
    free(got);
}

/* One rank comes late, another one each time; the others are already several calls ahead, as far as they can be. */
static void mixed(MPI_Comm comm) {
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < 24; i++) {
        int unit = i % 3 ? 40 + i : 9000;
        if (me == i % p) usleep(3000);
        bcast_bytes((size_t)unit, i % p, comm);
        gather_bytes(unit, comm);
        bcast_bytes((size_t)unit * 4, (i + 1) % p, comm);
        if (me == (i + 1) % p) usleep(2000);
        gather_bytes(unit + 1, comm);
        regular_bytes(unit, comm);
        gather_bytes(1, comm);
    }
}

/* The receive matches the user's own message, and nothing before. */
static void wildcard(MPI_Comm comm) {
    int me, p, value = -1, done = 0, found = 0, mine;
    MPI_Request request, sent;
    MPI_Status status;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    mine = 1000 + me;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    for (int i = 0; i < 15; i++) {
        gather_bytes(1 << i, comm);
        regular_bytes(4, comm); /* as long as the receive's buffer */
        gather_bytes(4, comm);
        MPI_Test(&request, &done, &status);
        CHECK_IN(!done, "after round %d", i);
        if (done) return;
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
    CHECK(!found);
    /* Until here nobody has sent anything. */
    MPI_Barrier(comm);
    MPI_Isend(&mine, 1, MPI_INT, (me + 1) % p, 7, comm, &sent);
    gather_bytes(20000, comm);
    MPI_Wait(&request, &status);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    CHECK(status.MPI_SOURCE == (me + p - 1) % p);
    CHECK(status.MPI_TAG == 7);
    CHECK(value == 1000 + (me + p - 1) % p);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_comms");
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm);
    wildcard(comm); /* its first call ever is made beside the pending receive */
    mixed(comm);
    MPI_Comm_free(&comm);
    parts();
    dups();
    many();
    inter();
    wildcard(MPI_COMM_WORLD);
    mixed(MPI_COMM_WORLD);
    use(MPI_COMM_SELF);
    use(MPI_COMM_WORLD);
    return finish();
}
