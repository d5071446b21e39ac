/* Preloaded into the ranks of an MPI program, before Rondo if that is there as well: writes which blocking collectives
 * the program calls, when each rank enters and leaves them, and what it computes in between. C and Fortran (mpif.h,
 * `use mpi`), Open MPI or MPICH:
 *
 *     mpicc -O2 -shared -fPIC -o trace.so bench/trace.c -ldl
 *     COLLECTIVE_TRACE=PREFIX LD_PRELOAD=trace.so mpirun ...
 *
 * Every rank writes PREFIX.RANK, which bench/traces.py reads. Lines:
 *
 *     world ID RANK...         MPI_COMM_WORLD, or another communicator with its ranks of MPI_COMM_WORLD,
 *     comm ID RANK...          before the first call on it
 *     free ID                  it is freed
 *     NAME ID ROOT OPERATOR TYPE SIZE ENTERED LEFT COMPUTED BYTES...
 *
 * TYPE is a predefined type of SIZE bytes, or "-". Seconds of entry and exit are those of a clock that all processes of
 * a machine share. COMPUTED is the processor's time of the thread since its collective before, without point-to-point
 * calls and new communicators, where ranks poll. BYTES are those of the message or vector; of one block, or of each
 * block where blocks may differ (received from each rank by MPI_Alltoallv and MPI_Alltoallw). Of gathers and scatters,
 * only the root's line has type and bytes. Calls on inter-communicators and of one rank alone, and nonblocking
 * collectives, are left out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Any argument of an MPI function: an int, a handle or an address. The ABIs of 64-bit machines pass all of them alike,
 * and a function does not see those that it does not have. */
typedef long word;
enum { ARGUMENTS = 13, NONE = -1 }; /* MPI_SENDRECV of Fortran has most */
typedef word function(word, word, word, word, word, word, word, word, word, word, word, word, word);

/* Where a collective has which argument. */
struct collective {
    const char *name;
    int count, type, operator, root, comm;
    enum { ONE, LIST, LIST_WITH_TYPES } counts;
    int only_root; /* tells counts and types */
};

static FILE *trace;
static _Thread_local int depth; /* a host's Fortran function may call its C function */
static _Thread_local double computing_since, computed;

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* The next function of this name: Rondo's, or the MPI library's, which Python may have loaded for one module alone. */
static function *next(const char *name) {
    static const char *const libraries[] = {
        "libmpi.so.40", "libmpi_mpifh.so.40", "libmpich.so.12", "libmpichfort.so.12"};
    void *found = dlsym(RTLD_NEXT, name);
    for (unsigned i = 0; !found && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library) found = dlsym(library, name);
    }
    if (found) return (function *)found;
    fprintf(stderr, "trace: there is no %s\n", name);
    abort();
}

static void open_trace(void) {
    int rank;
    char path[4096];
    const char *prefix = getenv("COLLECTIVE_TRACE");
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", prefix ? prefix : "trace", rank);
    trace = fopen(path, "w");
    if (trace) return;
    perror(path);
    abort();
}

__attribute__((destructor)) static void close_trace(void) {
    if (trace) fclose(trace);
    trace = NULL;
}

static int write_free(MPI_Comm comm, int key, void *id, void *unused) {
    (void)comm, (void)key, (void)unused;
    if (trace) fprintf(trace, "free %ld\n", (long)id);
    return MPI_SUCCESS;
}

/* The number of a communicator, counted from 1 by each rank; 0 if its calls are left out. */
static long number_of(MPI_Comm comm) {
    static int key = MPI_KEYVAL_INVALID;
    static long numbers;
    void *known;
    int found, inter, size;
    if (key == MPI_KEYVAL_INVALID) PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, write_free, &key, NULL);
    PMPI_Comm_get_attr(comm, key, &known, &found);
    if (found) return (long)known;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_size(comm, &size);
    if (inter || size == 1) return 0;

    MPI_Group group, world;
    int *local = malloc(2 * size * sizeof *local), *global = local + size;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < size; i++) local[i] = i;
    PMPI_Group_translate_ranks(group, size, local, world, global);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    flockfile(trace);
    long number = ++numbers;
    fprintf(trace, "%s %ld", comm == MPI_COMM_WORLD ? "world" : "comm", number);
    for (int i = 0; i < size; i++) fprintf(trace, " %d", global[i]);
    fputc('\n', trace);
    funlockfile(trace);
    free(local);
    PMPI_Comm_set_attr(comm, key, (void *)number);
    return number;
}

