/* Reductions of every predefined type of C, of those of C++ and of Fortran's of a size by every predefined operator
 * that the standard allows on it, and of derived types by operators of the user's own: only the bytes of the type maps
 * change.
 *
 * Operands are so small that every order of them gives the same result.
 *
 * With the argument "predefined", only predefined types: some MPI libraries by themselves crash on derived ones.
 */
#include "reductions.h"
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- predefined ---- */

/* Fortran's integers are among the addresses: logical operators are not for them either. */
enum group { INTEGERS, FLOATS, COMPLEXES, BOOLS, BYTES, ADDRESSES, PAIRS };

static struct {
    const char *name;
    MPI_Datatype type; /* set in main: the handles of Open MPI are no constants */
    long extent;
    const char *kinds; /* 'i' signed, 'u' unsigned, and those of reductions.h, for each piece */
    struct piece piece[2];
    enum group group;
} types[60];

static int types_known;

static void know(const char *name, MPI_Datatype type, long extent, const char *kinds, long first, long at, long second,
                 enum group group) {
    types[types_known].name = name;
    types[types_known].type = type;
    types[types_known].extent = extent;
    types[types_known].kinds = kinds;
    types[types_known].piece[0] = (struct piece){0, first};
    types[types_known].piece[1] = (struct piece){at, second};
    types[types_known++].group = group;
}

