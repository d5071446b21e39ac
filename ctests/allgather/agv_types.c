/* MPI_Allgatherv of derived types on either side: the bytes of the type maps move, and no others.
 *
 * All ranks use the same types in one call; the type that is sent and the one that is received differ, with the same
 * signature. In place as well.
 */
#include "agv.h"

static int *units, *counts, *displs;

static void set_units(int shift, int each) {
    for (int r = 0; r < test.ranks; r++) units[r] = (r + shift) % 4 * each;
}

/* Every type of ints against every other, and in place. */
static void every_pair(void) {
    const int each[] = {1, 3, 17};
    for (int s = 0; s < INTS_MAKERS; s++)
        for (int r = 0; r < INTS_MAKERS; r++) {
            struct layout send = ints_makers[s](), recv = ints_makers[r]();
            set_units(s + r, each[(s + r) % 3]);
            allgather_units(s == r ? NULL : &send, &recv, units, MPI_COMM_WORLD);
            drop(&send);
            drop(&recv);
        }
}

/* Messages of many kilobytes, and with them blocks that end inside of elements. */
static void long_blocks(void) {
    for (int r = 0; r < INTS_MAKERS; r++) {
        struct layout send = ints_makers[(r + 5) % INTS_MAKERS](), recv = ints_makers[r]();
        set_units(r, 301);
        allgather_units(r % 3 ? &send : NULL, &recv, units, MPI_COMM_WORLD);
        drop(&send);
        drop(&recv);
    }
}

/* Displacements count extents, also where an extent is negative or has little to do with the size. */
static void displacements(void) {
    for (int i = 0; i < INTS_MAKERS; i++) {
        struct layout l = ints_makers[i](), plain = ints_plain();
        int at = -20;
        for (int k = 0; k < test.ranks; k++) {
            int r = k % 2 ? test.ranks - 1 - k / 2 : k / 2; /* from both ends in turn */
            counts[r] = (r + i) % 3 * per_unit(&l);
            displs[r] = at;
            at += counts[r] + (i + k) % 2 * 12; /* a multiple of 12 elements keeps interleaved ones apart */
        }
        allgather_blocks(i % 2 ? &plain : NULL, &l, counts, displs, MPI_COMM_WORLD);
        drop(&l);
        drop(&plain);
    }
}

static void structures(void) {
    struct layout l[RECORDS];
    for (int i = 0; i < RECORDS; i++) l[i] = records[i]();
    for (int s = 0; s <= RECORDS; s++)
        for (int r = 0; r < RECORDS; r++)
            for (int each = 1; each <= 400; each *= 20) {
                for (int k = 0; k < test.ranks; k++) counts[k] = (k + s + r) % 3 * each;
                allgather_counts(s < RECORDS ? &l[s] : NULL, &l[r], counts, MPI_COMM_WORLD);
            }
    for (int i = 0; i < RECORDS; i++) drop(&l[i]);
}

/* Types without a byte: whatever the counts, nothing moves. */
static void zero_size(void) {
    MPI_Datatype none, wide;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_create_resized(none, 0, 32, &wide);
    MPI_Datatype types[] = {none, wide};
    unsigned char sent[256], got[256];
    for (int i = 0; i < 2; i++) {
        MPI_Type_commit(&types[i]);
        for (int r = 0; r < test.ranks; r++) {
            counts[r] = 1 + r % 3;
            displs[r] = r % 2;
        }
        fill(sent, sizeof sent, 1);
        fill(got, sizeof got, 2);
        allgatherv(sent, counts[test.rank], types[i], got, counts, displs, types[i], MPI_COMM_WORLD);
        allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, counts, displs, types[i], MPI_COMM_WORLD);
        /* Elements on this side, none on the other. */
        for (int r = 0; r < test.ranks; r++) counts[r] = 0;
        allgatherv(sent, 5, types[i], got, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
        CHECK(wrong(sent, sizeof sent, 1) == 0 && wrong(got, sizeof got, 2) == 0);
    }
    for (int i = 0; i < 2; i++) MPI_Type_free(&types[i]);
}

enum { INTS = 3000, DOUBLES = 500 };

