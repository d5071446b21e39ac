/* MPI_Allgatherv and MPI_Allgather on communicators of every kind, and beside other traffic.
 *
 * - Parts of MPI_COMM_WORLD, ranks in another order, duplicates, parents freed before children, many alive at a time.
 * - Inter-communicators are the host's.
 * - Broadcasts and both gathers follow each other on one communicator without a pause while one rank is late.
 * - A receive from any source with any tag, posted before, never sees a message of theirs.
 */
#include "agv.h"
#include "communicators.h"
#include <unistd.h>

static void regular_bytes(int count, MPI_Comm comm) {
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    allgather_regular(count % 2 ? &byte : NULL, &byte, count, comm);
}

static void use(MPI_Comm comm) {
    const int units[] = {1, 50, 3001, 20000};
    for (int i = 0; i < 4; i++) {
        allgather_bytes(units[i], comm);
        regular_bytes(units[i], comm);
    }
}

/* The n-th of many calls, a short one. */
static void short_call(int n, MPI_Comm comm) { allgather_bytes(10 + n * 7, comm); }

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
        allgather_bytes(unit, comm);
        bcast_bytes((size_t)unit * 4, (i + 1) % p, comm);
        if (me == (i + 1) % p) usleep(2000);
        allgather_bytes(unit + 1, comm);
        regular_bytes(unit, comm);
        allgather_bytes(1, comm);
    }
}

/* Four bytes are as long as a pending receive's buffer. */
static void beside_receive(int n, MPI_Comm comm) {
    allgather_bytes(1 << n, comm);
    regular_bytes(4, comm);
    allgather_bytes(4, comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_comms");
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm);
    wildcard(beside_receive, comm); /* its first call ever is made beside the pending receive */
    mixed(comm);
    MPI_Comm_free(&comm);
    on_parts(use);
    on_dups(use);
    on_many(short_call);
    inter();
    wildcard(beside_receive, MPI_COMM_WORLD);
    mixed(MPI_COMM_WORLD);
    use(MPI_COMM_SELF);
    use(MPI_COMM_WORLD);
    return finish();
}