#define KNOW(type, c, kind, group) know(#type, type, sizeof(c), kind, sizeof(c), 0, 0, group)
#define KNOW_COMPLEX(type, c, kinds) \
    know(#type, type, 2 * sizeof(c), kinds, sizeof(c), sizeof(c), sizeof(c), COMPLEXES)
#define KNOW_PAIR(type, c, kinds)                                                                      \
    do {                                                                                               \
        struct pair {                                                                                  \
            c value;                                                                                   \
            int index;                                                                                 \
        };                                                                                             \
        know(#type, type, sizeof(struct pair), kinds, sizeof(c), offsetof(struct pair, index), sizeof(int), PAIRS); \
    } while (0)

static void know_all(void) {
    KNOW(MPI_SIGNED_CHAR, signed char, "i", INTEGERS);
    KNOW(MPI_UNSIGNED_CHAR, unsigned char, "u", INTEGERS);
    KNOW(MPI_SHORT, short, "i", INTEGERS);
    KNOW(MPI_UNSIGNED_SHORT, unsigned short, "u", INTEGERS);
    KNOW(MPI_INT, int, "i", INTEGERS);
    KNOW(MPI_UNSIGNED, unsigned, "u", INTEGERS);
    KNOW(MPI_LONG, long, "i", INTEGERS);
    KNOW(MPI_UNSIGNED_LONG, unsigned long, "u", INTEGERS);
    KNOW(MPI_LONG_LONG, long long, "i", INTEGERS);
    KNOW(MPI_UNSIGNED_LONG_LONG, unsigned long long, "u", INTEGERS);
    KNOW(MPI_INT8_T, int8_t, "i", INTEGERS);
    KNOW(MPI_UINT8_T, uint8_t, "u", INTEGERS);
    KNOW(MPI_INT16_T, int16_t, "i", INTEGERS);
    KNOW(MPI_UINT16_T, uint16_t, "u", INTEGERS);
    KNOW(MPI_INT32_T, int32_t, "i", INTEGERS);
    KNOW(MPI_UINT32_T, uint32_t, "u", INTEGERS);
    KNOW(MPI_INT64_T, int64_t, "i", INTEGERS);
    KNOW(MPI_UINT64_T, uint64_t, "u", INTEGERS);
    KNOW(MPI_FLOAT, float, "f", FLOATS);
    KNOW(MPI_DOUBLE, double, "d", FLOATS);
    KNOW(MPI_LONG_DOUBLE, long double, "l", FLOATS);
    KNOW_COMPLEX(MPI_C_COMPLEX, float, "ff");
    KNOW_COMPLEX(MPI_C_FLOAT_COMPLEX, float, "ff");
    KNOW_COMPLEX(MPI_C_DOUBLE_COMPLEX, double, "dd");
    KNOW_COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, long double, "ll");
    KNOW(MPI_C_BOOL, bool, "u", BOOLS);
    KNOW(MPI_BYTE, unsigned char, "u", BYTES);
    KNOW(MPI_AINT, MPI_Aint, "i", ADDRESSES);
    KNOW(MPI_OFFSET, MPI_Offset, "i", ADDRESSES);
    KNOW(MPI_COUNT, MPI_Count, "i", ADDRESSES);
    KNOW_PAIR(MPI_FLOAT_INT, float, "fi");
    KNOW_PAIR(MPI_DOUBLE_INT, double, "di");
    KNOW_PAIR(MPI_LONG_INT, long, "ii");
    KNOW_PAIR(MPI_2INT, int, "ii");
    KNOW_PAIR(MPI_SHORT_INT, short, "ii");
    KNOW_PAIR(MPI_LONG_DOUBLE_INT, long double, "li");
}

/* Does the host by itself reduce elements of this size of a type that not every host has? */
static int is_known(MPI_Datatype type, long bytes, MPI_Op op) {
    int size, known;
    unsigned char in[64] = {0}, out[64] = {0};
    if (type == MPI_DATATYPE_NULL || MPI_Type_size(type, &size) != MPI_SUCCESS || size != bytes) return 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    known = MPI_Reduce_local(in, out, 1, type, op) == MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    return known;
}

#if defined MPI_REAL16 && defined MPI_COMPLEX32
/* What a number of Fortran's of 16 bytes is for the host: a long double for some, and nothing that adds up for MPICH
 * 4.0. */
static char kind_of_real16(void) {
    __float128 one = 1, sum = 1;
    MPI_Reduce_local(&one, &sum, 1, MPI_REAL16, MPI_SUM);
    if (sum == 2) return 'q';
    union {
        long double number;
        __float128 all;
    } first = {.all = 0}, second = {.all = 0};
    first.number = second.number = 1;
    MPI_Reduce_local(&first, &second, 1, MPI_REAL16, MPI_SUM);
    return second.number == 2 ? 'l' : 0;
}
#endif

#define KNOW_MORE(type, c, kind, group, op)                          \
    do {                                                             \
        if (is_known(type, sizeof(c), op)) KNOW(type, c, kind, group); \
    } while (0)
#define KNOW_MORE_COMPLEX(type, c, kinds)                                    \
    do {                                                                     \
        if (is_known(type, 2 * sizeof(c), MPI_SUM)) KNOW_COMPLEX(type, c, kinds); \
    } while (0)

static void know_more(void) {
    KNOW_MORE(MPI_CXX_BOOL, bool, "u", BOOLS, MPI_LAND);
    KNOW_MORE_COMPLEX(MPI_CXX_FLOAT_COMPLEX, float, "ff");
    KNOW_MORE_COMPLEX(MPI_CXX_DOUBLE_COMPLEX, double, "dd");
    KNOW_MORE_COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX, long double, "ll");
#ifdef MPI_INTEGER1
    KNOW_MORE(MPI_INTEGER1, int8_t, "i", ADDRESSES, MPI_SUM);
#endif
#ifdef MPI_INTEGER2
    KNOW_MORE(MPI_INTEGER2, int16_t, "i", ADDRESSES, MPI_SUM);
#endif
#ifdef MPI_INTEGER16
    KNOW_MORE(MPI_INTEGER16, __int128, "i", ADDRESSES, MPI_SUM);
#endif
#if defined MPI_REAL16 && defined MPI_COMPLEX32
    if (is_known(MPI_REAL16, sizeof(__float128), MPI_SUM) && kind_of_real16()) {
        const char *two = kind_of_real16() == 'q' ? "qq" : "ll";
        KNOW_MORE(MPI_REAL16, __float128, two, FLOATS, MPI_SUM);
        KNOW_MORE_COMPLEX(MPI_COMPLEX32, __float128, two);
    }
#endif
#ifdef MPI_COMPLEX8
    KNOW_MORE_COMPLEX(MPI_COMPLEX8, float, "ff");
#endif
#ifdef MPI_COMPLEX16
    KNOW_MORE_COMPLEX(MPI_COMPLEX16, double, "dd");
#endif
}

