/* Derived datatypes, the same on all ranks: after the broadcast exactly the bytes of the type map are the root's.
 * Gaps between them, and whatever lies before and behind the buffer, keep each rank's own bytes.
 */
#include "layouts.h"
#include <stddef.h>

static struct layout vector(void) {
    struct layout l = new_layout("vector of 3 x 2 ints, stride 4", 40);
    MPI_Datatype t;
    MPI_Type_vector(3, 2, 4, MPI_INT, &t);
    for (int i = 0; i < 3; i++) add(&l, 16 * i, 8);
    return commit(l, t);
}

static struct layout hvector(void) {
    struct layout l = new_layout("hvector of 4 doubles, stride 24 bytes", 80);
    MPI_Datatype t;
    MPI_Type_create_hvector(4, 1, 24, MPI_DOUBLE, &t);
    for (int i = 0; i < 4; i++) add(&l, 24 * i, 8);
    return commit(l, t);
}

/* The lower bound is -48, and the elements run towards lower addresses. */
static struct layout backward(void) {
    struct layout l = new_layout("hvector of 4 ints, stride -16 bytes", 52);
    MPI_Datatype t;
    MPI_Type_create_hvector(4, 1, -16, MPI_INT, &t);
    for (int i = 0; i < 4; i++) add(&l, -16 * i, 4);
    return commit(l, t);
}

static struct layout indexed(void) {
    struct layout l = new_layout("indexed shorts", 22);
    int lengths[] = {3, 0, 1, 2}, at[] = {0, 4, 5, 9};
    MPI_Datatype t;
    MPI_Type_indexed(4, lengths, at, MPI_SHORT, &t);
    for (int i = 0; i < 4; i++)
        if (lengths[i]) add(&l, 2L * at[i], 2L * lengths[i]);
    return commit(l, t);
}

/* Displacements out of order: the order on the wire is not that of the addresses. */
static struct layout hindexed(void) {
    struct layout l = new_layout("hindexed ints out of order", 48);
    int lengths[] = {2, 1, 3};
    MPI_Aint at[] = {40, 0, 16};
    MPI_Datatype t;
    MPI_Type_create_hindexed(3, lengths, at, MPI_INT, &t);
    for (int i = 0; i < 3; i++) add(&l, at[i], 4L * lengths[i]);
    return commit(l, t);
}

static struct layout indexed_block(void) {
    struct layout l = new_layout("indexed_block of 2 doubles", 72);
    int at[] = {0, 3, 7};
    MPI_Datatype t;
    MPI_Type_create_indexed_block(3, 2, at, MPI_DOUBLE, &t);
    for (int i = 0; i < 3; i++) add(&l, 8L * at[i], 16);
    return commit(l, t);
}

struct record {
    char tag;
    double value;
    int list[3];
};

static struct layout structure(void) {
    struct layout l = new_layout("struct of char, double, int[3]", sizeof(struct record));
    int lengths[] = {1, 1, 3};
    MPI_Aint at[] = {offsetof(struct record, tag), offsetof(struct record, value), offsetof(struct record, list)};
    MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, s, t;
    MPI_Type_create_struct(3, lengths, at, parts, &s);
    MPI_Type_create_resized(s, 0, sizeof(struct record), &t);
    MPI_Type_free(&s);
    add(&l, at[0], 1);
    add(&l, at[1], 8);
    add(&l, at[2], 12);
    return commit(l, t);
}

/* A lower bound below the buffer's address, an extent beyond the last byte. */
static struct layout resized_below(void) {
    struct layout l = new_layout("3 ints resized to [-16, 48)", 64);
    MPI_Datatype s, t;
    MPI_Type_contiguous(3, MPI_INT, &s);
    MPI_Type_create_resized(s, -16, 64, &t);
    MPI_Type_free(&s);
    add(&l, 0, 12);
    return commit(l, t);
}

static struct layout resized_gap(void) {
    struct layout l = new_layout("float resized to 10 bytes", 10);
    MPI_Datatype t;
    MPI_Type_create_resized(MPI_FLOAT, 0, 10, &t);
    add(&l, 0, 4);
    return commit(l, t);
}

