/* The collectives with large counts, looked up as a program does that asks what its MPI library has. The library for
 * every MPI has them on hosts that do not: then they are carried out over those with int. Arguments without a meaning
 * have counts that are no int, and arrays that are not there. An error is one error.
 */
#include "rondo_test.h"
#include <stdint.h>

#ifdef OMPI_MAJOR_VERSION
#define HOST_HAS_NONE 1
#else
#define HOST_HAS_NONE 0
#endif

typedef MPI_Count C;
typedef MPI_Aint A;
typedef MPI_Datatype T;

#define FUNCTIONS(F)                                                                         \
    F(Bcast, (void *, C, T, int, MPI_Comm))                                                  \
    F(Allgather, (const void *, C, T, void *, C, T, MPI_Comm))                               \
    F(Allgatherv, (const void *, C, T, void *, const C *, const A *, T, MPI_Comm))           \
    F(Gather, (const void *, C, T, void *, C, T, int, MPI_Comm))                             \
    F(Gatherv, (const void *, C, T, void *, const C *, const A *, T, int, MPI_Comm))         \
    F(Scatter, (const void *, C, T, void *, C, T, int, MPI_Comm))                            \
    F(Scatterv, (const void *, const C *, const A *, T, void *, C, T, int, MPI_Comm))        \
    F(Allreduce, (const void *, void *, C, T, MPI_Op, MPI_Comm))                             \
    F(Reduce, (const void *, void *, C, T, MPI_Op, int, MPI_Comm))                           \
    F(Reduce_scatter, (const void *, void *, const C *, T, MPI_Op, MPI_Comm))                \
    F(Reduce_scatter_block, (const void *, void *, C, T, MPI_Op, MPI_Comm))                  \
    F(Scan, (const void *, void *, C, T, MPI_Op, MPI_Comm))                                  \
    F(Exscan, (const void *, void *, C, T, MPI_Op, MPI_Comm))                                \
    F(Alltoall, (const void *, C, T, void *, C, T, MPI_Comm))                                \
    F(Alltoallv, (const void *, const C *, const A *, T, void *, const C *, const A *, T, MPI_Comm)) \
    F(Alltoallw, (const void *, const C *, const A *, const T *, void *, const C *, const A *, const T *,           \
                  MPI_Comm))

#define DECLARE(name, arguments) static int(*name) arguments;
FUNCTIONS(DECLARE)

