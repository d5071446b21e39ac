/* Error handlers of the program's that do what they may, while the failing call is one that Rondo times, or watches in
 * another way: all ranks pass the same invalid argument, so that all of them come to their handlers.
 *
 *   jump_free free    the handler frees the communicator of the call, by the program's own handle
 *   jump_free other   it broadcasts and gathers on another communicator
 *   jump_free jump    it leaves by longjmp, and the program goes on with the same communicator
 */
#include "seven.h"
#include <setjmp.h>

enum { COMMS = 120, BYTES = 30000, FAULTS = 8, MOST = 24 };

static MPI_Comm mine, other;
static const char *part;
static jmp_buf back;
static int handled;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
    if (!strcmp(part, "free")) {
        MPI_Comm_free(&mine);
    } else if (!strcmp(part, "other")) {
        const char *before = expect_now("any");
        all_seven(2000, handled % test.ranks, other);
        expect_again(before);
    } else {
        longjmp(back, 1);
    }
}

/* A call that is wrong in the same way on all ranks. An uncommitted type is one that the MPI library finds, and nobody
 * before: such a broadcast is like the valid ones before it, whose turn it may be to be timed. */
static void fail(int fault, MPI_Datatype uncommitted) {
    static unsigned char all[2 * BYTES], own[400];
    int counts[64], displs[64], root = test.ranks + 3;
    for (int r = 0; r < test.ranks; r++) counts[r] = 100, displs[r] = 100 * r;
    switch (fault) {
    case 0: MPI_Bcast(all, 1000, MPI_BYTE, root, mine); break;
    case 1: MPI_Bcast(all, -1, MPI_BYTE, 0, mine); break;
    case 2: MPI_Scatter(all, 100, MPI_BYTE, own, 100, MPI_BYTE, root, mine); break;
    case 3: MPI_Allgatherv(own, -1, MPI_BYTE, all, counts, displs, MPI_BYTE, mine); break;
    case 4: MPI_Gatherv(own, 100, MPI_BYTE, all, counts, displs, MPI_BYTE, root, mine); break;
    default: MPI_Bcast(all, BYTES / 8, uncommitted, 0, mine);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "jump_free");
    part = argc > 1 ? argv[1] : "free";
    int comms = argc > 2 ? atoi(argv[2]) : COMMS;
    MPI_Errhandler errhandler;
    MPI_Datatype uncommitted;
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (volatile int i = 0; i < comms; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &mine);
        MPI_Comm_set_errhandler(mine, errhandler);
        /* None on some communicators: the failing call is the first that Rondo sees there. */
        for (int k = 0; k < i % MOST; k++) bcast_bytes(BYTES, k % test.ranks, mine);
        int before = handled;
        if (!setjmp(back)) fail(i % FAULTS, uncommitted);
        CHECK_IN(handled == before + 1, "fault %d, handled %d times", i % FAULTS, handled - before);
        if (mine != MPI_COMM_NULL) {
            all_seven(2000, i % test.ranks, mine);
            bcast_bytes(BYTES, 0, mine);
            MPI_Comm_free(&mine);
        }
        if (i % 10 == 0) all_seven(2000, i % test.ranks, MPI_COMM_WORLD);
    }
    CHECK_IN(handled == comms, "%d", handled);
    MPI_Comm_free(&other);
    MPI_Type_free(&uncommitted);
    MPI_Errhandler_free(&errhandler);
    return finish();
}
