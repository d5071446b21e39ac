/* A job that ends before its time, or nearly so, after ten broadcasts. Its statistics are looked at by the test that
 * starts it.
 *
 * Argument: "abort" (rank 0 calls MPI_Abort), "other" (rank 1 does), "launcher" (all wait), "term" (rank 0 gets
 * SIGTERM), "closed" (the same, and before that it closed all files that it did not know of, and has one of its own in
 * the place of each; what is in these then is in own-files), "handler" (it has a handler by then), "early" (it has had
 * one since before MPI_Init), "child" (a copy of rank 0 gets it, and the job ends well).
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void handler(int number) {
    static const char text[] = "HANDLED\n";
    (void)number;
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(4);
    sleep(2); /* a launcher that sees the end first drops what was said */
    _exit(3);
}

/* A copy of this process, which has no thread but the one that made it, ends by SIGTERM. */
static int child_ends(void) {
    pid_t child = fork();
    if (child == 0) {
        raise(SIGTERM);
        _exit(5);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
}

enum { FILES = 256 };

static int is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

/* As a program does that becomes a daemon, which closes what it knows nothing of. Those of before its first collective
 * stay, because a launcher ends a process that closes them. */
static void close_all(const int *known) {
    for (int fd = 0; fd < FILES; fd++)
        if (!known[fd]) close(fd);
    while (open("own-files", O_RDWR | O_CREAT | O_APPEND, 0600) < FILES - 1) continue;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "early")) signal(SIGTERM, handler);
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int known[FILES];
    for (int fd = 0; fd < FILES; fd++) known[fd] = is_open(fd);
    static char buffer[100000];
    for (int i = 0; i < 10; i++) MPI_Bcast(buffer, sizeof buffer, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (!strcmp(how, "other")) {
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    } else if (rank == 0 && strcmp(how, "launcher")) {
        if (!strcmp(how, "handler")) signal(SIGTERM, handler);
        if (!strcmp(how, "closed")) close_all(known);
        if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(how, "child")) puts(child_ends() ? "CHILD ENDED" : "CHILD DID NOT END");
        else kill(getpid(), SIGTERM);
    }
    if (strcmp(how, "child")) {
        for (int i = 0; i < 60; i++) sleep(1); /* a signal ends one of these */
        return 6;
    }
    MPI_Finalize();
    return 0;
}
