/* Operators of the user's own: slow ones, what arguments they get, and operators and datatypes that are freed right
 * after the call, before the next one makes others in their place.
 *
 * With an argument, something else:
 *
 *   columns  elements that lie between each other
 *   long     vectors of any length, to every root, by the operator that does not commute
 *   abort    the operator of the last rank calls MPI_Abort
 *   exit     it calls exit()
 *   meets    the operator of all ranks calls MPI_Barrier on the communicator of the reduction, which MPI forbids
 *   talks    it sends messages and calls collectives on other communicators, which MPI forbids as well
 */
#include "reductions.h"
#include <unistd.h>

static int microseconds; /* that an operator sleeps per call */
static MPI_Datatype call_type;
static long calls_seen, elements_seen, empty_seen;

/* A call of an operator gets whole elements, of a datatype of the size and extent of the call's. */
static void check_arguments(const void *in, const void *inout, const int *count, const MPI_Datatype *type) {
    int size, call_size;
    MPI_Aint lower, extent, call_lower, call_extent;
    MPI_Type_size(*type, &size);
    MPI_Type_size(call_type, &call_size);
    MPI_Type_get_extent(*type, &lower, &extent);
    MPI_Type_get_extent(call_type, &call_lower, &call_extent);
    CHECK_IN(size == call_size, "%d bytes of %d", size, call_size);
    CHECK(lower == call_lower && extent == call_extent);
    CHECK(*count >= 0);
    CHECK(in != inout || *count == 0);
    empty_seen += *count == 0; /* a host may ask for none, Rondo does not */
    calls_seen++;
    elements_seen += *count;
    if (microseconds) usleep((useconds_t)microseconds);
}

/* Strings of digits of base 101 modulo 2^32: x followed by y. An element is a number and what to shift others by. */
typedef struct {
    unsigned number, shift;
} text;

static void append(void *in, void *inout, int *count, MPI_Datatype *type) {
    check_arguments(in, inout, count, type);
    text *x = in, *y = inout;
    for (int i = 0; i < *count; i++) {
        y[i].number += x[i].number * y[i].shift;
        y[i].shift *= x[i].shift;
    }
}

static void add_up(void *in, void *inout, int *count, MPI_Datatype *type) {
    check_arguments(in, inout, count, type);
    text *x = in, *y = inout;
    for (int i = 0; i < *count; i++) {
        y[i].number += x[i].number;
        y[i].shift ^= x[i].shift;
    }
}

static void letter(const struct reducing *of, int rank, long i, unsigned char *packed) {
    (void)of;
    text t = {(unsigned)((rank + 1) * 5 + i) % 101, 101};
    memcpy(packed, &t, sizeof t);
}

static struct layout texts(void) {
    struct layout l = new_layout("text", sizeof(text));
    add(&l, 0, sizeof(text));
    MPI_Datatype t;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &t);
    return commit(l, t);
}

/* The operator that each call gets works on whole elements and is called for none of them in vain. */
static void one(int commutes, int n, int root, int in_place, MPI_Comm comm) {
    struct layout l = texts();
    struct reducing c = {commutes ? "sums" : "texts", &l, NULL, MPI_OP_NULL, commutes, 1, letter};
    MPI_Op_create(commutes ? add_up : append, commutes, &c.op);
    call_type = l.type;
    reduce_by_all(&c, n, root, in_place, comm);
    MPI_Op_free(&c.op);
    CHECK(c.op == MPI_OP_NULL);
    drop(&l);
}

static void of_any_length(MPI_Comm comm) {
    static const int lengths[] = {1, 2, 333, 6000};
    for (int i = 0; i < 4; i++)
        for (int root = 0; root < test.ranks; root++) one(0, lengths[i], root, (i + root) % 2, comm);
}

static void slow(MPI_Comm comm) {
    microseconds = 100;
    for (int commutes = 0; commutes < 2; commutes++) {
        one(commutes, 1, 0, 0, comm);
        one(commutes, 300, 0, 1, comm); /* MPICH crashes with such long ones elsewhere */
    }
    /* One rank is much slower than the others. */
    microseconds = test.rank == 1 ? 2000 : 0;
    for (int commutes = 0; commutes < 2; commutes++) one(commutes, 40, 0, 0, comm);
    microseconds = 0;
}

