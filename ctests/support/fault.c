/* Preloaded behind Rondo: the host's functions as Rondo finds them, one call of which fails on request, and an account
 * of what Rondo made and freed. The program calls MPI_ names, and Rondo PMPI_ names, so only Rondo's calls come through
 * here.
 *
 *   fault_arm(n)       the n-th call from now on fails; 0: none does
 *   fault_calls()      calls since then
 *   fault_struck()     the name of the function that failed since then, or NULL
 *   fault_held(what)   how many of "requests", "communicators", "types", "groups" or "handlers" Rondo has now
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS, COMMUNICATORS, TYPES, GROUPS, HANDLERS, KINDS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls, strike_at;
static const char *struck;
static long held[KINDS];

void fault_arm(long n) {
    pthread_mutex_lock(&lock);
    calls = 0;
    strike_at = n;
    struck = NULL;
    pthread_mutex_unlock(&lock);
}

long fault_calls(void) { return calls; }

const char *fault_struck(void) { return struck; }

long fault_held(const char *what) {
    static const char *const names[KINDS] = {"requests", "communicators", "types", "groups", "handlers"};
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(what, names[i])) return held[i];
    abort();
}

static int strikes(const char *name) {
    pthread_mutex_lock(&lock);
    int now = ++calls == strike_at;
    if (now) struck = name;
    pthread_mutex_unlock(&lock);
    if (now) fprintf(stderr, "fault: PMPI_%s fails\n", name);
    return now;
}

static void made(int kind, int rc, int many) {
    pthread_mutex_lock(&lock);
    if (rc == MPI_SUCCESS) held[kind] += many;
    pthread_mutex_unlock(&lock);
}

/* A function with its parameters and arguments, and what is to be noted behind it, where `rc` is its result. */
#define FUNCTION(name, parameters, arguments, then)                       \
    int PMPI_##name parameters {                                          \
        static int(*next) parameters;                                     \
        if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_" #name);     \
        if (strikes(#name)) return MPI_ERR_OTHER;                         \
        int rc = next arguments;                                          \
        then;                                                             \
        return rc;                                                        \
    }

/* How many of these types are to be freed: those that are not predefined. */
static int derived(int n, const MPI_Datatype *types) {
    int many = 0;
    for (int i = 0; i < n; i++) {
        int integers, addresses, inner, combiner;
        MPI_Type_get_envelope(types[i], &integers, &addresses, &inner, &combiner);
        many += combiner != MPI_COMBINER_NAMED;
    }
    return many;
}

#define NOTHING (void)0
#define SEND(name)                                                                                      \
    FUNCTION(name, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), \
             (b, n, t, to, tag, c, r), made(REQUESTS, rc, 1))

FUNCTION(Allreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c), NOTHING)
FUNCTION(Allgather, (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c),
         (a, n, t, b, m, u, c), NOTHING)
FUNCTION(Iallreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *r),
         (a, b, n, t, o, c, r), made(REQUESTS, rc, 1))
FUNCTION(Reduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
         (a, b, n, t, o, root, c), NOTHING)
SEND(Isend)
SEND(Issend)
FUNCTION(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),
         (b, n, t, from, tag, c, r), made(REQUESTS, rc, 1))
FUNCTION(Test, (MPI_Request * r, int *done, MPI_Status *s), (r, done, s), made(REQUESTS, rc, -!!*done))
FUNCTION(Cancel, (MPI_Request * r), (r), NOTHING)
FUNCTION(Test_cancelled, (const MPI_Status *s, int *yes), (s, yes), NOTHING)
FUNCTION(Waitany, (int n, MPI_Request *r, int *which, MPI_Status *s), (n, r, which, s),
         made(REQUESTS, rc, -(*which != MPI_UNDEFINED)))
FUNCTION(Testany, (int n, MPI_Request *r, int *which, int *done, MPI_Status *s), (n, r, which, done, s),
         made(REQUESTS, rc, -(*done && *which != MPI_UNDEFINED)))
FUNCTION(Iprobe, (int from, int tag, MPI_Comm c, int *found, MPI_Status *s), (from, tag, c, found, s), NOTHING)
FUNCTION(Sendrecv,
         (const void *a, int n, MPI_Datatype t, int to, int tag, void *b, int m, MPI_Datatype u, int from, int tag2,
          MPI_Comm c, MPI_Status *s),
         (a, n, t, to, tag, b, m, u, from, tag2, c, s), NOTHING)
FUNCTION(Get_count, (const MPI_Status *s, MPI_Datatype t, int *n), (s, t, n), NOTHING)
FUNCTION(Pack, (const void *a, int n, MPI_Datatype t, void *b, int m, int *at, MPI_Comm c), (a, n, t, b, m, at, c),
         NOTHING)
FUNCTION(Unpack, (const void *a, int m, int *at, void *b, int n, MPI_Datatype t, MPI_Comm c), (a, m, at, b, n, t, c),
         NOTHING)
