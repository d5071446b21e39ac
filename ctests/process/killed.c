/* A rank that ends before, in or after a collective: the job must end, whatever the other ranks wait in.
 *
 * Arguments: how it ends ("kill": by a signal that nobody can catch, amidst of a collective; "before": in the same way,
 * when the others are in their first; "after": when they are in MPI_Barrier behind the last; "abort": by MPI_Abort,
 * while the others are in the next one), which rank, negative ones from the end, and after how many milliseconds. Long
 * broadcasts and allgathers go on all the time.
 */
#include "agv.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static void end(int signal) {
    (void)signal;
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "killed");
    if (argc < 4) return 2;
    int whom = (atoi(argv[2]) + test.ranks) % test.ranks, aborts = !strcmp(argv[1], "abort");
    long after = atol(argv[3]);
    enum { BYTES = 6 << 20 };
    unsigned char *b = malloc(BYTES);
    fill(b, BYTES, 1);
    const char *how = argv[1];
    if (test.rank == whom && !strcmp(how, "before")) {
        usleep((unsigned)after * 1000);
        end(0);
    }
    bcast_bytes(100000, 0, MPI_COMM_WORLD);
    allgather_bytes(1000, MPI_COMM_WORLD);
    if (!strcmp(how, "after")) {
        if (test.rank == whom) end(0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double start = MPI_Wtime();
    if (test.rank == whom && !aborts) {
        struct itimerval timer = {.it_value = {after / 1000, after % 1000 * 1000}};
        signal(SIGALRM, end);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    /* Not for ever, should the timer not do its duty. */
    for (int i = 0; i < 3000; i++) {
        if (test.rank == whom && aborts && (MPI_Wtime() - start) * 1000 > after) MPI_Abort(MPI_COMM_WORLD, 5);
        MPI_Bcast(b, BYTES, MPI_BYTE, i % test.ranks, MPI_COMM_WORLD);
        if (i % 4 == 0) allgather_bytes(100000, MPI_COMM_WORLD);
    }
    return finish();
}