/* Operators and types come and go, so that the same handles are soon other ones: what was known of the last one, that
 * it commutes for example, is not true of this one. */
static void freed_at_once(MPI_Comm comm) {
    enum { N = 50 };
    text own[N], got[N];
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    for (int k = 0; k < 60; k++) {
        int commutes = k / 2 % 2;
        MPI_Datatype type;
        MPI_Op op;
        MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
        MPI_Type_commit(&type);
        MPI_Op_create(commutes ? add_up : append, commutes, &op);
        call_type = type;
        for (int i = 0; i < N; i++) own[i] = (text){(unsigned)(rank + i + k) % 101, 101};
        memset(got, 0, sizeof got);
        struct counts before = counts_of(k % 3 ? "allreduce" : "scan");
        int rc = k % 3 ? MPI_Allreduce(own, got, N, type, op, comm) : MPI_Scan(own, got, N, type, op, comm);
        MPI_Op_free(&op);
        MPI_Type_free(&type);
        check_reduction(before, rc, (long long)sizeof own, commutes, comm);
        for (int i = 0; i < N; i++) {
            unsigned want = 0;
            for (int r = 0; r < (k % 3 ? p : rank + 1); r++)
                want = (commutes ? want : want * 101) + (unsigned)(r + i + k) % 101;
            CHECK_IN(got[i].number == want, "round %d, element %d: %u and not %u", k, i, got[i].number, want);
        }
    }
}

/* An operator that itself uses MPI, as far as it may: not to communicate. */
static void looks_around(void *in, void *inout, int *count, MPI_Datatype *type) {
    check_arguments(in, inout, count, type);
    int flag, commutes, *x = in, *y = inout;
    MPI_Op op;
    MPI_Initialized(&flag);
    MPI_Op_create(append, 0, &op);
    MPI_Op_commutative(op, &commutes);
    MPI_Op_free(&op);
    CHECK(flag);
    CHECK(!commutes);
    for (int i = 0; i < *count; i++) y[i] += x[i];
}

static void curious(MPI_Comm comm) {
    int rank, p, got[7], own[7];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    MPI_Op op;
    MPI_Op_create(looks_around, 1, &op);
    call_type = MPI_INT; /* an operator of the user's own on a predefined type */
    for (int i = 0; i < 7; i++) own[i] = rank + i;
    struct counts before = counts_of("allreduce");
    int rc = MPI_Allreduce(own, got, 7, MPI_INT, op, comm);
    check_reduction(before, rc, sizeof own, 1, comm);
    for (int i = 0; i < 7; i++) CHECK(got[i] == p * (p - 1) / 2 + p * i);
    MPI_Op_free(&op);
}

/* Columns of a matrix of two rows, of which each element has a double and an int behind it. Elements lie between each
 * other, and a column spans a number of bytes of which a double's are no divisor. */
struct place {
    double value;
    int at;
};
static int columns;

static void joins_columns(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    struct place *x = in, *y = inout;
    CHECK_IN((size_t)in % sizeof(double) == 0 && (size_t)inout % sizeof(double) == 0, "%p and %p", in, inout);
    for (int i = 0; i < *count; i++)
        for (int k = i; k <= i + columns; k += columns) {
            y[k].value += x[k].value;
            y[k].at = x[k].at > y[k].at ? x[k].at : y[k].at;
        }
}

static void of_columns(int n, MPI_Comm comm) {
    int rank, p;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    struct place *own = calloc((size_t)(2 * n), sizeof *own), *got = calloc((size_t)(2 * n), sizeof *got);
    for (int i = 0; i < 2 * n; i++) own[i] = (struct place){rank + i, rank};
    MPI_Datatype both, column;
    MPI_Type_vector(2, 1, n, MPI_DOUBLE_INT, &both);
    MPI_Type_create_resized(both, 0, sizeof *own, &column);
    MPI_Type_commit(&column);
    MPI_Op op;
    columns = n;
    MPI_Op_create(joins_columns, 1, &op);
    CHECK(MPI_Allreduce(own, got, n, column, op, comm) == MPI_SUCCESS);
    for (int i = 0; i < 2 * n; i++)
        CHECK_IN(got[i].value == p * (p - 1) / 2 + p * i && got[i].at == p - 1, "%d of %d: %g", i, n, got[i].value);
    MPI_Op_free(&op);
    MPI_Type_free(&column);
    MPI_Type_free(&both);
    free(own);
    free(got);
}