FUNCTION(Reduce_local, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o), (a, b, n, t, o), NOTHING)
FUNCTION(Op_commutative, (MPI_Op o, int *yes), (o, yes), NOTHING)
FUNCTION(Comm_rank, (MPI_Comm c, int *r), (c, r), NOTHING)
FUNCTION(Comm_size, (MPI_Comm c, int *n), (c, n), NOTHING)
FUNCTION(Comm_test_inter, (MPI_Comm c, int *yes), (c, yes), NOTHING)
FUNCTION(Comm_compare, (MPI_Comm c, MPI_Comm d, int *how), (c, d, how), NOTHING)
FUNCTION(Comm_group, (MPI_Comm c, MPI_Group *g), (c, g), made(GROUPS, rc, 1))
FUNCTION(Group_translate_ranks, (MPI_Group g, int n, const int *a, MPI_Group h, int *b), (g, n, a, h, b), NOTHING)
FUNCTION(Group_free, (MPI_Group * g), (g), made(GROUPS, rc, -1))
/* That of this process alone, which Rondo makes of MPI_COMM_SELF when it first needs one and keeps: not counted. */
static MPI_Comm kept = MPI_COMM_NULL;

/* As a host that runs out of something on this rank, it fails when the ranks have talked about it. */
int PMPI_Comm_create(MPI_Comm c, MPI_Group g, MPI_Comm *d) {
    static int (*next)(MPI_Comm, MPI_Group, MPI_Comm *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Comm_create");
    int fails = strikes("Comm_create"), rc = next(c, g, d);
    if (fails && rc == MPI_SUCCESS) MPI_Comm_free(d);
    if (fails) return MPI_ERR_OTHER;
    if (c == MPI_COMM_SELF && kept == MPI_COMM_NULL && rc == MPI_SUCCESS)
        kept = *d;
    else
        made(COMMUNICATORS, rc, 1);
    return rc;
}
int PMPI_Comm_free(MPI_Comm *c) {
    static int (*next)(MPI_Comm *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Comm_free");
    if (strikes("Comm_free")) return MPI_ERR_OTHER;
    int is_kept = *c == kept, rc = next(c);
    if (is_kept && rc == MPI_SUCCESS)
        kept = MPI_COMM_NULL;
    else
        made(COMMUNICATORS, rc, -1);
    return rc;
}
FUNCTION(Comm_get_errhandler, (MPI_Comm c, MPI_Errhandler *e), (c, e), made(HANDLERS, rc, 1))
FUNCTION(Comm_set_errhandler, (MPI_Comm c, MPI_Errhandler e), (c, e), NOTHING)
FUNCTION(Errhandler_free, (MPI_Errhandler * e), (e), made(HANDLERS, rc, -1))
FUNCTION(Comm_call_errhandler, (MPI_Comm c, int code), (c, code), NOTHING)
FUNCTION(Comm_create_keyval, (MPI_Comm_copy_attr_function * f, MPI_Comm_delete_attr_function *g, int *key, void *extra),
         (f, g, key, extra), NOTHING)
FUNCTION(Comm_get_attr, (MPI_Comm c, int key, void *value, int *found), (c, key, value, found), NOTHING)
FUNCTION(Comm_set_attr, (MPI_Comm c, int key, void *value), (c, key, value), NOTHING)
FUNCTION(Comm_delete_attr, (MPI_Comm c, int key), (c, key), NOTHING)
FUNCTION(Type_create_keyval, (MPI_Type_copy_attr_function * f, MPI_Type_delete_attr_function *g, int *key, void *extra),
         (f, g, key, extra), NOTHING)
FUNCTION(Type_get_attr, (MPI_Datatype t, int key, void *value, int *found), (t, key, value, found), NOTHING)
FUNCTION(Type_set_attr, (MPI_Datatype t, int key, void *value), (t, key, value), NOTHING)
FUNCTION(Type_size_x, (MPI_Datatype t, MPI_Count *n), (t, n), NOTHING)
FUNCTION(Type_get_extent, (MPI_Datatype t, MPI_Aint *lb, MPI_Aint *n), (t, lb, n), NOTHING)
FUNCTION(Type_get_true_extent, (MPI_Datatype t, MPI_Aint *lb, MPI_Aint *n), (t, lb, n), NOTHING)
FUNCTION(Type_get_envelope, (MPI_Datatype t, int *i, int *a, int *d, int *how), (t, i, a, d, how), NOTHING)
FUNCTION(Type_get_contents, (MPI_Datatype t, int i, int a, int d, int *is, MPI_Aint *as, MPI_Datatype *ds),
         (t, i, a, d, is, as, ds), made(TYPES, rc, rc == MPI_SUCCESS ? derived(d, ds) : 0))
FUNCTION(Type_create_hindexed, (int n, const int *l, const MPI_Aint *at, MPI_Datatype t, MPI_Datatype *new),
         (n, l, at, t, new), made(TYPES, rc, 1))
FUNCTION(Type_commit, (MPI_Datatype * t), (t), NOTHING)
FUNCTION(Type_free, (MPI_Datatype * t), (t), made(TYPES, rc, -1))
FUNCTION(Error_class, (int code, int *class), (code, class), NOTHING)
FUNCTION(Get_processor_name, (char *name, int *n), (name, n), NOTHING)
FUNCTION(Initialized, (int *yes), (yes), NOTHING)
FUNCTION(Get_library_version, (char *text, int *n), (text, n), NOTHING)
