/* Reductions of numbers that Rondo itself joins: to the last bit, the results are those of MPI_Reduce_local. Integers
 * overflow and are negative; floating-point numbers are of all magnitudes, infinite, or no numbers.
 *
 * Preloaded behind Rondo, support/reduce_local.c counts Rondo's calls of PMPI_Reduce_local. There are none for types
 * that Rondo knows, once it has seen that the MPI library gives the same bits. It may not do so for the maximum and
 * minimum of unsigned integers, which MPICH 4.0 gets wrong, and Open MPI 4.1 those of unsigned long; nor for sums of
 * short integers, which on some processors stop at the ends of their range in Open MPI 4.1. These would depend on the
 * order of ranks, so here they do not reach the ends.
 */
#include "rondo_test.h"
#include <stdint.h>

enum { LONGEST = 20000, ELEMENT = 8 };

/* Which operators there are for a type. */
enum group { NUMBERS = 1, BITS = 2, TRUTH = 4 };

static const struct {
    const char *name;
    enum group group;
} operators[] = {{"sum", NUMBERS}, {"prod", NUMBERS}, {"max", NUMBERS}, {"min", NUMBERS}, {"band", BITS},
                 {"bor", BITS},    {"bxor", BITS},    {"land", TRUTH},  {"lor", TRUTH},   {"lxor", TRUTH}};

enum { SUM, PROD, MAX, MIN, OPERATORS = 10 };

static MPI_Op op_of(int k) {
    MPI_Op all[OPERATORS] = {MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN, MPI_BAND,
                             MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
    return all[k];
}

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 29) * 0xd1b54a32d192ed03ULL;
    return x ^ x >> 32;
}

/* Two ranks have numbers for an element, and the others what changes nothing, so that all orders give the same bits.
 * (Only -0 changes no sum, not even one that is -0.) At most one is NaN: of two, either may be the result. */
static double number(int rank, long i, int op, int narrow) {
    int first = (int)(i % test.ranks), second = (int)((i + 1 + i / 7 % (test.ranks - 1)) % test.ranks);
    uint64_t x = mixed((uint64_t)i * 1000003 + (uint64_t)rank + 1);
    if (rank != first && rank != second) return op == SUM ? -0.0 : 1.0;
    switch (x % 16) {
    case 0: return 0.0;
    case 1: return -0.0;
    case 2: return 1.0 / 0.0;
    case 3: return -1.0 / 0.0;
    case 4: return rank == first ? __builtin_nan("77") : 3.25;
    case 5: return narrow ? 1e-44 : 5e-324;
    case 6: return narrow ? -3e38 : -1.7e308;
    default: return (double)(int64_t)mixed(x) * (x & 32 ? 1e-12 : 1.0);
    }
}

/* Element i of a rank's operand; kind 'i' has signed integers, 'u' unsigned, 'f' float, 'd' double, and 'c' complex
 * numbers of small integers. */
static void operand(char kind, int size, int rank, long i, int op, unsigned char *to) {
    if (kind == 'c') {
        float c[2] = {(float)((rank + i) % 5), (float)(i % 3)};
        memcpy(to, c, sizeof c);
        return;
    }
    int is_integer = kind == 'i' || kind == 'u';
    double d = is_integer ? 0 : number(rank, i, op, kind == 'f');
    float f = (float)d;
    if (kind == 'f') memcpy(to, &f, sizeof f);
    if (kind == 'd') memcpy(to, &d, sizeof d);
    if (!is_integer) return;
    uint64_t x = mixed((uint64_t)i * 1000003 + (uint64_t)rank + 1);
    if (size <= 2 && op == SUM) {
        memset(to, 0, (size_t)size);
        to[0] = (unsigned char)(x % 20);
        return;
    }
    /* Zeros, ones, the ends of the range, and all others. */
    for (int b = 0; b < size; b++)
        switch (x % 6) {
        case 0: to[b] = 0; break;
        case 1: to[b] = x & 64 ? 0xff : b == 0; break;
        case 2: to[b] = b == size - 1 ? 0x80 : 0; break;
        case 3: to[b] = b == size - 1 ? 0x7f : 0xff; break;
        default: to[b] = (unsigned char)(x >> 8 * b);
        }
}

static long long calls_of_reduce_local(void) {
    long long (*calls)(void);
    *(void **)&calls = dlsym(RTLD_DEFAULT, "reduce_local_calls");
    CHECK(!is_algorithm(expected("allreduce")) || calls);
    return calls ? calls() : 0;
}

