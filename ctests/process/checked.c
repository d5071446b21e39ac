/* A job for `rondo check` and for files of rules: twenty broadcasts, and what the argument says besides.
 *
 * "" (nothing), "silent" (no broadcasts), "fail" (ends with status 3), "early" (the same, before MPI_Init), "hang"
 * (rank 1 never comes to its end), "limited" (files may not grow, and neither may shared memory), "nonblocking" (the
 * broadcasts are), "freed" (many broadcasts, on a communicator that is freed), "sessions" (all by sessions, without
 * MPI_Init; the broadcasts are nonblocking if "nonblocking" comes before it).
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int run(int *argc, char ***argv);

static char buffer[100000];

static void broadcast(int nonblocking, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (nonblocking)
        MPI_Ibcast(buffer, sizeof buffer, MPI_BYTE, 0, comm, &request);
    else
        MPI_Bcast(buffer, sizeof buffer, MPI_BYTE, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
static int with_sessions(int nonblocking) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "checked", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    for (int i = 0; i < 20; i++) broadcast(nonblocking, comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
#endif

int run(int *argc, char ***argv) {
    const char *how = *argc > 1 ? (*argv)[*argc - 1] : "";
#if MPI_VERSION >= 4
    if (!strcmp(how, "sessions")) return with_sessions(*argc > 2);
#endif
    if (!strcmp(how, "limited")) {
        struct rlimit limit = {64 << 10, 64 << 10};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (!strcmp(how, "early")) exit(3);
    MPI_Init(argc, argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm comm = MPI_COMM_WORLD;
    int freed = !strcmp(how, "freed"), calls = freed ? 400 : 20;
    if (freed) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < calls && strcmp(how, "silent"); i++) broadcast(!strcmp(how, "nonblocking"), comm);
    if (freed) MPI_Comm_free(&comm);
    if (!strcmp(how, "hang") && rank == 1) pause();
    MPI_Finalize();
    return strcmp(how, "fail") ? 0 : 3;
}

int main(int argc, char **argv) { return run(&argc, &argv); }
