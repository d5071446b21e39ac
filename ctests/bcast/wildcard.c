/* A receive from any source with any tag, posted on the communicator before the broadcasts, never sees a message of
 * theirs: neither does a probe. It matches the user's own message afterwards.
 */
#include "rondo_test.h"

enum { ROUNDS = 60 };

static void before_and_after(MPI_Comm comm) {
    int me, p, value = -1, done = 0, found = 0, mine;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    mine = 1000 + me;

    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    for (int i = 0; i < ROUNDS; i++) {
        bcast_bytes((size_t)1 << (i % 18), i % p, comm);
        bcast_bytes(sizeof(int), (i + 1) % p, comm); /* as long as the receive's buffer */
        MPI_Test(&request, &done, &status);
        CHECK_IN(!done, "after %d broadcasts", i + 1);
        if (done) return;
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
    CHECK(!found);
    /* Until here nobody has sent anything. */
    MPI_Barrier(comm);

    MPI_Request sent;
    MPI_Isend(&mine, 1, MPI_INT, (me + 1) % p, 7, comm, &sent);
    bcast_bytes(50000, 0, comm);
    MPI_Wait(&request, &status);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    CHECK(status.MPI_SOURCE == (me + p - 1) % p);
    CHECK(status.MPI_TAG == 7);
    CHECK(value == 1000 + (me + p - 1) % p);
}

/* The first broadcast on a communicator is the one with the most going on behind the user's back. */
static void fresh(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before_and_after(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm);
    before_and_after(comm);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "wildcard");
    fresh();
    before_and_after(MPI_COMM_WORLD);
    return finish();
}
