/* MPI_THREAD_MULTIPLE: threads make their first short reductions at the same time, each on communicators of its own.
 * The elements have gaps, so they are copied by messages of a rank to itself. Each thread gets what is its own.
 */
#include "rondo_test.h"
#include <pthread.h>

enum { THREADS = 3, COMMS = 2, CALLS = 8, PAIRS = 12 };

struct pair {
    double value;
    int at;
};

static MPI_Comm comms[THREADS][COMMS];

/* What a rank has as element i of a call of a thread: the largest one is another rank's for each i. */
static struct pair operand(int thread, int call, int rank, int i) {
    return (struct pair){thread * 1000 + call * 100 + (rank + i) % test.ranks, rank * THREADS + thread};
}

/* Reduces as a thread. The number of elements that are wrong. */
static void *reduce(void *of) {
    MPI_Comm *own = of;
    int thread = (int)((MPI_Comm(*)[COMMS])own - comms);
    size_t bad = 0;
    for (int k = 0; k < COMMS * CALLS; k++) {
        struct pair from[PAIRS], to[PAIRS];
        for (int i = 0; i < PAIRS; i++) from[i] = operand(thread, k, test.rank, i);
        bad += MPI_Allreduce(from, to, PAIRS, MPI_DOUBLE_INT, MPI_MAXLOC, own[k % COMMS]) != MPI_SUCCESS;
        for (int i = 0; i < PAIRS; i++) {
            int last = test.ranks - 1 - i % test.ranks;
            struct pair want = operand(thread, k, last, i);
            bad += to[i].value != want.value || to[i].at != want.at;
        }
    }
    return (void *)bad;
}

int main(int argc, char **argv) {
    start_threads(&argc, &argv, "red_threads", MPI_THREAD_MULTIPLE);
    for (int t = 0; t < THREADS; t++)
        for (int c = 0; c < COMMS; c++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t][c]);
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) CHECK(pthread_create(&threads[t], NULL, reduce, comms[t]) == 0);
    for (int t = 0; t < THREADS; t++) {
        void *bad;
        CHECK(pthread_join(threads[t], &bad) == 0);
        CHECK_IN(bad == NULL, "thread %d: %zu elements", t, (size_t)bad);
    }
    if (test.expect) CHECK(test.calls("allreduce", "gather") == THREADS * COMMS * CALLS);
    for (int t = 0; t < THREADS; t++)
        for (int c = 0; c < COMMS; c++) MPI_Comm_free(&comms[t][c]);
    return finish();
}
