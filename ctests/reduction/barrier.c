/* No rank leaves MPI_Barrier before the last one has entered it. All ranks are on one machine, so that one clock serves
 * all of them.
 */
#include "rondo_test.h"
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A barrier that must be carried out by whom we expect. */
static void barrier(MPI_Comm comm) {
    struct counts before = counts_of("barrier");
    int rc = MPI_Barrier(comm);
    check_taken(before, rc, is_rondos_comm(comm));
}

/* A barrier into which this rank comes after so many microseconds. Every exit must follow the last entry. */
static void late(int microseconds, MPI_Comm comm, const char *name) {
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    double own[2], *all = malloc(sizeof own * (size_t)p), last = 0;
    usleep((useconds_t)microseconds);
    own[0] = now();
    barrier(comm);
    own[1] = now();
    MPI_Gather(own, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, comm);
    if (me == 0) {
        for (int r = 0; r < p; r++) last = all[2 * r] > last ? all[2 * r] : last;
        for (int r = 0; r < p; r++)
            CHECK_IN(all[2 * r + 1] >= last, "%s: rank %d of %d left %g s before the last one came", name, r, p,
                     last - all[2 * r + 1]);
    }
    free(all);
}

static void each_in_turn(MPI_Comm comm, const char *name) {
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    for (int r = 0; r < p; r++) late(r == me ? 20000 : 0, comm, name);
    late(0, comm, name);
    for (int k = 0; k < 20; k++) late((me * 7 + k * 5) % 11 * 100, comm, name);
}

/* One after the other without delay: a barrier must not take the messages of the next one for its own. */
static void many(MPI_Comm comm) {
    for (int k = 0; k < 200; k++) barrier(comm);
    for (int k = 0; k < 20; k++) late(0, comm, "after many");
}

/* A long message is on its way while its receiver computes and its sender waits in the barrier: neither may the barrier
 * need the message, nor lose it. Every rank receives from the one behind it. */
static void with_message(int slow, MPI_Comm comm) {
    enum { BYTES = 1 << 20 };
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    unsigned char *sent = malloc(BYTES), *got = calloc(1, BYTES);
    int to = (me + 1) % p, from = (me + p - 1) % p;
    MPI_Request requests[2];
    MPI_Status statuses[2]; /* MPICH's way to want none makes compilers warn */
    fill(sent, BYTES, (unsigned)me);
    MPI_Irecv(got, BYTES, MPI_BYTE, from, 5, comm, &requests[0]);
    MPI_Isend(sent, BYTES, MPI_BYTE, to, 5, comm, &requests[1]);
    if (me == slow) {
        volatile double x = 0;
        for (double until = now() + 0.02; now() < until;) x = x * 0.5 + 1;
    }
    late(0, comm, "with a message");
    MPI_Waitall(2, requests, statuses);
    CHECK_IN(wrong(got, BYTES, (unsigned)from) == 0, "message from %d", from);
    CHECK_IN(wrong(sent, BYTES, (unsigned)me) == 0, "message to %d", to);
    free(sent);
    free(got);
}

/* A receive from any source, with any tag, waits while the ranks meet: it must not get a message of the barrier's. */
static void with_wildcard(MPI_Comm comm) {
    int p, me, value, got = -1;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    MPI_Request request;
    MPI_Status status;
    value = 100 + me;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    barrier(comm);
    MPI_Send(&value, 1, MPI_INT, (me + 1) % p, 9, comm);
    MPI_Wait(&request, &status);
    CHECK_IN(got == 100 + (me + p - 1) % p && status.MPI_TAG == 9, "got %d with tag %d", got, status.MPI_TAG);
    barrier(comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "barrier");
    MPI_Comm half, same;
    each_in_turn(MPI_COMM_WORLD, "world");
    many(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, -test.rank, &half);
    each_in_turn(half, "split");
    many(half);
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    each_in_turn(same, "dup");
    for (int slow = 0; slow < test.ranks; slow += 1 + test.ranks / 5) with_message(slow, same);
    with_message(0, half);
    with_wildcard(MPI_COMM_WORLD);
    with_wildcard(same);
    barrier(MPI_COMM_SELF);
    MPI_Comm_free(&half);
    MPI_Comm_free(&same);
    return finish();
}
