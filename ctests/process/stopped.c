/* A rank that the system stops for a while, again and again, as it does on a busy node: everybody waits, and all goes
 * on. Rank 0 stops the last rank by signals, so all have to be on one machine.
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

int main(int argc, char **argv) {
    start_threads(&argc, &argv, "stopped", MPI_THREAD_FUNNELED);
    int own = (int)getpid(), all[64];
    MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
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
        if (calls % 10 == 0) {
            go_on = !over;
            MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
    }
    if (test.rank == 0) pthread_join(thread, NULL);
    CHECK_IN(calls > TIMES, "%ld calls only", calls);
    return finish();
}