/* Size and extent are equal, yet there is a gap in each element: the next element's part fills it. */
static struct layout interleaved(void) {
    struct layout l = new_layout("every second int, resized to 8 bytes", 8);
    MPI_Datatype s, t;
    MPI_Type_vector(2, 1, 4, MPI_INT, &s);
    MPI_Type_create_resized(s, 0, 8, &t);
    MPI_Type_free(&s);
    add(&l, 0, 4);
    add(&l, 16, 4);
    l.max_count = 2;
    return commit(l, t);
}

/* Elements that step backwards through memory. */
static struct layout negative_extent(void) {
    struct layout l = new_layout("2 ints resized to extent -8", -8);
    MPI_Datatype s, t;
    MPI_Type_contiguous(2, MPI_INT, &s);
    MPI_Type_create_resized(s, 0, -8, &t);
    MPI_Type_free(&s);
    add(&l, 0, 8);
    return commit(l, t);
}

/* Dense, without gaps, size equal to extent, and still not a contiguous copy. */
static struct layout permuted(void) {
    struct layout l = new_layout("4 ints in the order 2 0 3 1", 16);
    int at[] = {2, 0, 3, 1};
    MPI_Datatype t;
    MPI_Type_create_indexed_block(4, 1, at, MPI_INT, &t);
    for (int i = 0; i < 4; i++) add(&l, 4L * at[i], 4);
    return commit(l, t);
}

static struct layout nested_contiguous(void) {
    struct layout l = new_layout("contiguous 4 of contiguous 3 of int", 48);
    MPI_Datatype s, t;
    MPI_Type_contiguous(3, MPI_INT, &s);
    MPI_Type_contiguous(4, s, &t);
    MPI_Type_free(&s);
    add(&l, 0, 48);
    return commit(l, t);
}

static struct layout vector_of_vectors(void) {
    struct layout l = new_layout("vector 3 x 1 of vector 2 x 1 int, strides 2 and 3", 92);
    MPI_Datatype s, t;
    MPI_Type_vector(2, 1, 3, MPI_INT, &s); /* extent 16 */
    MPI_Type_create_hvector(3, 1, 38, s, &t);
    MPI_Type_free(&s);
    for (int i = 0; i < 3; i++) {
        add(&l, 38 * i, 4);
        add(&l, 38 * i + 12, 4);
    }
    return commit(l, t);
}

static struct layout dup_named(void) {
    struct layout l = new_layout("dup of double", 8);
    MPI_Datatype t;
    MPI_Type_dup(MPI_DOUBLE, &t);
    add(&l, 0, 8);
    return commit(l, t);
}

static struct layout dup_derived(void) {
    struct layout l = new_layout("dup of vector", 20);
    MPI_Datatype s, t;
    MPI_Type_vector(2, 1, 4, MPI_INT, &s);
    MPI_Type_dup(s, &t);
    MPI_Type_free(&s);
    add(&l, 0, 4);
    add(&l, 16, 4);
    return commit(l, t);
}

static struct layout subarray(int order) {
    struct layout l = new_layout(order == MPI_ORDER_C ? "subarray in C order" : "subarray in Fortran order", 5 * 7 * 4);
    int sizes[] = {5, 7}, part[] = {2, 3}, from[] = {1, 2};
    MPI_Datatype t;
    MPI_Type_create_subarray(2, sizes, part, from, order, MPI_INT, &t);
    if (order == MPI_ORDER_C)
        for (int i = 0; i < 2; i++) add(&l, 4L * ((1 + i) * 7 + 2), 12);
    else
        for (int j = 0; j < 3; j++) add(&l, 4L * ((2 + j) * 5 + 1), 8);
    return commit(l, t);
}

/* The named pair types may have a gap that belongs to nobody. */
static struct layout pair(const char *name, MPI_Datatype named, long first, long second_at, long extent) {
    struct layout l = new_layout(name, extent);
    MPI_Datatype t;
    MPI_Type_contiguous(1, named, &t);
    add(&l, 0, first);
    add(&l, second_at, 4);
    return commit(l, t);
}

static void all_counts(struct layout l) {
    const int counts[] = {1, 2, 17, 1000};
    for (int i = 0; i < 4; i++) {
        if (l.max_count && counts[i] > l.max_count) continue;
        for (int root = 0; root < test.ranks; root++) {
            if (test.ranks > 8 && (root + test.ranks - i) % test.ranks > 1) continue;
            bcast_layouts(&l, counts[i], &l, counts[i], root, MPI_COMM_WORLD);
        }
    }
    drop(&l);
}

