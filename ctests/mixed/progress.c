/* Messages of the program's own move on while a rank waits in a collective.
 *
 * Every rank but one has a receive pending and enters the collective. The one that is late first sends to each of them
 * in MPI_Ssend, which ends only when the receiver has matched the message: by progress that the receiver makes while it
 * waits, wherever it does. Then the other way round: the late one takes a megabyte from each, which those that wait
 * have to feed. Every rank is late once, for each collective that makes all others wait for it, or where a long
 * message fills what memory there is between ranks.
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
    const call_function calls[] = {bcast_from_late, bcast_to_late, allgather_with_late, short_allgather_with_late,
                                   moves_with_late};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int late = 0; late < test.ranks; late++) late_comer(calls[i], late, MPI_COMM_WORLD);
    return finish();
}
