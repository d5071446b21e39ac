/* A job for `rondo check` and for files of rules: twenty broadcasts, and what the argument says besides.
 *
 * "" (nothing), "silent" (no broadcasts), "fail" (ends with status 3), "early" (the same, before it calls any
 * collective), "hang" (rank 1 never comes to its end), "limited" (files may not grow, and neither may shared memory),
 * "apart" (the ranks but the last one, which goes on by itself, broadcast among themselves, and then work for a while),
 * "freed" (many broadcasts, on a communicator that is freed).
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
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!strcmp(how, "early")) exit(3);
    MPI_Comm comm = MPI_COMM_WORLD;
    int apart = !strcmp(how, "apart");
    if (apart) MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1, 0, &comm);
    int freed = !strcmp(how, "freed"), calls = freed ? 400 : 20;
    if (freed) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!strcmp(how, "limited")) {
        struct rlimit limit = {64 << 10, 64 << 10};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    static char buffer[100000];
    for (int i = 0; i < calls && strcmp(how, "silent"); i++)
        MPI_Bcast(buffer, sizeof buffer, MPI_BYTE, 0, comm);
    if (freed) MPI_Comm_free(&comm);
    if (apart) sleep(15);
    if (!strcmp(how, "hang") && rank == 1) pause();
    MPI_Finalize();
    return strcmp(how, "fail") ? 0 : 3;
}

int main(int argc, char **argv) { return run(&argc, &argv); }