#define IS(group) (1u << (group))

enum { OPS = 12 };

/* The groups on which each operator works (MPI 4.1, section 6.9.2). */
static struct {
    const char *name;
    MPI_Op op;
    unsigned groups;
} ops[OPS];

static void know_ops(void) {
    const unsigned numbers = IS(INTEGERS) | IS(FLOATS) | IS(ADDRESSES), logical = IS(INTEGERS) | IS(BOOLS);
    const unsigned bits = IS(INTEGERS) | IS(BYTES) | IS(ADDRESSES);
    int n = 0;
#define KNOW_OP(operator, on) ops[n].name = #operator, ops[n].op = operator, ops[n++].groups = on
    KNOW_OP(MPI_MAX, numbers);
    KNOW_OP(MPI_MIN, numbers);
    KNOW_OP(MPI_SUM, numbers | IS(COMPLEXES));
    KNOW_OP(MPI_PROD, numbers | IS(COMPLEXES));
    KNOW_OP(MPI_LAND, logical);
    KNOW_OP(MPI_LOR, logical);
    KNOW_OP(MPI_LXOR, logical);
    KNOW_OP(MPI_BAND, bits);
    KNOW_OP(MPI_BOR, bits);
    KNOW_OP(MPI_BXOR, bits);
    KNOW_OP(MPI_MINLOC, IS(PAIRS));
    KNOW_OP(MPI_MAXLOC, IS(PAIRS));
}

static void write_number(char kind, long bytes, long value, unsigned char *to) {
    float f = (float)value;
    double d = (double)value;
    long double l = value;
    __float128 q = value;
    __int128 i = value;
    switch (kind) {
    case 'f': memcpy(to, &f, sizeof f); break;
    case 'd': memcpy(to, &d, sizeof d); break;
    case 'l': memset(to, 0, sizeof l), memcpy(to, &l, 10); break;
    case 'q': memcpy(to, &q, sizeof q); break;
    default: memcpy(to, &i, (size_t)bytes); /* little-endian, two's complement */
    }
}

static const char *kinds; /* of the type at hand */

/* Numbers whose sums of 17 fit into a signed byte, and products as well. */
static void number(const struct reducing *of, int rank, long i, unsigned char *packed) {
    const struct layout *l = of->layout;
    long value = (rank * 3 + i * 5 + 1) % 7 - (kinds[0] != 'u' && i % 3 == 0) * 3;
    if (of->op == MPI_PROD) value = (rank + i) % 5 == 0 ? 2 : kinds[0] == 'u' || (rank + i) % 3 ? 1 : -1;
    if (of->op == MPI_LAND) value = (rank * 5 + i) % 11 == 0 ? 0 : value | 1;
    if (of->op == MPI_BAND) value = (1L << (rank + i) % 5) ^ 0x6f;
    if (l->type == MPI_C_BOOL || l->type == MPI_CXX_BOOL) value = value != 0;
    write_number(kinds[0], l->piece[0].bytes, value, packed);
    if (l->pieces == 1) return;
    packed += l->piece[0].bytes;
    if (of->op == MPI_MINLOC || of->op == MPI_MAXLOC) value = (rank * 7 + i * 3) % 13;
    /* 1+i and 1-i, of which every product of 17 is exact; and their doubles. */
    else if (of->op == MPI_PROD) value = (rank + i) % 2 ? value : -value;
    else value = (rank + i) % 9 - 4;
    write_number(kinds[1], l->piece[1].bytes, value, packed);
}