/* All functions by their names MPI_X_c, or PMPI_X_c. */
static void find(int profiled) {
    char symbol[64];
#define FIND(name, arguments)                                                                 \
    snprintf(symbol, sizeof symbol, "%sMPI_%s_c", profiled ? "P" : "", #name);                \
    *(void **)&name = dlsym(RTLD_DEFAULT, symbol);                                            \
    CHECK_IN(name != NULL, "%s", symbol);
    FUNCTIONS(FIND)
    if (test.failures) MPI_Abort(MPI_COMM_WORLD, 5);
}

/* Of nonblocking and persistent ones a program finds those of its MPI library: whoever finds none calls those with int.
 * Rondo never has the names that they are compared with. */
static void find_no_others(void) {
    const char *nonblocking[] = {"MPI_Ibcast_c", "MPI_Iallreduce_c", "MPI_Iallgatherv_c", "PMPI_Ialltoallw_c"};
    const char *persistent[] = {"MPI_Bcast_init_c", "MPI_Allreduce_init_c", "MPI_Allgatherv_init_c",
                                "PMPI_Alltoallw_init_c"};
    int has_nonblocking = dlsym(RTLD_DEFAULT, "MPI_Ineighbor_allgather_c") != NULL;
    int has_persistent = dlsym(RTLD_DEFAULT, "MPI_Neighbor_allgather_init_c") != NULL;
    CHECK(has_nonblocking == !HOST_HAS_NONE);
    for (int i = 0; i < 4; i++) {
        CHECK_IN((dlsym(RTLD_DEFAULT, nonblocking[i]) != NULL) == has_nonblocking, "%s", nonblocking[i]);
        CHECK_IN((dlsym(RTLD_DEFAULT, persistent[i]) != NULL) == has_persistent, "%s", persistent[i]);
    }
}

enum { N = 3, MOST = 16 };

/* What is in a count, or in a pointer, that has no meaning. */
static const C nonsense = (C)1 << 40;
static void *const nowhere = (void *)8;

static int value(int from, int to, int i) { return 10000 * from + 100 * to + i; }

static int send[MOST * N], receive[MOST * N], all_blocks[MOST * N];
static C counts[MOST];
static A displs[MOST], bytes[MOST];
static T types[MOST];

static void fill_all(int me, int p) {
    for (int r = 0; r < p; r++)
        for (int i = 0; i < N; i++) {
            send[r * N + i] = value(me, r, i);
            receive[r * N + i] = -1;
        }
    for (int r = 0; r < p; r++) {
        counts[r] = N;
        displs[r] = r * N;
        bytes[r] = displs[r] * (A)sizeof(int);
        types[r] = MPI_INT;
    }
}

/* Blocks of all `p` ranks in `blocks`, sent to this rank, or to rank 0. */
static void check_blocks(const int *blocks, int p, int to, const char *what) {
    for (int r = 0; r < p; r++)
        for (int i = 0; i < N; i++) CHECK_IN(blocks[r * N + i] == value(r, to, i), "%s, block %d", what, r);
}

static void exchange_blocks(int me, int p, int root, MPI_Comm comm) {
    const T t = MPI_INT;
    int at_root = me == root, block[N];
    for (int i = 0; i < N; i++) block[i] = at_root ? i : -1;
    CHECK(!Bcast(block, N, t, root, comm));
    for (int i = 0; i < N; i++) CHECK(block[i] == i);

    fill_all(me, p);
    CHECK(!Allgather(send, N, t, receive, N, t, comm));
    check_blocks(receive, p, 0, "allgather");
    CHECK(!Allgather(MPI_IN_PLACE, nonsense, t, receive, N, t, comm));
    check_blocks(receive, p, 0, "allgather in place");
    fill_all(me, p);
    CHECK(!Allgatherv(send, N, t, receive, counts, displs, t, comm));
    check_blocks(receive, p, 0, "allgatherv");

    fill_all(me, p);
    CHECK(!Gather(send, N, t, receive, at_root ? N : nonsense, t, root, comm));
    if (at_root) check_blocks(receive, p, 0, "gather");
    fill_all(me, p);
    CHECK(!Gatherv(send, N, t, receive, at_root ? counts : nowhere, at_root ? displs : nowhere, t, root, comm));
    if (at_root) check_blocks(receive, p, 0, "gatherv");

    for (int v = 0; v < 2; v++) {
        fill_all(me, p);
        if (v)
            CHECK(!Scatterv(send, at_root ? counts : nowhere, at_root ? displs : nowhere, t, receive, N, t, root,
                            comm));
        else
            CHECK(!Scatter(send, at_root ? N : nonsense, t, receive, N, t, root, comm));
        for (int i = 0; i < N; i++) CHECK_IN(receive[i] == value(root, me, i), "scatter%s", v ? "v" : "");
    }

    fill_all(me, p);
    CHECK(!Alltoall(send, N, t, receive, N, t, comm));
    check_blocks(receive, p, me, "alltoall");
    fill_all(me, p);
    CHECK(!Alltoallv(send, counts, displs, t, receive, counts, displs, t, comm));
    check_blocks(receive, p, me, "alltoallv");
    fill_all(me, p);
    CHECK(!Alltoallw(send, counts, bytes, types, receive, counts, bytes, types, comm));
    check_blocks(receive, p, me, "alltoallw");
    /* In place, what comes to this rank is what it has for others. */
    memcpy(all_blocks, send, sizeof send);
    CHECK(!Alltoallv(MPI_IN_PLACE, nowhere, nowhere, t, all_blocks, counts, displs, t, comm));
    check_blocks(all_blocks, p, me, "alltoallv in place");
}

static void reduce_blocks(int me, int p, int root, MPI_Comm comm) {
    const T t = MPI_INT;
    int ranks = p * (p - 1) / 2, before = me * (me - 1) / 2;
    fill_all(me, p);
    CHECK(!Allreduce(send, receive, N, t, MPI_SUM, comm));
    for (int i = 0; i < N; i++) CHECK(receive[i] == 10000 * ranks + p * i);
    fill_all(me, p);
    CHECK(!Reduce(send, receive, N, t, MPI_SUM, root, comm));
    for (int i = 0; i < N; i++) CHECK(receive[i] == (me == root ? 10000 * ranks + p * i : -1));
    for (int block = 0; block < 2; block++) {
        fill_all(me, p);
        CHECK(!(block ? Reduce_scatter_block(send, receive, N, t, MPI_SUM, comm)
                      : Reduce_scatter(send, receive, counts, t, MPI_SUM, comm)));
        for (int i = 0; i < N; i++) CHECK(receive[i] == 10000 * ranks + p * (100 * me + i));
    }
    fill_all(me, p);
    CHECK(!Scan(send, receive, N, t, MPI_SUM, comm));
    for (int i = 0; i < N; i++) CHECK(receive[i] == 10000 * (before + me) + (me + 1) * i);
    fill_all(me, p);
    CHECK(!Exscan(send, receive, N, t, MPI_SUM, comm));
    for (int i = 0; i < N && me; i++) CHECK(receive[i] == 10000 * before + me * i);
}

/* Two groups: each gets the blocks of the other. */
static void between_groups(void) {
    MPI_Comm half, inter;
    int low = test.rank % 2 == 0, me, others, root;
    MPI_Comm_split(MPI_COMM_WORLD, low, test.rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 1 : 0, 7, &inter);
    MPI_Comm_rank(half, &me);
    MPI_Comm_remote_size(inter, &others);
    fill_all(me, others);
    CHECK(!Allgatherv(send, N, MPI_INT, receive, counts, displs, MPI_INT, inter));
    check_blocks(receive, others, 0, "allgatherv between groups");
    fill_all(me, others);
    CHECK(!Alltoallv(send, counts, displs, MPI_INT, receive, counts, displs, MPI_INT, inter));
    check_blocks(receive, others, me, "alltoallv between groups");
    fill_all(me, others);
    root = !low ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
    int at_root = root == MPI_ROOT;
    CHECK(!Gatherv(send, low ? nonsense : N, MPI_INT, receive, at_root ? counts : nowhere, at_root ? displs : nowhere,
                   MPI_INT, root, inter));
    if (at_root) check_blocks(receive, others, 0, "gatherv between groups");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void fails_with_count(int code) {
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    CHECK_IN(class == MPI_ERR_COUNT, "class %d", class);
}

/* What no int can hold is an error of the call, on a host that has int alone. */
static void too_large(int p) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fill_all(0, p);
    fails_with_count(Bcast(send, nonsense, MPI_BYTE, 0, MPI_COMM_WORLD));
    fails_with_count(Gather(send, nonsense, MPI_INT, receive, nonsense, MPI_INT, 0, MPI_COMM_WORLD));
    counts[p - 1] = nonsense;
    fails_with_count(Allgatherv(send, N, MPI_INT, receive, counts, displs, MPI_INT, MPI_COMM_WORLD));
    counts[p - 1] = N;
    displs[p - 1] = (A)1 << 40;
    fails_with_count(Allgatherv(send, N, MPI_INT, receive, counts, displs, MPI_INT, MPI_COMM_WORLD));
    counts[p - 1] = 0; /* nobody looks where nothing lies */
    CHECK(!Allgatherv(send, test.rank == p - 1 ? 0 : N, MPI_INT, receive, counts, displs, MPI_INT, MPI_COMM_WORLD));
}

static int handled;
static void count_errors(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, handled++; }

static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* A call on MPI_COMM_NULL is one error, as by the function with int. (MPICH 5.0 returns success behind a handler.) */
#define ONCE(call, call_with_int)                                                        \
    do {                                                                                 \
        handled = 0;                                                                     \
        int class_with_int = class_of(call_with_int), with_int = handled;                \
        handled = 0;                                                                     \
        int class = class_of(call);                                                      \
        CHECK_IN(class == class_with_int, "class %d, with int %d", class, class_with_int); \
        CHECK_IN(handled == 1 && with_int == 1, "%d times, with int %d", handled, with_int); \
    } while (0)

static void no_communicator(int p) {
    const MPI_Comm none = MPI_COMM_NULL;
    const T t = MPI_INT;
    int n[MOST], at[MOST];
    MPI_Errhandler counter;
    MPI_Comm_create_errhandler(count_errors, &counter);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counter);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counter);
    fill_all(0, p);
    for (int r = 0; r < p; r++) n[r] = N, at[r] = r * N;
    ONCE(Allgatherv(send, N, t, receive, counts, displs, t, none), MPI_Allgatherv(send, N, t, receive, n, at, t, none));
    ONCE(Gatherv(send, N, t, receive, counts, displs, t, 0, none), MPI_Gatherv(send, N, t, receive, n, at, t, 0, none));
    ONCE(Scatterv(send, counts, displs, t, receive, N, t, 0, none),
         MPI_Scatterv(send, n, at, t, receive, N, t, 0, none));
    ONCE(Reduce_scatter(send, receive, counts, t, MPI_SUM, none),
         MPI_Reduce_scatter(send, receive, n, t, MPI_SUM, none));
    ONCE(Alltoallv(send, counts, displs, t, receive, counts, displs, t, none),
         MPI_Alltoallv(send, n, at, t, receive, n, at, t, none));
    ONCE(Alltoallw(send, counts, bytes, types, receive, counts, bytes, types, none),
         MPI_Alltoallw(send, n, at, types, receive, n, at, types, none));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&counter);
}

