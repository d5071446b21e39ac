/* MPI_THREAD_MULTIPLE: three threads make calls of all collectives at the same time, each on a communicator of its own.
 * Their first calls come at the same moment, so whatever is set up once is set up under contention.
 */
#include "rondo_test.h"
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 40 };

static pthread_barrier_t together;
static MPI_Comm comms[THREADS];

/* Rank r has `unit` bytes, or none, or twice as many. All bytes together. */
static int lay_out(int unit, int *counts, int *displs) {
    int at = 0;
    for (int r = 0; r < test.ranks; r++) {
        counts[r] = (r + unit) % 3 * unit;
        displs[r] = at;
        at += counts[r];
    }
    return at;
}

/* Such blocks, back and forth. The number of calls and blocks that went wrong. */
static size_t there_and_back(int unit, int root, unsigned seed, MPI_Comm comm) {
    int p = test.ranks, counts[64] = {0}, displs[64], at = lay_out(unit, counts, displs);
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

/* The number of calls and blocks that went wrong when every rank got to have `unit` bytes of each, or none, or twice as
 * many, and then `unit` of each. */
static size_t from_all(int unit, unsigned seed, MPI_Comm comm) {
    int p = test.ranks, counts[64] = {0}, displs[64], at = lay_out(unit, counts, displs);
    size_t bad = 0, mine = (size_t)counts[test.rank];
    unsigned char *own = malloc(mine + 1), *all = calloc(1, (size_t)at + (size_t)(p * unit) + 1);
    fill(own, mine, seed + (unsigned)test.rank);
    bad += MPI_Allgatherv(own, (int)mine, MPI_BYTE, all, counts, displs, MPI_BYTE, comm) != MPI_SUCCESS;
    for (int r = 0; r < p; r++) bad += wrong(all + displs[r], (size_t)counts[r], seed + (unsigned)r) != 0;
    fill(all + test.rank * unit, (size_t)unit, seed + (unsigned)test.rank);
    bad += MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, all, unit, MPI_BYTE, comm) != MPI_SUCCESS;
    for (int r = 0; r < p; r++) bad += wrong(all + r * unit, (size_t)unit, seed + (unsigned)r) != 0;
    free(own);
    free(all);
    return bad;
}

/* The same of blocks of equal length, back and forth. */
static size_t regular(int unit, int root, unsigned seed, MPI_Comm comm) {
    int p = test.ranks;
    size_t bad = 0, each = (size_t)unit;
    unsigned char *own = malloc(each), *all = calloc((size_t)p, each);
    fill(own, each, seed + (unsigned)test.rank);
    bad += MPI_Gather(own, unit, MPI_BYTE, all, unit, MPI_BYTE, root, comm) != MPI_SUCCESS;
    for (int r = 0; r < p && test.rank == root; r++)
        bad += wrong(all + (size_t)r * each, each, seed + (unsigned)r) != 0;
    memset(own, 0, each);
    bad += MPI_Scatter(all, unit, MPI_BYTE, own, unit, MPI_BYTE, root, comm) != MPI_SUCCESS;
    bad += wrong(own, each, seed + (unsigned)test.rank) != 0;
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
        bad += from_all((int)bytes / 40 + 1, seed, comms[id]);
        bad += regular((int)bytes / 60 + 1, root, seed, comms[id]);
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
        const struct counts before[] = {counts_of("bcast"),   counts_of("allgatherv"), counts_of("allgather"),
                                        counts_of("gatherv"), counts_of("scatterv"),   counts_of("gather"),
                                        counts_of("scatter")};
        for (long i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, work, (void *)i);
        for (int i = 0; i < THREADS; i++) {
            void *bad;
            pthread_join(thread[i], &bad);
            CHECK_IN(bad == NULL, "thread %d, %ld wrong", i, (long)bad);
        }
        int takes = test.ranks >= 3;
        for (int i = 0; i < 7; i++)
            check_counts(before[i], takes ? THREADS * ROUNDS : 0, takes ? 0 : THREADS * ROUNDS);
        for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
        pthread_barrier_destroy(&together);
    }
    return finish();
}
