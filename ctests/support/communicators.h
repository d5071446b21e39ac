/* Communicators of many kinds, on which a program uses its collectives, and a receive that must not notice them.
 */
#ifndef COMMUNICATORS_H
#define COMMUNICATORS_H

#include "rondo_test.h"

/* Makes collective calls on a communicator. */
typedef void (*use_function)(MPI_Comm comm);

/* Makes call number n, or a few of them. */
typedef void (*call_function)(int n, MPI_Comm comm);

static MAYBE_UNUSED void on_split(use_function use, int color, int key) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    if (comm == MPI_COMM_NULL) return;
    use(comm);
    MPI_Comm_free(&comm);
}

/* Every second rank; all in reverse order; all but one; one, two and three ranks. */
static MAYBE_UNUSED void on_parts(use_function use) {
    on_split(use, test.rank % 2, test.rank);
    on_split(use, 0, -test.rank);
    on_split(use, test.rank == test.ranks - 1 ? MPI_UNDEFINED : 3, 0);
    for (int size = 1; size <= 3; size++) on_split(use, test.rank / size, -test.rank);
}

/* A duplicate, and one of it that outlives it. */
static MAYBE_UNUSED void on_dups(use_function use) {
    MPI_Comm first, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    use(first);
    MPI_Comm_dup(first, &second);
    MPI_Comm_free(&first);
    use(second);
    MPI_Comm_free(&second);
}

/* Twenty at a time, with ranks in different orders; they take turns, and are freed in another order. */
static MAYBE_UNUSED void on_many(call_function call) {
    enum { MANY = 20 };
    MPI_Comm comm[MANY];
    for (int i = 0; i < MANY; i++) MPI_Comm_split(MPI_COMM_WORLD, 0, (test.rank + i) % test.ranks, &comm[i]);
    for (int i = 0; i < 2 * MANY; i++) call(i, comm[i * 3 % MANY]);
    for (int i = 0; i < MANY; i += 2) MPI_Comm_free(&comm[i]);
    for (int i = 1; i < MANY; i += 2) call(70 + i, comm[i]);
    for (int i = 1; i < MANY; i += 2) MPI_Comm_free(&comm[i]);
}

/* A receive of one int from any source with any tag, posted before the calls, matches the user's own message, and
 * nothing before. */
static MAYBE_UNUSED void wildcard(call_function call, MPI_Comm comm) {
    int me, p, value = -1, done = 0, found = 0, mine;
    MPI_Request request, sent;
    MPI_Status status;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    mine = 1000 + me;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    for (int i = 0; i < 15; i++) {
        call(i, comm);
        MPI_Test(&request, &done, &status);
        CHECK_IN(!done, "after round %d", i);
        if (done) return;
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
    CHECK(!found);
    /* Until here nobody has sent anything. */
    MPI_Barrier(comm);
    MPI_Isend(&mine, 1, MPI_INT, (me + 1) % p, 7, comm, &sent);
    call(14, comm);
    MPI_Wait(&request, &status);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    CHECK(status.MPI_SOURCE == (me + p - 1) % p);
    CHECK(status.MPI_TAG == 7);
    CHECK(value == 1000 + (me + p - 1) % p);
}

#endif