static unsigned long long broadcast_by_rondo(MPI_Comm comm) {
    unsigned long long before = test.calls("bcast", NULL);
    int number = test.rank ? 0 : 42;
    CHECK(!MPI_Bcast(&number, 1, MPI_INT, 0, comm));
    CHECK(number == 42);
    return test.calls("bcast", NULL) - before;
}

/* A duplicate with hints: broadcasts on its parent are Rondo's while it is being made. */
static void duplicates(int profiled) {
    int (*idup)(MPI_Comm, MPI_Info, MPI_Comm *, MPI_Request *);
    *(void **)&idup = dlsym(RTLD_DEFAULT, profiled ? "PMPI_Comm_idup_with_info" : "MPI_Comm_idup_with_info");
    if (!idup) return;
    MPI_Comm parent, other, made;
    MPI_Request request;
    int likeness;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    CHECK(!idup(parent, MPI_INFO_NULL, &made, &request));
    unsigned long long on_parent = broadcast_by_rondo(parent);
    CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Comm_compare(parent, made, &likeness);
    CHECK(likeness == MPI_CONGRUENT);
    unsigned long long on_other = broadcast_by_rondo(other), on_made = broadcast_by_rondo(made);
    unsigned long long expected = !strcmp(test.expect, "circulant") && test.ranks > 2;
    if (strcmp(test.expect, "auto")) {
        CHECK_IN(on_other == expected && on_made == expected, "%llu %llu", on_other, on_made);
        CHECK_IN(on_parent == expected, "%llu", on_parent);
    }
    MPI_Comm_free(&parent);
    MPI_Comm_free(&other);
    MPI_Comm_free(&made);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "narrow");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    find_no_others();
    const char *of[] = {"bcast", "allgatherv", "gatherv", "scatterv", "allreduce", "reduce_scatter", "alltoallw"};
    for (int profiled = 0; profiled < 2; profiled++) {
        find(profiled);
        duplicates(profiled);
        unsigned long long seen[7];
        for (int i = 0; i < 7; i++) seen[i] = test.calls(of[i], NULL) + test.calls(of[i], "host");
        for (int root = 0; root < test.ranks; root++) {
            exchange_blocks(test.rank, test.ranks, root, MPI_COMM_WORLD);
            reduce_blocks(test.rank, test.ranks, root, MPI_COMM_WORLD);
        }
        for (int i = 0; i < 7; i++) {
            unsigned long long now = test.calls(of[i], NULL) + test.calls(of[i], "host");
            CHECK_IN(now == seen[i] + (unsigned)test.ranks, "%s", of[i]);
        }
        if (test.ranks > 1) between_groups();
        no_communicator(test.ranks);
    }
    if (HOST_HAS_NONE && !strcmp(test.expect, "host")) too_large(test.ranks);
    return finish();
}
