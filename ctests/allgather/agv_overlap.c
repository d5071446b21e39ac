/* Blocks that overlap in the receive buffer, or that overlap what is sent: a user's error that many libraries let pass.
 *
 * What such a call leaves in the bytes that overlap is anybody's guess and not looked at. But it returns, the
 * memory around the blocks is untouched, and the next call is right.
 */
#include "agv.h"

enum { GUARD = 64 };

/* Block r of `count` elements of `extent` bytes goes to element r * step. */
static void receive(MPI_Datatype type, int extent, int size, int count, int step, int in_place) {
    int p = test.ranks, *counts = malloc(sizeof *counts * (size_t)p), *displs = malloc(sizeof *displs * (size_t)p);
    size_t bytes = (size_t)(count + (p - 1) * step) * (size_t)extent;
    unsigned char *sent = malloc((size_t)(count * size)), *got = malloc(bytes + 2 * GUARD);
    for (int r = 0; r < p; r++) {
        counts[r] = count;
        displs[r] = r * step;
    }
    memset(sent, test.rank, (size_t)(count * size));
    memset(got, 0x3c, bytes + 2 * GUARD);
    const void *send = in_place ? MPI_IN_PLACE : sent;
    allgatherv(send, count * size, MPI_BYTE, got + GUARD, counts, displs, type, MPI_COMM_WORLD);
    for (int i = 0; i < GUARD; i++) CHECK(got[i] == 0x3c && got[GUARD + bytes + (size_t)i] == 0x3c);
    allgather_bytes(count, MPI_COMM_WORLD);
    free(sent);
    free(got);
    free(counts);
    free(displs);
}

/* A rank's send buffer is its place in the receive buffer, which asks for MPI_IN_PLACE. Some hosts refuse that, on all
 * ranks; where it passes, the data are right. */
static void aliased(int count, int regular) {
    int p = test.ranks, code;
    int *counts = malloc(sizeof *counts * (size_t)p), *displs = malloc(sizeof *displs * (size_t)p);
    unsigned char *all = malloc((size_t)(p * count));
    for (int r = 0; r < p; r++) {
        counts[r] = count;
        displs[r] = r * count;
    }
    unsigned char *mine = all + test.rank * count;
    fill(mine, (size_t)count, (unsigned)test.rank);
    if (regular)
        code = MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD);
    else
        code = MPI_Allgatherv(mine, count, MPI_BYTE, all, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < p && code == MPI_SUCCESS; r++)
        CHECK_IN(wrong(all + r * count, (size_t)count, (unsigned)r) == 0, "%d bytes from rank %d", count, r);
    allgather_bytes(count, MPI_COMM_WORLD);
    free(all);
    free(counts);
    free(displs);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_overlap");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype spread;
    MPI_Type_create_resized(MPI_INT, 0, 12, &spread);
    MPI_Type_commit(&spread);
    const int counts[] = {1, 100, 30000};
    for (int i = 0; i < 3; i++)
        for (int in_place = 0; in_place < 2; in_place++) {
            receive(MPI_BYTE, 1, 1, counts[i], 0, in_place);
            receive(MPI_BYTE, 1, 1, counts[i], counts[i] / 2, in_place);
            receive(MPI_INT, 4, 4, counts[i], counts[i] / 3, in_place);
            receive(spread, 12, 4, counts[i], counts[i] / 2, in_place);
        }
    for (int i = 0; i < 3; i++)
        for (int regular = 0; regular < 2; regular++) aliased(counts[i], regular);
    MPI_Type_free(&spread);
    return finish();
}
