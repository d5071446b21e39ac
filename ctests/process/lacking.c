/* A rank without the library: the others wait for its part in their handshake, and it waits for them in the host's
 * broadcast. After a while a waiting rank says so, and with RONDO_TIMEOUT_S it ends the job.
 *
 *   lacking SECONDS [exit]   the rank without the library ends itself after so many seconds, lest the job stays. Unless
 *                            that is meant, it says SILENT, for by then somebody should have ended the job.
 */
#include "rondo_test.h"
#include <signal.h>
#include <unistd.h>

static int meant;

static void leave(int signal) {
    (void)signal;
    static const char silent[] = "SILENT\n";
    if (!meant && write(1, silent, sizeof silent - 1) < 0) _exit(4);
    _exit(3);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "lacking");
    meant = argc > 2 && !strcmp(argv[2], "exit");
    if (!test.expect) {
        signal(SIGALRM, leave);
        alarm(argc > 1 ? (unsigned)atoi(argv[1]) : 15);
    }
    static unsigned char b[30000];
    fill(b, sizeof b, test.rank == 0 ? 1 : 2);
    MPI_Bcast(b, sizeof b, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(wrong(b, sizeof b, 1) == 0);
    return finish();
}