static const char *name_of(MPI_Op operator) {
    const struct { MPI_Op operator; const char *name; } names[] = {
        {MPI_SUM, "sum"}, {MPI_PROD, "prod"}, {MPI_MAX, "max"}, {MPI_MIN, "min"}, {MPI_MAXLOC, "maxloc"},
        {MPI_MINLOC, "minloc"}, {MPI_LAND, "land"}, {MPI_LOR, "lor"}, {MPI_LXOR, "lxor"}, {MPI_BAND, "band"},
        {MPI_BOR, "bor"}, {MPI_BXOR, "bxor"}};
    int commutes;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (operator == names[i].operator) return names[i].name;
    PMPI_Op_commutative(operator, &commutes);
    return commutes ? "user" : "ordered";
}

static int size_of(MPI_Datatype type) {
    int size;
    PMPI_Type_size(type, &size);
    return size;
}

#define INT(I) (fortran ? *(const int *)argument[I] : (int)argument[I])
#define HANDLE(TYPE, FROM_FORTRAN, I) (fortran ? FROM_FORTRAN(*(const MPI_Fint *)argument[I]) : (TYPE)argument[I])
#define COMM(I) HANDLE(MPI_Comm, MPI_Comm_f2c, I)

static void write_call(const struct collective *c, int fortran, const word *argument, long id, double in, double out) {
    MPI_Comm comm = COMM(c->comm);
    int size, rank, root = c->root == NONE ? 0 : INT(c->root);
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    const char *operator = c->operator == NONE ? "-" : name_of(HANDLE(MPI_Op, MPI_Op_f2c, c->operator));
    flockfile(trace);
    fprintf(trace, "%s %ld %d %s ", c->name, id, root, operator);
    int knows = c->type != NONE && (!c->only_root || rank == root);
    char name[MPI_MAX_OBJECT_NAME] = "-";
    int unit = 0;
    if (knows && c->counts != LIST_WITH_TYPES) {
        MPI_Datatype type = HANDLE(MPI_Datatype, MPI_Type_f2c, c->type);
        int integers, addresses, types, combiner;
        PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
        if (combiner == MPI_COMBINER_NAMED) PMPI_Type_get_name(type, name, &integers);
        unit = size_of(type);
    }
    fprintf(trace, "%s %d %.7f %.7f %.7f", name, unit, in, out, computed);
    for (int i = 0; knows && i < (c->counts == ONE ? 1 : size); i++) {
        long count = c->counts == ONE ? INT(c->count) : ((const int *)argument[c->count])[i];
        if (c->counts == LIST_WITH_TYPES)
            unit = size_of(fortran ? MPI_Type_f2c(((const MPI_Fint *)argument[c->type])[i])
                                   : ((const MPI_Datatype *)argument[c->type])[i]);
        fprintf(trace, " %ld", count * unit);
    }
    fputc('\n', trace);
    funlockfile(trace);
}

/* A call of a collective or, if `c` is null, another one whose time is not the program's own. */
static word call(const struct collective *c, function *f, int fortran, const word *argument) {
#define CALL_IT f(argument[0], argument[1], argument[2], argument[3], argument[4], argument[5], argument[6], \
                  argument[7], argument[8], argument[9], argument[10], argument[11], argument[12])
    if (depth) return CALL_IT;
    depth++;
    computed += seconds(CLOCK_THREAD_CPUTIME_ID) - computing_since;
    if (c && !trace) open_trace();
    long id = c ? number_of(COMM(c->comm)) : 0;
    double in = seconds(CLOCK_MONOTONIC);
    word result = CALL_IT;
    double out = seconds(CLOCK_MONOTONIC);
    if (id) {
        write_call(c, fortran, argument, id, in, out);
        computed = 0;
    }
    computing_since = seconds(CLOCK_THREAD_CPUTIME_ID);
    depth--;
    return result;
}

#define PARAMETERS \
    word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l, word m
#define EXPORT(FUNCTION, NAME, COLLECTIVE, FORTRAN) \
    word FUNCTION(PARAMETERS) __asm__(NAME); \
    word FUNCTION(PARAMETERS) { \
        static function *real; \
        if (!real) real = next(NAME); \
        const word arguments[ARGUMENTS] = {a, b, c, d, e, f, g, h, i, j, k, l, m}; \
        return call(COLLECTIVE, real, FORTRAN, arguments); \
    }
