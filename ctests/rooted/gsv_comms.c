/* MPI_Gatherv, MPI_Scatterv, MPI_Gather and MPI_Scatter on communicators of every kind, and beside other traffic.
 *
 * - Parts of MPI_COMM_WORLD, ranks in another order, duplicates, parents freed before children, many alive at a time.
 * - Inter-communicators are the host's.
 * - Broadcasts, allgathers and these four follow each other on one communicator without a pause while one rank is late.
 * - A receive from any source with any tag, posted before, never sees a message of theirs, and messages of the program
 *   with any tag find their receives while calls go on.
 */
#include "agv.h"
#include "communicators.h"
#include "gsv.h"
#include <unistd.h>

static void use(MPI_Comm comm) {
    const int units[] = {1, 50, 3001, 20000};
    int p;
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < 4; i++)
        for (int root = i % 2; root < p; root += 2) {
            both_ways(units[i], root, comm);
            both_ways_regular(units[i], root, comm);
        }
}

/* The n-th of many calls, short ones. */
static void short_call(int n, MPI_Comm comm) { both_ways(10 + n * 3, n % test.ranks, comm); }

/* Four bytes are as long as a pending receive's buffer. */
static void beside_receive(int n, MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    both_ways(1 << n, n % p, comm);
    both_ways(4, (n + 1) % p, comm);
    both_ways_regular(4, (n + 2) % p, comm);
}

/* The bytes of rank r of the group that has no root. */
static int inter_count(int r) { return r % 2 * 3000 + 100 + 10 * r; }

static void across(MPI_Comm inter, int roots_side, int root) {
    int me, others;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &others);
    int at = 0, *counts = malloc(sizeof *counts * (size_t)others), *displs = malloc(sizeof *displs * (size_t)others);
    for (int r = 0; r < others; r++) {
        counts[r] = inter_count(r);
        displs[r] = at;
        at += counts[r] + 3;
    }
    unsigned char *all = malloc((size_t)at), own[8000];
    int is_root = roots_side && me == root, argument = is_root ? MPI_ROOT : roots_side ? MPI_PROC_NULL : root;
    int mine = inter_count(me);
    memset(all, 0x55, (size_t)at);
    fill(own, sizeof own, (unsigned)me);
    gatherv(own, mine, MPI_BYTE, all, counts, displs, MPI_BYTE, argument, inter);
    for (int r = 0; r < others && is_root; r++) {
        CHECK_IN(wrong(all + displs[r], (size_t)counts[r], (unsigned)r) == 0, "block %d", r);
        for (int k = 0; k < 3; k++) CHECK(all[displs[r] + counts[r] + k] == 0x55);
        fill(all + displs[r], (size_t)counts[r], 100 + (unsigned)r);
    }
    scatterv(all, counts, displs, MPI_BYTE, own, mine, MPI_BYTE, argument, inter);
    if (!roots_side) CHECK(wrong(own, (size_t)mine, 100 + (unsigned)me) == 0);

    fill(own, sizeof own, (unsigned)me);
    gather(own, 64, MPI_BYTE, all, 64, MPI_BYTE, argument, inter);
    for (int r = 0; r < others && is_root; r++) CHECK_IN(wrong(all + 64 * r, 64, (unsigned)r) == 0, "block %d", r);
    if (is_root) fill(all, 64 * (size_t)others, 9);
    scatter(all, 64, MPI_BYTE, own, 64, MPI_BYTE, argument, inter);
    for (size_t i = 0; i < 64 && !roots_side; i++) CHECK(own[i] == data_byte(9, 64 * (size_t)me + i));
    free(counts);
    free(displs);
    free(all);
}

static void inter(void) {
    if (test.ranks < 2) return;
    int lows = (test.ranks + 1) / 2, low = test.rank < lows;
    MPI_Comm half, inter, merged;
    MPI_Comm_split(MPI_COMM_WORLD, low, test.rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? lows : 0, 5, &inter);
    for (int root = 0; root < lows; root++) across(inter, low, root);
    for (int root = 0; root < test.ranks - lows; root++) across(inter, !low, root);
    MPI_Intercomm_merge(inter, low, &merged);
    use(merged);
    MPI_Comm_free(&inter);
    use(merged);
    MPI_Comm_free(&half);
    MPI_Comm_free(&merged);
}

enum { TAGS = 6 };

/* The program's own messages to the next rank, under tags of all sizes, while calls go on. */
static void beside_messages(MPI_Comm comm) {
    int me, p, *limit, there, sent[TAGS], got[TAGS];
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &there);
    CHECK(there);
    const int tags[TAGS] = {0, 1, 2, 1000, 32767, *limit};
    MPI_Request requests[2 * TAGS];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < TAGS; i++) {
            sent[i] = 100 * me + 10 * round + i;
            MPI_Isend(&sent[i], 1, MPI_INT, (me + 1) % p, tags[i], comm, &requests[i]);
            if (i == 2) both_ways(4, round % p, comm);
        }
        both_ways(5000, (round + 1) % p, comm);
        for (int i = TAGS - 1; i >= 0; i--) {
            MPI_Irecv(&got[i], 1, MPI_INT, (me + p - 1) % p, tags[i], comm, &requests[TAGS + i]);
            both_ways_regular(4, i % p, comm);
        }
        for (int i = 0; i < 2 * TAGS; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        for (int i = 0; i < TAGS; i++) CHECK(got[i] == 100 * ((me + p - 1) % p) + 10 * round + i);
    }
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
        both_ways(unit, (i + 2) % p, comm);
        allgather_bytes(unit, comm);
        both_ways_regular(unit, i % p, comm);
        if (me == (i + 1) % p) usleep(2000);
        both_ways(unit + 1, (i + 1) % p, comm);
        both_ways(3, (i + 1) % p, comm);
        allgather_bytes(unit + 1, comm);
        bcast_bytes((size_t)unit * 4, (i + 1) % p, comm);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_comms");
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
    beside_messages(MPI_COMM_WORLD);
    mixed(MPI_COMM_WORLD);
    use(MPI_COMM_SELF);
    use(MPI_COMM_WORLD);
    return finish();
}
