/* Random programs in threads: each has a communicator of its own and a program of its own (random_program.h), with
 * attributes, error handlers and invalid calls of its own, at the same time as the others. The number for a seed is of
 * the programs of all threads.
 *
 *   fuzz_threads FIRST COUNT [makes]     seeds; with "makes" the threads also make and free communicators
 */
#include "random_program.h"
#include <pthread.h>

enum { THREADS = 3 };

static unsigned verbs = ATTRIBUTES | ERRORS;
static pthread_barrier_t together;

struct thread {
    pthread_t thread;
    MPI_Comm comm;
    uint64_t seed, saw;
};

static void *work(void *argument) {
    struct thread *t = argument;
    pthread_barrier_wait(&together);
    t->saw = program(t->seed, t->comm, verbs);
    return NULL;
}

/* The threads of a rank, the first of them the one that goes on afterwards; each rank's have the same communicators. */
static uint64_t threads(uint64_t seed) {
    struct thread all[THREADS];
    uint64_t sum = 0;
    for (int i = 0; i < THREADS; i++) {
        all[i].seed = seed * THREADS + (uint64_t)i;
        if (i == 1)
            MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &all[i].comm);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &all[i].comm);
    }
    for (int i = 1; i < THREADS; i++) pthread_create(&all[i].thread, NULL, work, &all[i]);
    work(&all[0]);
    for (int i = 1; i < THREADS; i++) pthread_join(all[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        sum = sum * 31 + all[i].saw;
        MPI_Comm_free(&all[i].comm);
    }
    return sum;
}

int main(int argc, char **argv) {
    start_threads(&argc, &argv, "fuzz_threads", MPI_THREAD_MULTIPLE);
    find_host();
    host.mute_handlers = host.mpich_4; /* With threads, MPICH 4.0 calls them with its lock held. */
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
    if (argc > 3 && !strcmp(argv[3], "makes")) verbs |= MAKES;
    make_handlers();
    pthread_barrier_init(&together, NULL, THREADS);
    for (uint64_t seed = first; seed < first + count; seed++) {
        uint64_t saw = threads(seed);
        if (test.rank == 0) printf("seed %llu: %016llx\n", (unsigned long long)seed, (unsigned long long)saw);
    }
    free_handlers();
    check_at_work();
    return finish();
}