/* One element covers two objects at absolute addresses; each rank's own. */
static MPI_Datatype absolute(int *ints, double *doubles) {
    const int lengths[] = {INTS, DOUBLES};
    const MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE};
    MPI_Aint at[2];
    MPI_Datatype t;
    MPI_Get_address(ints, &at[0]);
    MPI_Get_address(doubles, &at[1]);
    MPI_Type_create_struct(2, lengths, at, parts, &t);
    MPI_Type_commit(&t);
    return t;
}

/* MPI_BOTTOM as the send buffer, as the receive buffer, or as both. What is received steps through the arrays by the
 * extent of the resized type: block r has its ints at ints + r * INTS and its doubles as many bytes further. */
static void bottom(int sends, int receives) {
    enum { STRIDE = INTS * 4 + DOUBLES * 8 };
    int p = test.ranks;
    unsigned char *mine = malloc(STRIDE), *all = malloc((size_t)p * STRIDE + 16), *message = malloc(STRIDE);
    const int lengths[] = {INTS, DOUBLES};
    const MPI_Aint relative[] = {0, INTS * 4};
    const MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype from = absolute((int *)mine, (double *)(mine + INTS * 4)), near, span, far, to;
    MPI_Type_create_struct(2, lengths, relative, parts, &near);
    MPI_Type_commit(&near);
    span = absolute((int *)all, (double *)(all + INTS * 4));
    MPI_Aint lower, extent;
    MPI_Type_get_extent(span, &lower, &extent);
    MPI_Type_create_resized(span, lower, STRIDE, &far);
    MPI_Type_create_resized(near, 0, STRIDE, &to);
    MPI_Type_commit(&far);
    MPI_Type_commit(&to);
    fill(mine, STRIDE, (unsigned)test.rank);
    memset(all, 0x77, (size_t)p * STRIDE + 16);
    for (int r = 0; r < p; r++) {
        counts[r] = r % 3 != 1;
        displs[r] = p - 1 - r;
    }
    allgatherv(sends ? MPI_BOTTOM : mine, counts[test.rank], sends ? from : near, receives ? MPI_BOTTOM : all, counts,
               displs, receives ? far : to, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) {
        fill(message, STRIDE, (unsigned)r);
        if (counts[r] == 0) memset(message, 0x77, STRIDE);
        CHECK_IN(!memcmp(message, all + (size_t)displs[r] * STRIDE, STRIDE), "block %d, bottom %d %d", r, sends,
                 receives);
    }
    for (int i = 0; i < 16; i++) CHECK(all[(size_t)p * STRIDE + (size_t)i] == 0x77);
    CHECK(wrong(mine, STRIDE, (unsigned)test.rank) == 0);
    MPI_Datatype *types[] = {&from, &near, &span, &far, &to};
    for (int i = 0; i < 5; i++) MPI_Type_free(types[i]);
    free(mine);
    free(all);
    free(message);
}

/* A single dense run at an absolute address: contiguous, but not at the buffer argument. In place. */
static void dense_bottom(void) {
    int p = test.ranks, length = 500;
    unsigned char *all = malloc((size_t)p * 2000 + 8);
    MPI_Aint at;
    MPI_Datatype t;
    MPI_Get_address(all, &at);
    MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &t);
    MPI_Type_commit(&t);
    memset(all, 0x66, (size_t)p * 2000 + 8);
    fill(all + test.rank * 2000, 2000, (unsigned)test.rank);
    for (int r = 0; r < p; r++) {
        counts[r] = 1;
        displs[r] = r;
    }
    allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, MPI_BOTTOM, counts, displs, t, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) CHECK_IN(wrong(all + r * 2000, 2000, (unsigned)r) == 0, "block of rank %d", r);
    for (int i = 0; i < 8; i++) CHECK(all[p * 2000 + i] == 0x66);
    MPI_Type_free(&t);
    free(all);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_types");
    units = malloc(sizeof *units * (size_t)test.ranks);
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);
    every_pair();
    long_blocks();
    displacements();
    structures();
    zero_size();
    bottom(1, 0);
    bottom(0, 1);
    bottom(1, 1);
    dense_bottom();
    free(units);
    free(counts);
    free(displs);
    return finish();
}