/* Communicators that nobody else uses: of this rank alone, and of all. */
static MPI_Comm own_comm, other_comm;
static int has_met;

/* Each rank calls an operator as often as it has something to join, so they meet in the first call only. */
static void talks(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    enum { N = 3000 };
    int *x = in, *y = inout, sent[N], got[N];
    for (int i = 0; i < N; i++) sent[i] = test.rank + i, got[i] = -1;
    MPI_Sendrecv(sent, N, MPI_INT, 0, 5, got, N, MPI_INT, 0, 5, own_comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) CHECK(got[i] == sent[i]);
    MPI_Allreduce(sent, got, N, MPI_INT, MPI_SUM, own_comm);
    for (int i = 0; i < N; i++) CHECK(got[i] == sent[i]);
    if (!has_met++) {
        MPI_Allreduce(sent, got, N, MPI_INT, MPI_SUM, other_comm);
        for (int i = 0; i < N; i++) CHECK(got[i] == test.ranks * (test.ranks - 1) / 2 + test.ranks * i);
    }
    for (int i = 0; i < *count; i++) y[i] += x[i];
}

static void talk(MPI_Comm comm) {
    enum { N = 5000 };
    static int own[N], got[N];
    MPI_Comm_dup(MPI_COMM_SELF, &own_comm);
    MPI_Comm_dup(comm, &other_comm);
    MPI_Op op;
    MPI_Op_create(talks, 1, &op);
    for (int k = 0; k < 5; k++) {
        has_met = 0;
        for (int i = 0; i < N; i++) own[i] = test.rank * k + i, got[i] = -1;
        CHECK(MPI_Allreduce(own, got, N, MPI_INT, op, comm) == MPI_SUCCESS);
        for (int i = 0; i < N; i++) {
            int want = k * test.ranks * (test.ranks - 1) / 2 + test.ranks * i;
            CHECK_IN(got[i] == want, "call %d, element %d: %d and not %d", k, i, got[i], want);
        }
    }
    MPI_Op_free(&op);
    MPI_Comm_free(&own_comm);
    MPI_Comm_free(&other_comm);
}

static void gives_up(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
    if (test.rank == test.ranks - 1) MPI_Abort(MPI_COMM_WORLD, 7);
}

static void exits(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
    if (test.rank == test.ranks - 1) exit(3);
}

static void meets(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The others do not wait for ever for a rank whose operator ends the program, nor does one that calls a collective wait
 * for itself. */
static void give_up(MPI_User_function *way) {
    static int own[5000], got[5000];
    MPI_Op op;
    MPI_Op_create(way, 1, &op);
    MPI_Allreduce(own, got, 5000, MPI_INT, op, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_operator");
    if (argc > 1 && !strcmp(argv[1], "columns")) {
        of_columns(5, MPI_COMM_WORLD);
        of_columns(1200, MPI_COMM_WORLD);
        return finish();
    }
    if (argc > 1 && !strcmp(argv[1], "long")) {
        of_any_length(MPI_COMM_WORLD);
        return finish();
    }
    if (argc > 1 && !strcmp(argv[1], "talks")) {
        talk(MPI_COMM_WORLD);
        return finish();
    }
    if (argc > 1) give_up(!strcmp(argv[1], "exit") ? exits : !strcmp(argv[1], "meets") ? meets : gives_up);
    MPI_Comm odd;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, -test.rank, &odd);
    slow(MPI_COMM_WORLD);
    freed_at_once(MPI_COMM_WORLD);
    curious(MPI_COMM_WORLD);
    for (int n = 0; n < 3; n++) one(n % 2, 17 * n, 0, n % 2, odd);
    freed_at_once(odd);
    curious(odd);
    MPI_Comm_free(&odd);
    CHECK(calls_seen > 0 && elements_seen > 0);
    if (is_algorithm(expected("allreduce")) && test.ranks >= 6) CHECK(empty_seen == 0);
    return finish();
}
