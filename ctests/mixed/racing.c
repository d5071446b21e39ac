/* MPI_THREAD_MULTIPLE: the first collectives on two communicators come at the same moment, each in a thread of its own.
 * Both have a number, and another one: sums on both at the same time are Rondo's, and right.
 */
#include "rondo_test.h"
#include <pthread.h>

enum { ROUNDS = 200, N = 4000 };

static pthread_barrier_t together;

/* A barrier, and a sum whose vector is another one on each communicator. */
struct part {
    MPI_Comm comm;
    int which;
};

static void *meet(void *argument) {
    struct part *part = argument;
    double own[N], got[N];
    pthread_barrier_wait(&together);
    MPI_Barrier(part->comm);
    for (int i = 0; i < N; i++) own[i] = test.rank + part->which * i;
    MPI_Allreduce(own, got, N, MPI_DOUBLE, MPI_SUM, part->comm);
    double ranks = test.ranks * (test.ranks - 1) / 2;
    for (int i = 0; i < N; i++)
        CHECK_IN(got[i] == ranks + (double)test.ranks * part->which * i, "communicator %d: %g", part->which, got[i]);
    return NULL;
}

int main(int argc, char **argv) {
    start_threads(&argc, &argv, "racing", MPI_THREAD_MULTIPLE);
    pthread_barrier_init(&together, NULL, 2);
    for (int round = 0; round < ROUNDS; round++) {
        struct part parts[2];
        struct counts before = counts_of("allreduce");
        for (int i = 0; i < 2; i++) parts[i].which = i, MPI_Comm_dup(MPI_COMM_WORLD, &parts[i].comm);
        pthread_t other;
        pthread_create(&other, NULL, meet, &parts[1]);
        meet(&parts[0]);
        pthread_join(other, NULL);
        check_counts(before, 2, 0);
        for (int i = 0; i < 2; i++) MPI_Comm_free(&parts[i].comm);
    }
    return finish();
}