/* Each operator on each type, by all six calls, of a few elements and of none or many. */
static void predefined(MPI_Comm comm) {
    static const int few[] = {1, 5}, other[] = {0, 100, 3};
    int turn = 0, p;
    MPI_Comm_size(comm, &p);
    for (int t = 0; t < types_known; t++)
        for (int o = 0; o < OPS; o++) {
            if (!(ops[o].groups & IS(types[t].group))) continue;
            struct layout l = new_layout(types[t].name, types[t].extent);
            l.type = types[t].type;
            l.pieces = types[t].piece[1].bytes > 0 ? 2 : 1;
            l.piece = types[t].piece;
            kinds = types[t].kinds;
            char name[80];
            snprintf(name, sizeof name, "%s on %s", ops[o].name, types[t].name);
            /* In a pair there are no meaningful bytes but the pieces, and yet no reason to touch the others. */
            struct reducing c = {name, &l, kinds, ops[o].op, 1, 1, number};
            reduce_by_all(&c, few[turn % 2], turn % p, turn / 2 % 2, comm);
            reduce_by_all(&c, other[turn % 3], (turn + 2) % p, turn / 3 % 2, comm);
            turn++;
        }
}

/* ---- derived ---- */

/* Elements of all types here are 2x2 matrices of unsigned ints, whose product shows the order of factors. */
enum { MATRIX = 4 * sizeof(unsigned) };

static const struct layout *current; /* the layout of the call at hand, on this rank */
static long elements_seen;

static void read_matrix(const unsigned char *at, unsigned m[4]) {
    unsigned char *packed = (unsigned char *)m;
    for (int i = 0; i < current->pieces; packed += current->piece[i++].bytes)
        memcpy(packed, at + current->piece[i].at, (size_t)current->piece[i].bytes);
}

static void write_matrix(unsigned char *at, const unsigned m[4]) {
    place_message(current, 1, at, (const unsigned char *)m);
}

static void join_matrices(void *in, void *inout, int *count, MPI_Datatype *type, int multiplies) {
    CHECK(*type == current->type);
    CHECK_IN(*count >= 0, "%d elements", *count); /* a host may ask for none */
    for (long e = 0; e < *count; e++) {
        unsigned x[4], y[4], z[4];
        read_matrix((unsigned char *)in + e * current->extent, x);
        read_matrix((unsigned char *)inout + e * current->extent, y);
        for (int i = 0; i < 4; i++)
            z[i] = multiplies ? x[i & 2] * y[i & 1] + x[(i & 2) + 1] * y[(i & 1) + 2] : x[i] + y[i] + 1;
        write_matrix((unsigned char *)inout + e * current->extent, z);
        elements_seen++;
    }
}

static void multiply(void *in, void *inout, int *count, MPI_Datatype *type) {
    join_matrices(in, inout, count, type, 1);
}

static void plus(void *in, void *inout, int *count, MPI_Datatype *type) { join_matrices(in, inout, count, type, 0); }

static void matrix(const struct reducing *of, int rank, long i, unsigned char *packed) {
    (void)of;
    unsigned m[4];
    for (unsigned k = 0; k < 4; k++) m[k] = (unsigned)rank * 7 + (unsigned)i * 13 + k * k + 1;
    memcpy(packed, m, sizeof m);
}

static struct layout plain(void) {
    struct layout l = new_layout("contiguous", MATRIX);
    add(&l, 0, MATRIX);
    MPI_Datatype t;
    MPI_Type_contiguous(4, MPI_UNSIGNED, &t);
    return commit(l, t);
}

/* The same memory by another type. */
static struct layout plain_vector(void) {
    struct layout l = new_layout("vector without gaps", MATRIX);
    add(&l, 0, MATRIX);
    MPI_Datatype t;
    MPI_Type_vector(2, 2, 2, MPI_UNSIGNED, &t);
    return commit(l, t);
}

