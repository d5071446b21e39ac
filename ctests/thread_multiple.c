/* MPI_THREAD_MULTIPLE: three threads broadcast, gather and scatter at the same time, each on a communicator of its own.
 * Their first calls come at the same moment, so whatever is set up once is set up under contention.
 */
#include "rondo_test.h"
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 40 };

static pthread_barrier_t together;
static MPI_Comm comms[THREADS];

/* Rank r has `unit` bytes, or none, or twice as many; back and forth. The number of calls and blocks that went wrong. */
static size_t there_and_back(int unit, int root, unsigned seed, MPI_Comm comm) {
    int p = test.ranks, at = 0, counts[64], displs[64];
    for (int r = 0; r < p; r++) {
        counts[r] = (r + unit) % 3 * unit;
        displs[r] = at;
        at += counts[r];
    }
    int mine = counts[test.rank];
    size_t bad = 0;
    unsigned char *own = malloc((size_t)mine + 1), *all = calloc(1, (size_t)at + 1);
    fill(own, (size_t)mine, seed + (unsigned)test.rank);
    bad += MPI_Gatherv(own, mine, MPI_BYTE, all, counts, displs, MPI_BYTE, root, comm) != MPI_SUCCESS;
    for (int r = 0; r < p && test.rank == root; r++)
        bad += wrong(all + displs[r], (size_t)counts[r], seed + (unsigned)r) != 0;
    memset(own, 0, (size_t)mine);
    bad += MPI_Scatterv(all, counts, displs, MPI_BYTE, own, mine, MPI_BYTE, root, comm) != MPI_SUCCESS;
    bad += wrong(own, (size_t)mine, seed + (unsigned)test.rank) != 0;
    free(own);
    free(all);
    return bad;
}

static void *work(void *argument) {
    long id = (long)argument;
    size_t bad = 0;
    enum { MOST = 40000 };
    unsigned char *b = malloc(MOST);
    pthread_barrier_wait(&together);
    for (int i = 0; i < ROUNDS; i++) {
        size_t bytes = (size_t)(1 + (i * 997 + id * 131) % MOST);
        int root = (int)((i + id) % test.ranks);
        unsigned seed = (unsigned)(id * 1000 + i);
        fill(b, bytes, test.rank == root ? seed : seed + 500);
        bad += MPI_Bcast(b, (int)bytes, MPI_BYTE, root, comms[id]) != MPI_SUCCESS;
        bad += wrong(b, bytes, seed);
        bad += there_and_back((int)bytes / 50, root, seed, comms[id]);
    }
    free(b);
    return (void *)(long)bad;
}

int main(int argc, char **argv) {
    start_threads(&argc, &argv, "thread_multiple", MPI_THREAD_MULTIPLE);
    for (int round = 0; round < 3; round++) {
        pthread_t thread[THREADS];
        pthread_barrier_init(&together, NULL, THREADS);
        for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        const struct counts before[] = {counts_now(), counts_of("gatherv"), counts_of("scatterv")};
        for (long i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, work, (void *)i);
        for (int i = 0; i < THREADS; i++) {
            void *bad;
            pthread_join(thread[i], &bad);
            CHECK_IN(bad == NULL, "thread %d, %ld wrong", i, (long)bad);
        }
        int takes = test.ranks >= 3;
        for (int i = 0; i < 3; i++)
            check_counts(before[i], takes ? THREADS * ROUNDS : 0, takes ? 0 : THREADS * ROUNDS);
        for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
        pthread_barrier_destroy(&together);
    }
    return finish();
}
