/* A job for `rondo check`: twenty broadcasts, and what the argument says besides.
 *
 * "" (nothing), "silent" (no broadcasts), "fail" (ends with status 3), "hang" (rank 1 never comes to its end),
 * "limited" (files may not grow, and neither may shared memory).
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int run(int *argc, char ***argv);

int run(int *argc, char ***argv) {
    const char *how = *argc > 1 ? (*argv)[*argc - 1] : "";
    MPI_Init(argc, argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(how, "limited")) {
        struct rlimit limit = {64 << 10, 64 << 10};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    static char buffer[100000];
    for (int i = 0; i < 20 && strcmp(how, "silent"); i++)
        MPI_Bcast(buffer, sizeof buffer, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (!strcmp(how, "hang") && rank == 1) pause();
    MPI_Finalize();
    return strcmp(how, "fail") ? 0 : 3;
}

int main(int argc, char **argv) { return run(&argc, &argv); }
