/* MPI_THREAD_MULTIPLE: the first collectives on two communicators come at the same moment, each in a thread of its own.
 * With room for one (RONDO_MAX_COMMS=1), at most one of them has it: sums on the other one are the host's.
 */
#include "rondo_test.h"
#include <pthread.h>

enum { ROUNDS = 200, N = 4000 };

static pthread_barrier_t together;

static void *meet(void *comm) {
    pthread_barrier_wait(&together);
    MPI_Barrier(*(MPI_Comm *)comm);
    return NULL;
}

/* Is a sum on this communicator, whose bits depend on its order, Rondo's? */
static int has_room(MPI_Comm comm) {
    static double own[N], got[N];
    for (int i = 0; i < N; i++) own[i] = 1.0 / (1 + i + test.rank);
    unsigned long long before = test.expect ? test.calls("allreduce", NULL) : 0;
    MPI_Allreduce(own, got, N, MPI_DOUBLE, MPI_SUM, comm);
    return test.expect && test.calls("allreduce", NULL) > before;
}

int main(int argc, char **argv) {
    start_threads(&argc, &argv, "racing", MPI_THREAD_MULTIPLE);
    pthread_barrier_init(&together, NULL, 2);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comms[2];
        for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        pthread_t other;
        pthread_create(&other, NULL, meet, &comms[1]);
        meet(&comms[0]);
        pthread_join(other, NULL);
        int rooms = has_room(comms[0]) + has_room(comms[1]);
        CHECK_IN(rooms <= 1, "round %d", round);
        for (int i = 0; i < 2; i++) MPI_Comm_free(&comms[i]);
    }
    /* The place of a communicator that was refused is there for the next ones. */
    MPI_Comm last;
    MPI_Comm_dup(MPI_COMM_WORLD, &last);
    MPI_Barrier(last);
    CHECK(has_room(last) || !test.expect);
    MPI_Comm_free(&last);
    return finish();
}