static struct layout gaps(void) {
    struct layout l = new_layout("struct with gaps", 48);
    add(&l, 4, 4);
    add(&l, 12, 8);
    add(&l, 40, 4);
    const int lengths[] = {1, 2, 1};
    const MPI_Aint at[] = {4, 12, 40};
    const MPI_Datatype parts[] = {MPI_UNSIGNED, MPI_UNSIGNED, MPI_UNSIGNED};
    MPI_Datatype t, wide;
    MPI_Type_create_struct(3, lengths, at, parts, &t);
    MPI_Type_create_resized(t, 0, 48, &wide);
    MPI_Type_free(&t);
    return commit(l, wide);
}

static struct layout resized(void) {
    struct layout l = new_layout("resized", 28);
    add(&l, 0, MATRIX);
    MPI_Datatype t, wide;
    MPI_Type_contiguous(4, MPI_UNSIGNED, &t);
    MPI_Type_create_resized(t, 0, 28, &wide);
    MPI_Type_free(&t);
    return commit(l, wide);
}

static struct layout below(void) {
    struct layout l = new_layout("negative lower bound", 20);
    add(&l, -12, 8);
    add(&l, 0, 8);
    const int lengths[] = {2, 2};
    const MPI_Aint at[] = {-12, 0};
    MPI_Datatype t;
    MPI_Type_create_hindexed(2, lengths, at, MPI_UNSIGNED, &t);
    return commit(l, t);
}

static struct layout strided(void) {
    struct layout l = new_layout("hvector", 3 * 20 + 4);
    for (int i = 0; i < 4; i++) add(&l, i * 20, 4);
    MPI_Datatype t;
    MPI_Type_create_hvector(4, 1, 20, MPI_UNSIGNED, &t);
    return commit(l, t);
}

static int width = 1; /* of the matrix, in columns */

/* A column of a matrix of four rows: elements lie between each other's, and there is room for no more than `width` of
 * them, since another would lie on the second row of the first one. */
static struct layout column(void) {
    struct layout l = new_layout("column", 4);
    for (int i = 0; i < 4; i++) add(&l, i * width * 4, 4);
    MPI_Datatype t, narrow;
    MPI_Type_vector(4, 1, width, MPI_UNSIGNED, &t);
    MPI_Type_create_resized(t, 0, 4, &narrow);
    MPI_Type_free(&t);
    return commit(l, narrow);
}

/* The same with the rows the other way round: pieces do not come in the order of addresses. */
static struct layout upside_down(void) {
    struct layout l = new_layout("column, upside down", 4);
    for (int i = 3; i >= 0; i--) add(&l, i * width * 4, 4);
    MPI_Datatype t, narrow;
    MPI_Type_create_hindexed_block(4, 1, (MPI_Aint[]){12L * width, 8L * width, 4L * width, 0}, MPI_UNSIGNED, &t);
    MPI_Type_create_resized(t, 0, 4, &narrow);
    MPI_Type_free(&t);
    return commit(l, narrow);
}

/* Element i lies before element i - 1. */
static struct layout backwards(void) {
    struct layout l = new_layout("negative extent", -24);
    add(&l, 0, MATRIX);
    MPI_Datatype t, back;
    MPI_Type_contiguous(4, MPI_UNSIGNED, &t);
    MPI_Type_create_resized(t, 0, -24, &back);
    MPI_Type_free(&t);
    return commit(l, back);
}

static struct layout (*const makers[])(void) = {plain, gaps, resized, below, strided, column, upside_down, backwards};

enum { MAKERS = sizeof makers / sizeof *makers };

/* Is every call with data Rondo's? With a negative extent, Open MPI by itself fails and MPICH hangs. */
static int all_rondos(MPI_Comm comm) {
    static const char *const calls[] = {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan",
                                        "exscan"};
    int all = is_rondos_comm(comm);
    for (int i = 0; i < 6; i++) all = all && is_algorithm(expected(calls[i]));
    return all;
}

