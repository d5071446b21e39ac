/* The end of the job, in the untidy way real programs reach it.
 *
 * - Communicators that broadcast are never freed.
 * - The program has attributes of its own on MPI_COMM_SELF, set before Rondo's first broadcast and after it. Their
 *   delete callbacks run inside MPI_Finalize and broadcast: before Rondo's own end, and after it.
 */
#include "rondo_test.h"

static int callbacks;
static MPI_Comm leftover;

static int broadcast_at_the_end(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    static unsigned char b[20000];
    int roots[] = {0, test.ranks - 1};
    for (int i = 0; i < 2; i++) {
        fill(b, sizeof b, test.rank == roots[i] ? 1 : 2);
        CHECK(MPI_Bcast(b, sizeof b, MPI_BYTE, roots[i], MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(wrong(b, sizeof b, 1) == 0);
        fill(b, sizeof b, test.rank == roots[i] ? 3 : 4);
        CHECK(MPI_Bcast(b, sizeof b, MPI_BYTE, roots[i], leftover) == MPI_SUCCESS);
        CHECK(wrong(b, sizeof b, 3) == 0);
    }
    /* The first broadcast ever on a communicator, at this late hour. */
    MPI_Comm late;
    MPI_Comm_dup(MPI_COMM_WORLD, &late);
    fill(b, sizeof b, test.rank == 0 ? 5 : 6);
    CHECK(MPI_Bcast(b, sizeof b, MPI_BYTE, 0, late) == MPI_SUCCESS);
    CHECK(wrong(b, sizeof b, 5) == 0);
    MPI_Comm_free(&late);
    callbacks++;
    return MPI_SUCCESS;
}

static void hook(void) {
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, broadcast_at_the_end, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    MPI_Comm_free_keyval(&keyval);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "finalize");
    hook();
    for (int i = 0; i < 5; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &leftover);
        bcast_bytes(30000, i % test.ranks, leftover);
    }
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, 0, &part);
    bcast_bytes(30000, 0, part);
    bcast_bytes(30000, 0, MPI_COMM_WORLD);
    hook();
    MPI_Finalize();
    CHECK_IN(callbacks == 2, "%d", callbacks);
    /* No communication is left to sum failures up: each rank's exit status speaks for itself. */
    if (test.rank == 0 && !test.failures) printf("PASS finalize\n");
    return test.failures != 0;
}
