/* Delete callbacks that call collectives on the very communicator that is being freed: all ranks are in MPI_Comm_free,
 * or MPI_Comm_disconnect, so all of them call it. Two keyvals, set before the first collective on some ranks and after
 * it on others, so that Rondo's own attribute is in another place among them.
 *
 *   freed used     the communicator has had collectives before
 *   freed new      the one of the callback is its first
 */
#include "rondo_test.h"

enum { ROUNDS = 40, BYTES = 30000, KEYS = 2 };

static int callbacks;

static int broadcast(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)keyval, (void)value, (void)extra;
    static unsigned char b[BYTES];
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    for (int root = 0; root < p; root++) {
        fill(b, sizeof b, me == root ? 3 : 4);
        CHECK(MPI_Bcast(b, sizeof b, MPI_BYTE, root, comm) == MPI_SUCCESS);
        CHECK(wrong(b, sizeof b, 3) == 0);
    }
    callbacks++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    start(&argc, &argv, "freed");
    int used = argc < 2 || strcmp(argv[1], "new"), keys[KEYS];
    for (int k = 0; k < KEYS; k++) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, broadcast, &keys[k], NULL);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm comm;
        if (i % 3)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else
            MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm);
        int early = (test.rank + i) % 2;
        for (int k = 0; k < KEYS; k++)
            if (early == (k == 0)) MPI_Comm_set_attr(comm, keys[k], NULL);
        if (used) bcast_bytes(BYTES, i % test.ranks, comm);
        for (int k = 0; k < KEYS; k++)
            if (early != (k == 0)) MPI_Comm_set_attr(comm, keys[k], NULL);
        if (i % 4)
            MPI_Comm_free(&comm);
        else
            MPI_Comm_disconnect(&comm);
        CHECK(comm == MPI_COMM_NULL);
        CHECK_IN(callbacks == KEYS * (i + 1), "%d callbacks", callbacks);
        if (i % 10 == 0) bcast_bytes(BYTES, 0, MPI_COMM_WORLD);
    }
    for (int k = 0; k < KEYS; k++) MPI_Comm_free_keyval(&keys[k]);
    return finish();
}