static void derived(MPI_Comm comm) {
    static const int counts[] = {0, 1, 5, 100};
    int turn = 0, p;
    MPI_Comm_size(comm, &p);
    for (int m = 0; m < MAKERS; m++)
        for (int n = 0; n < 4; n++)
            for (int commutes = 0; commutes < 2; commutes++, turn++) {
                width = counts[n] > 0 ? counts[n] * p : 1;
                struct layout l = makers[m]();
                current = &l;
                struct reducing c = {l.name, &l, NULL, MPI_OP_NULL, commutes, 1, matrix};
                MPI_Op_create(commutes ? plus : multiply, commutes, &c.op);
                if (l.extent > 0 || all_rondos(comm)) reduce_by_all(&c, counts[n], turn % p, turn / 2 % 2, comm);
                MPI_Op_free(&c.op);
                drop(&l);
            }
    CHECK(elements_seen > 0);
}

/* All columns of a matrix, whose last one is the last that there is room for. */
static void whole_matrix(int columns, int commutes, int in_place, MPI_Comm comm) {
    int rank, p, rc;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    width = columns;
    struct layout l = column();
    current = &l;
    struct reducing c = {l.name, &l, NULL, MPI_OP_NULL, commutes, 1, matrix};
    MPI_Op_create(commutes ? plus : multiply, commutes, &c.op);
    struct outcome out = outcome_of(&c, columns, comm);

    struct buffers b = buffers_of(&c, out.own, columns, in_place);
    rc = MPI_Allreduce(send_of(&b), b.got.origin, columns, l.type, c.op, comm);
    CHECK(rc == MPI_SUCCESS);
    check_buffers(&c, b, out.own, out.all, columns, "allreduce", "whole matrix");
    b = buffers_of(&c, out.own, columns, in_place && rank == 0);
    rc = MPI_Reduce(send_of(&b), b.got.origin, columns, l.type, c.op, 0, comm);
    CHECK(rc == MPI_SUCCESS);
    check_buffers(&c, b, out.own, out.all, rank == 0 ? columns : 0, "reduce", "whole matrix");
    b = buffers_of(&c, out.own, columns, in_place);
    rc = MPI_Scan(send_of(&b), b.got.origin, columns, l.type, c.op, comm);
    CHECK(rc == MPI_SUCCESS);
    check_buffers(&c, b, out.own, out.upto, columns, "scan", "whole matrix");
    b = buffers_of(&c, out.own, columns, in_place);
    rc = MPI_Exscan(send_of(&b), b.got.origin, columns, l.type, c.op, comm);
    CHECK(rc == MPI_SUCCESS);
    check_buffers(&c, b, out.own, out.before, rank > 0 ? columns : 0, "exscan", "whole matrix");
    free_outcome(out);
    MPI_Op_free(&c.op);
    drop(&l);
}

/* Even and odd ranks describe the same data by different types. */
static void different(struct layout (*even)(void), struct layout (*odd)(void), MPI_Comm comm) {
    static const int counts[] = {1, 100};
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int commutes = 0; commutes < 2; commutes++)
        for (int n = 0; n < 2; n++) {
            struct layout l = (rank % 2 ? odd : even)();
            current = &l;
            struct reducing c = {l.name, &l, NULL, MPI_OP_NULL, commutes, 1, matrix};
            MPI_Op_create(commutes ? plus : multiply, commutes, &c.op);
            reduce_by_all(&c, counts[n], 0, n, comm);
            MPI_Op_free(&c.op);
            drop(&l);
        }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_types");
    know_all();
    know_more();
    know_ops();
    predefined(MPI_COMM_WORLD);
    if (argc > 1 && !strcmp(argv[1], "predefined")) return finish();
    derived(MPI_COMM_WORLD);
    different(plain, plain_vector, MPI_COMM_WORLD);
    different(plain, gaps, MPI_COMM_WORLD);
    for (int k = 0; k < 8; k++) whole_matrix(k < 4 ? 10 : 300, k / 2 % 2, k % 2, MPI_COMM_WORLD);
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, -test.rank, &reversed);
    derived(reversed);
    MPI_Comm_free(&reversed);
    return finish();
}
