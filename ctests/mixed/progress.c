/* Messages of the program's own move on while a rank waits in a collective.
 *
 * Every rank but one has a receive pending and enters the collective. The one that is late first sends to each of them
 * in MPI_Ssend, which ends only when the receiver has matched the message: by progress that the receiver makes while it
 * waits, wherever it does. Then the other way round: the late one takes a megabyte from each, which those that wait
 * have to feed. Every rank is late once, for each collective that makes all others wait for it, or where a long
 * message fills what memory there is between ranks. At last the late one puts data into memory of ranks that wait in a
 * barrier (passive target).
 */
#include "agv.h"
#include "gsv.h"

enum { USERS = 1 << 20, MESSAGE = 3 << 20, TAG = 6 };

typedef void (*call_function)(int late, MPI_Comm comm);

/* The late rank has what the others wait for. */
static void bcast_from_late(int late, MPI_Comm comm) { bcast_bytes(MESSAGE, late, comm); }

/* The root cannot get rid of a long message while a rank does not take its part. */
static void bcast_to_late(int late, MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    bcast_bytes(MESSAGE, (late + 1) % p, comm);
}

static void allgather_with_late(int late, MPI_Comm comm) {
    (void)late;
    allgather_bytes(30000, comm);
}

static void short_allgather_with_late(int late, MPI_Comm comm) {
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    (void)late;
    allgather_regular(&byte, &byte, 10, comm);
}

/* A gather from the late rank and a scatter by it, short and long. */
static void moves_with_late(int late, MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    both_ways(50, (late + 1) % p, comm);
    both_ways(60000, late, comm);
    both_ways_regular(20, late, comm);
}

static void barrier_with_late(int late, MPI_Comm comm) {
    (void)late;
    CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
}

/* All need what the late rank has, of a short vector and of a long one. */
static void allreduces_with_late(int late, MPI_Comm comm) {
    static const int counts[] = {1, 200000};
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    for (int c = 0; c < 2; c++) {
        int n = counts[c], bad = 0;
        double *own = malloc(sizeof *own * (size_t)n), *got = malloc(sizeof *got * (size_t)n);
        for (int i = 0; i < n; i++) own[i] = me + i % 1000;
        CHECK(MPI_Allreduce(own, got, n, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS);
        for (int i = 0; i < n; i++) bad += got[i] != p * (p - 1) / 2 + p * (i % 1000);
        CHECK_IN(bad == 0, "%d of %d, with %d late", bad, n, late);
        free(own);
        free(got);
    }
}

/* The root of a reduction, all of a reduce-scatter, and of a scan those behind the late one. */
static void reductions_with_late(int late, MPI_Comm comm) {
    int me, p, bad = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    int part = 60000, n = part * p, root = (late + 1) % p;
    double *own = malloc(sizeof *own * (size_t)n), *got = malloc(sizeof *got * (size_t)n);
    for (int i = 0; i < n; i++) own[i] = me + i % 1000;
    for (int count = 1; count <= n; count += n - 1) {
        CHECK(MPI_Reduce(own, got, count, MPI_DOUBLE, MPI_SUM, root, comm) == MPI_SUCCESS);
        for (int i = 0; i < count && me == root; i++) bad += got[i] != p * (p - 1) / 2 + p * (i % 1000);
        CHECK(MPI_Scan(own, got, count, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS);
        for (int i = 0; i < count; i++) bad += got[i] != me * (me + 1) / 2 + (me + 1) * (i % 1000);
    }
    CHECK(MPI_Reduce_scatter_block(own, got, part, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS);
    for (int i = 0; i < part; i++) bad += got[i] != p * (p - 1) / 2 + p * ((me * part + i) % 1000);
    CHECK_IN(bad == 0, "%d wrong, with %d late", bad, late);
    free(own);
    free(got);
}

static void put_by_late(int late, MPI_Comm comm) {
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    unsigned char *target = calloc(1, USERS), *own = malloc(USERS);
    MPI_Win win;
    MPI_Win_create(target, USERS, 1, MPI_INFO_NULL, comm, &win);
    for (int i = 1; i < p && me == late; i++) {
        int peer = (late + i) % p;
        fill(own, USERS, (unsigned)peer);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win);
        MPI_Put(own, USERS, MPI_BYTE, peer, 0, USERS, MPI_BYTE, win);
        MPI_Win_unlock(peer, win);
    }
    MPI_Barrier(comm);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    CHECK_IN(me == late || wrong(target, USERS, (unsigned)me) == 0, "put by %d to %d", late, me);
    MPI_Win_unlock(me, win);
    MPI_Win_free(&win);
    free(target);
    free(own);
}

static void late_comer(call_function call, int late, MPI_Comm comm) {
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    unsigned char *b = malloc(USERS);
    MPI_Request request;
    for (int direction = 0; direction < 2; direction++) {
        if (me == late) {
            for (int i = 1; i < p; i++) {
                int peer = (late + i * (direction ? p - 1 : 1)) % p;
                fill(b, USERS, direction ? 0 : (unsigned)peer);
                if (direction == 0)
                    MPI_Ssend(b, USERS, MPI_BYTE, peer, TAG, comm);
                else
                    MPI_Recv(b, USERS, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
                CHECK_IN(direction == 0 || wrong(b, USERS, (unsigned)(100 + peer)) == 0, "from %d to %d", peer, late);
            }
            call(late, comm);
            continue;
        }
        fill(b, USERS, direction ? (unsigned)(100 + me) : 0);
        if (direction == 0)
            MPI_Irecv(b, USERS, MPI_BYTE, late, TAG, comm, &request);
        else
            MPI_Issend(b, USERS, MPI_BYTE, late, TAG, comm, &request);
        call(late, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_IN(wrong(b, USERS, (unsigned)(direction ? 100 + me : me)) == 0, "between %d and %d", late, me);
    }
    free(b);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "progress");
    const call_function calls[] = {bcast_from_late,           bcast_to_late,   allgather_with_late,
                                   short_allgather_with_late, moves_with_late, barrier_with_late,
                                   allreduces_with_late,      reductions_with_late};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int late = 0; late < test.ranks; late++) late_comer(calls[i], late, MPI_COMM_WORLD);
    for (int late = 0; late < test.ranks; late++) put_by_late(late, MPI_COMM_WORLD);
    return finish();
}
