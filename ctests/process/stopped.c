/* A rank that the system stops for a while, again and again, as it does on a busy node: everybody waits, and all goes
 * on. Rank 0 stops the last rank by signals, so all have to be on one machine.
 *
 *   stopped        as above
 *   stopped all    the whole job is stopped for longer than RONDO_TIMEOUT_S, as by a batch system, while all but the
 *                  last rank wait for it
 *   stopped late   nobody is stopped, but the last rank comes late to a broadcast: RONDO_TIMEOUT_S ends the job, also
 *                  where ranks are about to agree on what they measured, as in the second long one
 */
#include "agv.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { TIMES = 4, STOP_US = 400000, RUN_US = 100000, BYTES = 300000 };

static pid_t victim;
static volatile int over;

static void *stop(void *unused) {
    (void)unused;
    for (int i = 0; i < TIMES; i++) {
        usleep(RUN_US);
        kill(victim, SIGSTOP);
        usleep(STOP_US);
        kill(victim, SIGCONT);
    }
    over = 1;
    return NULL;
}

static int whole_job(const int *all) {
    enum { STOP_S = 20 };
    char pids[64 * 12] = "", line[3 * sizeof pids];
    for (int i = 0; i < test.ranks; i++) sprintf(pids + strlen(pids), " %d", all[i]);
    sprintf(line, "(sleep 0.3; kill -STOP%s; sleep %d; kill -CONT%s) &", pids, STOP_S, pids);
    bcast_bytes(BYTES, 0, MPI_COMM_WORLD);
    if (test.rank == 0) CHECK(system(line) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    while (test.rank == test.ranks - 1 && MPI_Wtime() - start < STOP_S + 1) usleep(10000);
    bcast_bytes(BYTES, test.ranks - 1, MPI_COMM_WORLD);
    return finish();
}

static int late(void) {
    bcast_bytes(BYTES, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test.rank == test.ranks - 1) sleep(10);
    bcast_bytes(BYTES, test.ranks - 1, MPI_COMM_WORLD);
    return finish();
}

int main(int argc, char **argv) {
    start_threads(&argc, &argv, "stopped", MPI_THREAD_FUNNELED);
    int own = (int)getpid(), all[64];
    MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (argc > 1 && !strcmp(argv[1], "all")) return whole_job(all);
    if (argc > 1) return late();
    pthread_t thread;
    if (test.rank == 0) {
        victim = all[test.ranks - 1];
        pthread_create(&thread, NULL, stop, NULL);
    }
    long calls = 0;
    for (int go_on = 1; go_on; calls++) {
        bcast_bytes(BYTES, (int)(calls % test.ranks), MPI_COMM_WORLD);
        bcast_bytes(100, (int)(calls % test.ranks), MPI_COMM_WORLD);
        allgather_bytes(20000, MPI_COMM_WORLD);
        if (calls % 10 == 9) {
            go_on = !over;
            MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
    }
    if (test.rank == 0) pthread_join(thread, NULL);
    CHECK_IN(calls > TIMES, "%ld calls only", calls);
    return finish();
}
