/* MPI_THREAD_MULTIPLE: the error handlers that the program set are the ones that it finds, whatever Rondo does
 * meanwhile to see errors of its own.
 *
 *   handler_races self    two threads gather on two communicators what is sent and received by types of different sizes
 *                         (which Rondo takes to a form that Open MPI counts right, if the call is the host's); the
 *                         handler of MPI_COMM_SELF is the program's afterwards, and is called
 *   handler_races first   one thread sets a communicator's handler, sooner or later, while another makes the first call
 *                         there
 *   handler_races alone   no threads: a handler that was set before the first call
 *   handler_races talks   a handler that makes the first call on its communicator, while the host may hold locks of it
 */
#include "seven.h"
#include <pthread.h>

enum { COMMS = 200, ROUNDS = 2000, INTS = 2000 };

static int called[2];

static void first_handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    called[0]++;
}

static void second_handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    called[1]++;
}

static MPI_Errhandler handlers[2];

/* Is this the communicator's handler, and is it called? */
static void check_handler(MPI_Comm comm, int which, const char *when) {
    MPI_Errhandler is;
    int before = called[which];
    MPI_Comm_get_errhandler(comm, &is);
    CHECK_IN(is == handlers[which], "%s", when);
    if (is == handlers[which]) {
        MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
        CHECK_IN(called[which] == before + 1, "called %d times, %s", called[which] - before, when);
    }
    MPI_Errhandler_free(&is);
}

static pthread_barrier_t together;

/* Sends pairs of ints and receives ints, each time at the same moment as the other thread. */
static void *gather_pairs(void *argument) {
    MPI_Comm comm = *(MPI_Comm *)argument;
    int *send = malloc(sizeof *send * INTS), *recv = malloc(sizeof *recv * INTS * (size_t)test.ranks);
    int counts[64], displs[64];
    MPI_Datatype pair;
    size_t bad = 0;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < INTS; i++) send[i] = INTS * test.rank + i;
    for (int r = 0; r < test.ranks; r++) counts[r] = INTS, displs[r] = INTS * r;
    for (int i = 0; i < ROUNDS; i++) {
        memset(recv, 0, sizeof *recv * INTS * (size_t)test.ranks);
        pthread_barrier_wait(&together);
        bad += MPI_Allgatherv(send, INTS / 2, pair, recv, counts, displs, MPI_INT, comm) != MPI_SUCCESS;
        for (int k = 0; k < INTS * test.ranks; k++) bad += recv[k] != k;
    }
    MPI_Type_free(&pair);
    free(send);
    free(recv);
    return (void *)bad;
}

static void self(void) {
    pthread_barrier_init(&together, NULL, 2);
    for (int round = 0; round < 5; round++) {
        pthread_t thread[2];
        MPI_Comm comms[2];
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handlers[round % 2]);
        struct counts before = counts_of("allgatherv");
        for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, gather_pairs, &comms[i]);
        for (int i = 0; i < 2; i++) {
            void *bad;
            pthread_join(thread[i], &bad);
            CHECK(bad == NULL);
            MPI_Comm_free(&comms[i]);
        }
        check_counts(before, 2 * ROUNDS, 0);
        check_handler(MPI_COMM_SELF, round % 2, "after calls of two threads");
        if (round % 2) all_seven(300, 0, MPI_COMM_WORLD);
    }
    pthread_barrier_destroy(&together);
}

/* Sets the second handler some time after the other thread began its call: on each communicator at another moment of
 * it. */
static void *change(void *argument) {
    static unsigned delay;
    MPI_Comm comm = *(MPI_Comm *)argument;
    pthread_barrier_wait(&together);
    for (double until = MPI_Wtime() + 1e-5 * (delay++ % 100); MPI_Wtime() < until;) continue;
    MPI_Comm_set_errhandler(comm, handlers[1]);
    return NULL;
}

static void first(void) {
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm comm;
        pthread_t thread;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, handlers[0]);
        pthread_create(&thread, NULL, change, &comm);
        pthread_barrier_wait(&together);
        bcast_bytes(20000, i % test.ranks, comm);
        pthread_join(thread, NULL);
        check_handler(comm, 1, "set last");
        if (i % 10 == 0) all_seven(300, i % test.ranks, comm);
        check_handler(comm, 1, "after more calls");
        MPI_Comm_free(&comm);
    }
    pthread_barrier_destroy(&together);
}

static void alone(void) {
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, handlers[i % 2]);
        bcast_bytes(20000, i % test.ranks, comm);
        check_handler(comm, i % 2, "set before the first call");
        MPI_Comm_set_errhandler(comm, handlers[!(i % 2)]);
        all_seven(300, i % test.ranks, comm);
        check_handler(comm, !(i % 2), "set after the first call");
        MPI_Comm_free(&comm);
    }
}

/* A root that no communicator has, on all ranks alike; the handler makes the first calls that Rondo could take. */
static void talking_handler(MPI_Comm *comm, int *code, ...) {
    (void)code;
    called[0]++;
    bcast_bytes(20000, 0, *comm);
    all_seven(300, 1, *comm);
}

static void talks(void) {
    MPI_Errhandler talking;
    MPI_Comm_create_errhandler(talking_handler, &talking);
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm;
        int some = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, talking);
        called[0] = 0;
        if (i % 2)
            MPI_Scatterv(NULL, NULL, NULL, MPI_INT, &some, 1, MPI_INT, -5, comm);
        else
            MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
        CHECK(called[0] == 1);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
        all_seven(300, 0, comm);
        MPI_Comm_free(&comm);
    }
    MPI_Errhandler_free(&talking);
}

int main(int argc, char **argv) {
    start_threads(&argc, &argv, "handler_races", MPI_THREAD_MULTIPLE);
    const char *part = argc > 1 ? argv[1] : "alone";
    MPI_Comm_create_errhandler(first_handler, &handlers[0]);
    MPI_Comm_create_errhandler(second_handler, &handlers[1]);
    if (!strcmp(part, "self"))
        self();
    else if (!strcmp(part, "first"))
        first();
    else if (!strcmp(part, "talks"))
        talks();
    else
        alone();
    MPI_Errhandler_free(&handlers[0]);
    MPI_Errhandler_free(&handlers[1]);
    return finish();
}
