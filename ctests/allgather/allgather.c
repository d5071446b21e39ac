/* MPI_Allgather: blocks of equal size, separate and in place, of named and derived types, also such that ranks describe
 * the same blocks differently. What surrounds the received data, and what was sent, is as before.
 *
 * Argument: "portable" leaves out what Open MPI 4.1 by itself fails at: ranks that differ, and negative extents.
 */
#include "agv.h"

static int portable;

static const int counts[] = {1, 2, 3, 5, 8, 13, 64, 100, 255, 1000, 1024, 4099, 10000, 32768, 65537};
enum { COUNTS = sizeof counts / sizeof *counts };

static void bytes_and_ints(MPI_Comm comm) {
    struct piece piece[2];
    struct layout byte = dense(MPI_BYTE, &piece[0]), whole = dense(MPI_INT, &piece[1]);
    for (int i = 0; i < COUNTS; i++) {
        allgather_regular(i % 2 ? &byte : NULL, &byte, counts[i], comm);
        allgather_regular(i % 2 ? NULL : &whole, &whole, (counts[i] + 1) / 2, comm);
    }
}

static void named_types(void) {
    const MPI_Datatype types[] = {MPI_CHAR,   MPI_SHORT,    MPI_LONG_LONG,   MPI_FLOAT, MPI_DOUBLE,
                                  MPI_C_BOOL, MPI_UINT16_T, MPI_LONG_DOUBLE, MPI_AINT, MPI_C_DOUBLE_COMPLEX};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int count = 1; count <= 500; count *= 21) {
            struct piece piece;
            struct layout l = dense(types[t], &piece);
            allgather_regular(t % 2 ? &l : NULL, &l, count, MPI_COMM_WORLD);
        }
}

/* `units` units of 12 ints from each rank, sent and received as these of agv.h; a negative one is in place. */
static void derived(int sends, int receives, int units) {
    struct layout send = ints_makers[sends < 0 ? 0 : sends](), recv = ints_makers[receives]();
    allgather_regular(sends < 0 ? NULL : &send, &recv, units * per_unit(&recv), MPI_COMM_WORLD);
    drop(&send);
    drop(&recv);
}

static void all_ranks_alike(void) {
    for (int s = -1; s < INTS_MAKERS; s++)
        for (int r = 0; r < INTS_MAKERS; r++)
            if (!portable || ints_makers[r] != ints_negative_extent) derived(s, r, (s + 2 * r) % 3 ? 1 + r : 60);
}

static void ranks_differ(void) {
    for (int step = 0; step < INTS_MAKERS; step++)
        for (int units = 1; units <= 400; units *= 20) {
            int sends = (3 * test.rank + step) % INTS_MAKERS, receives = (5 * test.rank + 2 * step) % INTS_MAKERS;
            derived(step % 4 ? sends : -1, receives, units);
        }
}

static void nothing(void) {
    unsigned char sent[16], got[16];
    fill(sent, sizeof sent, 1);
    fill(got, sizeof got, 2);
    allgather(sent, 0, MPI_INT, got, 0, MPI_INT, MPI_COMM_WORLD);
    allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, 0, MPI_DOUBLE, MPI_COMM_WORLD);
    allgather(NULL, 0, MPI_BYTE, NULL, 0, MPI_BYTE, MPI_COMM_WORLD);
    CHECK(wrong(sent, sizeof sent, 1) == 0 && wrong(got, sizeof got, 2) == 0);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "allgather");
    portable = argc > 1 && !strcmp(argv[1], "portable");
    bytes_and_ints(MPI_COMM_WORLD);
    bytes_and_ints(MPI_COMM_SELF);
    named_types();
    all_ranks_alike();
    if (!portable) ranks_differ();
    nothing();
    return finish();
}