#define COLLECTIVE(C, FORTRAN, ...) \
    static const struct collective about_##FORTRAN = {#FORTRAN, __VA_ARGS__}; \
    EXPORT(c_##FORTRAN, "MPI_" #C, &about_##FORTRAN, 0) \
    EXPORT(fortran_##FORTRAN, "mpi_" #FORTRAN "_", &about_##FORTRAN, 1)
#define OTHER(C, FORTRAN) \
    EXPORT(c_##FORTRAN, "MPI_" #C, NULL, 0) \
    EXPORT(fortran_##FORTRAN, "mpi_" #FORTRAN "_", NULL, 1)

COLLECTIVE(Barrier, barrier, NONE, NONE, NONE, NONE, 0, ONE, 0)
COLLECTIVE(Bcast, bcast, 1, 2, NONE, 3, 4, ONE, 0)
COLLECTIVE(Gather, gather, 4, 5, NONE, 6, 7, ONE, 1)
COLLECTIVE(Gatherv, gatherv, 4, 6, NONE, 7, 8, LIST, 1)
COLLECTIVE(Scatter, scatter, 1, 2, NONE, 6, 7, ONE, 1)
COLLECTIVE(Scatterv, scatterv, 1, 3, NONE, 7, 8, LIST, 1)
COLLECTIVE(Allgather, allgather, 4, 5, NONE, NONE, 6, ONE, 0)
COLLECTIVE(Allgatherv, allgatherv, 4, 6, NONE, NONE, 7, LIST, 0)
COLLECTIVE(Alltoall, alltoall, 4, 5, NONE, NONE, 6, ONE, 0)
COLLECTIVE(Alltoallv, alltoallv, 5, 7, NONE, NONE, 8, LIST, 0)
COLLECTIVE(Alltoallw, alltoallw, 5, 7, NONE, NONE, 8, LIST_WITH_TYPES, 0)
COLLECTIVE(Reduce, reduce, 2, 3, 4, 5, 6, ONE, 0)
COLLECTIVE(Allreduce, allreduce, 2, 3, 4, NONE, 5, ONE, 0)
COLLECTIVE(Reduce_scatter, reduce_scatter, 2, 3, 4, NONE, 5, LIST, 0)
COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, 2, 3, 4, NONE, 5, ONE, 0)
COLLECTIVE(Scan, scan, 2, 3, 4, NONE, 5, ONE, 0)
COLLECTIVE(Exscan, exscan, 2, 3, 4, NONE, 5, ONE, 0)

OTHER(Send, send) OTHER(Ssend, ssend) OTHER(Rsend, rsend) OTHER(Recv, recv) OTHER(Sendrecv, sendrecv)
OTHER(Sendrecv_replace, sendrecv_replace) OTHER(Probe, probe) OTHER(Iprobe, iprobe) OTHER(Wait, wait)
OTHER(Waitall, waitall) OTHER(Waitany, waitany) OTHER(Waitsome, waitsome) OTHER(Test, test) OTHER(Testall, testall)
OTHER(Testany, testany) OTHER(Testsome, testsome) OTHER(Win_fence, win_fence) OTHER(Comm_dup, comm_dup)
OTHER(Comm_split, comm_split) OTHER(Comm_split_type, comm_split_type) OTHER(Comm_create, comm_create)
OTHER(Comm_create_group, comm_create_group) OTHER(Cart_create, cart_create) OTHER(Cart_sub, cart_sub)
OTHER(Dist_graph_create_adjacent, dist_graph_create_adjacent) OTHER(Comm_free, comm_free)

/* Ranks leave MPI_Init together: what they computed before does not count. */
#define INIT(FUNCTION, NAME) \
    word FUNCTION(PARAMETERS) __asm__(NAME); \
    word FUNCTION(PARAMETERS) { \
        word result = next(NAME)(a, b, c, d, e, f, g, h, i, j, k, l, m); \
        computing_since = seconds(CLOCK_THREAD_CPUTIME_ID); \
        computed = 0; \
        return result; \
    }
INIT(c_init, "MPI_Init") INIT(c_init_thread, "MPI_Init_thread")
INIT(fortran_init, "mpi_init_") INIT(fortran_init_thread, "mpi_init_thread_")