static void reduce(const char *name, MPI_Datatype type, char kind, int own_kernel, int op, int n) {
    static unsigned char sent[(LONGEST + 1) * ELEMENT], got[(LONGEST + 1) * ELEMENT];
    static unsigned char want[LONGEST * ELEMENT], other[LONGEST * ELEMENT];
    int size, root = n % test.ranks;
    MPI_Type_size(type, &size);
    int may_differ = (size <= 2 && op == SUM) || (kind == 'u' && (op == MAX || op == MIN));
    /* Rondo looks in the first call. */
    int counts = own_kernel && !may_differ && n > 1;
    for (int r = 0; r < test.ranks; r++) {
        for (long i = 0; i < n; i++) operand(kind, size, r, i, op, other + i * size);
        /* As well aligned as an element. */
        if (r == test.rank) memcpy(sent + size, other, (size_t)n * (size_t)size);
        if (r > 0)
            MPI_Reduce_local(other, want, n, type, op_of(op));
        else
            memcpy(want, other, (size_t)n * (size_t)size);
    }
    for (int call = 0; call < 2; call++) {
        memset(got, 0x5a, sizeof got);
        struct counts before = counts_of(call ? "reduce" : "allreduce");
        long long local = calls_of_reduce_local();
        int rc = call ? MPI_Reduce(sent + size, got + size, n, type, op_of(op), root, MPI_COMM_WORLD)
                      : MPI_Allreduce(sent + size, got + size, n, type, op_of(op), MPI_COMM_WORLD);
        local = calls_of_reduce_local() - local;
        check_call(before, rc, (long long)n * size, MPI_COMM_WORLD);
        CHECK_IN(!counts || local == 0, "%s, %s: %lld calls of PMPI_Reduce_local", name, operators[op].name, local);
        /* The counter counts. */
        if (!own_kernel && !call && is_algorithm(expected("allreduce")) && n >= test.ranks) CHECK(local > 0);
        if (!call || test.rank == root)
            CHECK_IN(!memcmp(got + size, want, (size_t)n * (size_t)size), "%s of %d %s, %s", before.collective, n, name,
                     operators[op].name);
    }
}

static void reduce_all(const char *name, MPI_Datatype type, char kind, int groups, int own_kernel) {
    static const int counts[] = {1, 5, 67, 1000, LONGEST};
    int size = 0;
    if (type != MPI_DATATYPE_NULL) MPI_Type_size(type, &size);
    if (size == 0) return; /* an MPI without Fortran */
    for (int op = 0; op < OPERATORS; op++) {
        int is_there = groups & (int)operators[op].group && (kind == 'i' || kind == 'u' || op < MAX);
        for (int c = 0; c < 5 && is_there; c++) reduce(name, type, kind, own_kernel, op, counts[c]);
    }
}

#define REDUCE_ALL(type, kind, groups) reduce_all(#type, type, kind, groups, 1)

int main(int argc, char **argv) {
    int all = NUMBERS | BITS | TRUTH;
    start(&argc, &argv, "red_kernels");
    REDUCE_ALL(MPI_SIGNED_CHAR, 'i', all);
    REDUCE_ALL(MPI_SHORT, 'i', all);
    REDUCE_ALL(MPI_INT, 'i', all);
    REDUCE_ALL(MPI_LONG, 'i', all);
    REDUCE_ALL(MPI_LONG_LONG, 'i', all);
    REDUCE_ALL(MPI_INT8_T, 'i', all);
    REDUCE_ALL(MPI_INT16_T, 'i', all);
    REDUCE_ALL(MPI_INT32_T, 'i', all);
    REDUCE_ALL(MPI_INT64_T, 'i', all);
    REDUCE_ALL(MPI_UNSIGNED_CHAR, 'u', all);
    REDUCE_ALL(MPI_UNSIGNED_SHORT, 'u', all);
    REDUCE_ALL(MPI_UNSIGNED, 'u', all);
    REDUCE_ALL(MPI_UNSIGNED_LONG, 'u', all);
    REDUCE_ALL(MPI_UNSIGNED_LONG_LONG, 'u', all);
    REDUCE_ALL(MPI_UINT8_T, 'u', all);
    REDUCE_ALL(MPI_UINT16_T, 'u', all);
    REDUCE_ALL(MPI_UINT32_T, 'u', all);
    REDUCE_ALL(MPI_UINT64_T, 'u', all);
    REDUCE_ALL(MPI_BYTE, 'i', BITS);
    REDUCE_ALL(MPI_FLOAT, 'f', NUMBERS);
    REDUCE_ALL(MPI_DOUBLE, 'd', NUMBERS);
    REDUCE_ALL(MPI_INTEGER, 'i', NUMBERS | BITS);
#ifdef MPI_INTEGER1
    REDUCE_ALL(MPI_INTEGER1, 'i', NUMBERS | BITS);
#endif
#ifdef MPI_INTEGER2
    REDUCE_ALL(MPI_INTEGER2, 'i', NUMBERS | BITS);
#endif
    REDUCE_ALL(MPI_INTEGER4, 'i', NUMBERS | BITS);
    REDUCE_ALL(MPI_INTEGER8, 'i', NUMBERS | BITS);
    REDUCE_ALL(MPI_REAL, 'f', NUMBERS);
    REDUCE_ALL(MPI_REAL4, 'f', NUMBERS);
    REDUCE_ALL(MPI_REAL8, 'd', NUMBERS);
    REDUCE_ALL(MPI_DOUBLE_PRECISION, 'd', NUMBERS);
    REDUCE_ALL(MPI_AINT, 'i', NUMBERS | BITS);
    REDUCE_ALL(MPI_OFFSET, 'u', NUMBERS | BITS); /* Open MPI 4.1 compares them as if they had no sign */
    REDUCE_ALL(MPI_COUNT, 'i', NUMBERS | BITS);
    reduce_all("MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, 'c', NUMBERS, 0);
    return finish();
}
