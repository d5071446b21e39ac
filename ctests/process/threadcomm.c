/* A thread communicator of MPICH, whose ranks are threads: two of each process. All threads call collectives on it at
 * the same time, while it is active, several times, and again after it was started anew. Their data arrive, and Rondo
 * leaves them to the host.
 */
#include "rondo_test.h"
#include <pthread.h>

enum { THREADS = 2, ROUNDS = 3, BYTES = 5000 };

static MPI_Comm comm;
static int bad[THREADS];

static void *run(void *argument) {
    int *wrongs = argument, me, p;
    unsigned char own[BYTES], *all;
    if (MPIX_Threadcomm_start(comm) != MPI_SUCCESS) {
        ++*wrongs;
        return NULL;
    }
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    *wrongs += p != THREADS * test.ranks;
    all = malloc((size_t)p * BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        int sum = -1;
        /* The host takes ranks beyond the number of processes for invalid roots. */
        fill(own, BYTES, me == 0 ? 11 : 12);
        *wrongs += MPI_Bcast(own, BYTES, MPI_BYTE, 0, comm) != MPI_SUCCESS;
        *wrongs += wrong(own, BYTES, 11) != 0;
        *wrongs += MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS;
        *wrongs += sum != p * (p - 1) / 2;
        fill(own, BYTES, 20 + (unsigned)me);
        *wrongs += MPI_Allgather(own, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, comm) != MPI_SUCCESS;
        for (int r = 0; r < p; r++) *wrongs += wrong(all + r * BYTES, BYTES, 20 + (unsigned)r) != 0;
        *wrongs += MPI_Barrier(comm) != MPI_SUCCESS;
    }
    free(all);
    *wrongs += MPIX_Threadcomm_finish(comm) != MPI_SUCCESS;
    return NULL;
}

int main(int argc, char **argv) {
    start_threads(&argc, &argv, "threadcomm", MPI_THREAD_MULTIPLE);
    CHECK(MPIX_Threadcomm_init(MPI_COMM_WORLD, THREADS, &comm) == MPI_SUCCESS);
    for (int time = 0; time < 2; time++) {
        pthread_t other;
        pthread_create(&other, NULL, run, &bad[1]);
        run(&bad[0]);
        pthread_join(other, NULL);
        CHECK_IN(bad[0] == 0 && bad[1] == 0, "%d and %d wrong", bad[0], bad[1]);
    }
    CHECK(MPIX_Threadcomm_free(&comm) == MPI_SUCCESS);
    bcast_bytes(3000, 0, MPI_COMM_WORLD);
    return finish();
}