/* Pair types by their own handles, not wrapped into a contiguous type. */
static void named_pairs(void) {
    struct {
        double d;
        int i;
    } a[40];
    struct {
        short s;
        int i;
    } b[40];
    for (int root = 0; root < test.ranks; root++) {
        fill(a, sizeof a, 50 + (unsigned)test.rank);
        fill(b, sizeof b, 50 + (unsigned)test.rank);
        for (int i = 0; i < 40; i++) {
            a[i].d = test.rank == root ? i + 0.5 : -1;
            a[i].i = b[i].i = test.rank == root ? 3 * i : -1;
            b[i].s = (short)(test.rank == root ? i : -1);
        }
        bcast(a, 40, MPI_DOUBLE_INT, root, MPI_COMM_WORLD);
        bcast(b, 40, MPI_SHORT_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < 40; i++) {
            CHECK(a[i].d == i + 0.5 && a[i].i == 3 * i);
            CHECK(b[i].s == i && b[i].i == 3 * i);
            const unsigned char *gap = (const unsigned char *)&b[i].s + 2;
            size_t at = (size_t)(gap - (const unsigned char *)b);
            CHECK(gap[0] == data_byte(50 + (unsigned)test.rank, at));
            CHECK(gap[1] == data_byte(50 + (unsigned)test.rank, at + 1));
        }
    }
}

/* Types without a byte: any count of them is an empty message. */
static void zero_size(void) {
    MPI_Datatype none, hollow, wide;
    int lengths[] = {0, 0};
    MPI_Aint at[] = {0, 64};
    MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_create_struct(2, lengths, at, parts, &hollow);
    MPI_Type_create_resized(none, 0, 32, &wide);
    MPI_Datatype *types[] = {&none, &hollow, &wide};
    unsigned char b[256];
    for (int i = 0; i < 3; i++) {
        MPI_Type_commit(types[i]);
        fill(b, sizeof b, 5 + (unsigned)test.rank);
        bcast(b, 1, *types[i], 0, MPI_COMM_WORLD);
        bcast(b, 7, *types[i], test.ranks - 1, MPI_COMM_WORLD);
        CHECK(wrong(b, sizeof b, 5 + (unsigned)test.rank) == 0);
        MPI_Type_free(types[i]);
    }
}

/* A type freed right after the call, and a new one that may get its handle: nothing may remember the old one. */
static void handles_come_back(void) {
    unsigned char b[64 * 24];
    for (int i = 0; i < 40; i++) {
        MPI_Datatype t;
        if (i % 2)
            MPI_Type_vector(8, 1, 3, MPI_DOUBLE, &t);
        else
            MPI_Type_contiguous(8, MPI_DOUBLE, &t);
        MPI_Type_commit(&t);
        fill(b, sizeof b, test.rank == 0 ? 21 : 22);
        bcast(b, 1, t, 0, MPI_COMM_WORLD);
        MPI_Type_free(&t);
        long stride = i % 2 ? 24 : 8;
        for (long k = 0; k < 8; k++)
            for (long j = 0; j < 8; j++) CHECK(b[k * stride + j] == data_byte(21, (size_t)(k * stride + j)));
        if (i % 2 && test.rank) CHECK(b[8] == data_byte(22, 8));
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "types");
    all_counts(vector());
    all_counts(hvector());
    all_counts(backward());
    all_counts(indexed());
    all_counts(hindexed());
    all_counts(indexed_block());
    all_counts(structure());
    all_counts(resized_below());
    all_counts(resized_gap());
    all_counts(interleaved());
    all_counts(negative_extent());
    all_counts(permuted());
    all_counts(nested_contiguous());
    all_counts(vector_of_vectors());
    all_counts(dup_named());
    all_counts(dup_derived());
    all_counts(subarray(MPI_ORDER_C));
    all_counts(subarray(MPI_ORDER_FORTRAN));
    all_counts(pair("double_int", MPI_DOUBLE_INT, 8, 8, 16));
    all_counts(pair("long_int", MPI_LONG_INT, 8, 8, 16));
    all_counts(pair("short_int", MPI_SHORT_INT, 2, 4, 8));
    all_counts(pair("2int", MPI_2INT, 4, 4, 8));
    named_pairs();
    zero_size();
    handles_come_back();
    return finish();
}
