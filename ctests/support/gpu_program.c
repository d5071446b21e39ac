/* Preloaded before Rondo: makes a program with its buffers in the memory of a GPU of any that has none. Collectives get
 * copies of their buffers in the memory of a stand-in for a driver (gpu_memory.h), and the program what comes out. What
 * is sent must stay as it was.
 *
 *   GPU_DRIVER=FILE   the stand-in, loaded before the call number GPU_AFTER (0) on the ranks of MPI_COMM_WORLD that
 *                     GPU_RANKS names: "all", "odd", "last". Without it the stand-in is what the program loads.
 *
 * Buffers at MPI_BOTTOM are moved with all that lies between their data, unless that is much.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *(*allocate)(size_t);
static void (*give_back)(void);
static ptrdiff_t (*distance)(const void *);

static void load(void) {
    static int calls;
    const char *driver = getenv("GPU_DRIVER"), *after = getenv("GPU_AFTER"), *ranks = getenv("GPU_RANKS");
    int me, p;
    if (driver && calls++ == (after ? atoi(after) : 0)) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &me);
        PMPI_Comm_size(MPI_COMM_WORLD, &p);
        int odd = ranks && !strcmp(ranks, "odd"), last = ranks && !strcmp(ranks, "last");
        if ((!odd || me % 2) && (!last || me == p - 1) && !dlopen(driver, RTLD_NOW | RTLD_GLOBAL)) {
            fprintf(stderr, "%s\n", dlerror());
            abort();
        }
    }
    if (allocate) return;
    *(void **)&distance = dlsym(RTLD_DEFAULT, "gpu_distance");
    *(void **)&give_back = dlsym(RTLD_DEFAULT, "gpu_free");
    *(void **)&allocate = dlsym(RTLD_DEFAULT, "gpu_allocate");
}

/* Bytes of a buffer, relative to its address. */
struct span {
    MPI_Aint from, until;
};

static struct span none(void) {
    struct span s = {0, 0};
    return s;
}

static struct span and(struct span s, long n, MPI_Aint at, MPI_Datatype type) {
    MPI_Aint lower, extent, true_lower, true_extent;
    if (n <= 0 || type == MPI_DATATYPE_NULL) return s;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    MPI_Aint last = (n - 1) * extent, from = at + true_lower + (last < 0 ? last : 0);
    MPI_Aint until = at + true_lower + true_extent + (last > 0 ? last : 0);
    if (s.from == s.until) return (struct span){from, until};
    if (from < s.from) s.from = from;
    if (until > s.until) s.until = until;
    return s;
}

static struct span elements(long n, MPI_Datatype type) { return and(none(), n, 0, type); }

static int size_of(MPI_Comm comm) {
    int inter, p;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &p);
    else
        PMPI_Comm_size(comm, &p);
    return p;
}

/* Blocks at displacements, in extents of a type. */
static struct span blocks(const int *counts, const int *displs, MPI_Datatype type, MPI_Comm comm) {
    struct span s = none();
    MPI_Aint lower, extent;
    int p = size_of(comm);
    PMPI_Type_get_extent(type, &lower, &extent);
    for (int r = 0; r < p; r++) s = and(s, counts[r], displs[r] * extent, type);
    return s;
}

static struct span typed_blocks(const int *counts, const int *displs, const MPI_Datatype *types, MPI_Comm comm) {
    struct span s = none();
    int p = size_of(comm);
    for (int r = 0; r < p; r++) s = and(s, counts[r], displs[r], types[r]);
    return s;
}

/* The buffers of the call under way. */
static struct moved {
    unsigned char *here, *there;
    size_t bytes;
    int received;
} moved[2];
static int moves;

enum { SENT, RECEIVED };

/* A buffer in the GPU's memory in place of this one. */
static void *move(const void *buffer, struct span s, int received) {
    size_t bytes = (size_t)(s.until - s.from);
    if (!allocate || buffer == MPI_IN_PLACE || bytes == 0 || (buffer == MPI_BOTTOM && bytes > 1 << 20))
        return (void *)buffer;
    struct moved *m = &moved[moves++];
    m->here = (unsigned char *)buffer + s.from;
    m->there = allocate(bytes);
    m->bytes = bytes;
    m->received = received;
    memcpy(m->there + distance(m->there), m->here, bytes);
    return m->there - s.from;
}

/* The call is over. */
static int done(int code) {
    while (moves > 0) {
        struct moved *m = &moved[--moves];
        unsigned char *there = m->there + distance(m->there);
        if (m->received) {
            memcpy(m->here, there, m->bytes);
        } else if (memcmp(m->here, there, m->bytes) != 0) {
            fprintf(stderr, "what was sent was changed\n");
            abort();
        }
    }
    if (give_back) give_back();
    return code;
}

static int is_root(int root, MPI_Comm comm) {
    int inter, me;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &me);
    return inter ? root == MPI_ROOT : me == root;
}

#define NEXT(name, ...)                                                        \
    static int (*next)(__VA_ARGS__);                                           \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "MPI_" #name);               \
    load()

typedef MPI_Datatype T;
typedef MPI_Comm C;

int MPI_Bcast(void *b, int n, T t, int root, C c) {
    NEXT(Bcast, void *, int, T, int, C);
    return done(next(move(b, elements(n, t), RECEIVED), n, t, root, c));
}

int MPI_Allgather(const void *b, int n, T t, void *d, int m, T u, C c) {
    NEXT(Allgather, const void *, int, T, void *, int, T, C);
    if (b != MPI_IN_PLACE) b = move(b, elements(n, t), SENT);
    d = move(d, elements((long)m * size_of(c), u), RECEIVED);
    return done(next(b, n, t, d, m, u, c));
}

int MPI_Allgatherv(const void *b, int n, T t, void *d, const int *m, const int *at, T u, C c) {
    NEXT(Allgatherv, const void *, int, T, void *, const int *, const int *, T, C);
    if (b != MPI_IN_PLACE) b = move(b, elements(n, t), SENT);
    return done(next(b, n, t, move(d, blocks(m, at, u, c), RECEIVED), m, at, u, c));
}

int MPI_Gather(const void *b, int n, T t, void *d, int m, T u, int root, C c) {
    NEXT(Gather, const void *, int, T, void *, int, T, int, C);
    if (b != MPI_IN_PLACE && root != MPI_PROC_NULL) b = move(b, elements(n, t), SENT);
    if (is_root(root, c)) d = move(d, elements((long)m * size_of(c), u), RECEIVED);
    return done(next(b, n, t, d, m, u, root, c));
}

int MPI_Gatherv(const void *b, int n, T t, void *d, const int *m, const int *at, T u, int root, C c) {
    NEXT(Gatherv, const void *, int, T, void *, const int *, const int *, T, int, C);
    if (b != MPI_IN_PLACE) b = move(b, elements(n, t), SENT);
    if (is_root(root, c)) d = move(d, blocks(m, at, u, c), RECEIVED);
    return done(next(b, n, t, d, m, at, u, root, c));
}

int MPI_Scatter(const void *b, int n, T t, void *d, int m, T u, int root, C c) {
    NEXT(Scatter, const void *, int, T, void *, int, T, int, C);
    if (is_root(root, c)) b = move(b, elements((long)n * size_of(c), t), SENT);
    if (d != MPI_IN_PLACE) d = move(d, elements(m, u), RECEIVED);
    return done(next(b, n, t, d, m, u, root, c));
}

int MPI_Scatterv(const void *b, const int *n, const int *at, T t, void *d, int m, T u, int root, C c) {
    NEXT(Scatterv, const void *, const int *, const int *, T, void *, int, T, int, C);
    if (is_root(root, c)) b = move(b, blocks(n, at, t, c), SENT);
    if (d != MPI_IN_PLACE) d = move(d, elements(m, u), RECEIVED);
    return done(next(b, n, at, t, d, m, u, root, c));
}

int MPI_Alltoall(const void *b, int n, T t, void *d, int m, T u, C c) {
    NEXT(Alltoall, const void *, int, T, void *, int, T, C);
    if (b != MPI_IN_PLACE) b = move(b, elements((long)n * size_of(c), t), SENT);
    d = move(d, elements((long)m * size_of(c), u), RECEIVED);
    return done(next(b, n, t, d, m, u, c));
}

int MPI_Alltoallv(const void *b, const int *n, const int *at, T t, void *d, const int *m, const int *at2, T u, C c) {
    NEXT(Alltoallv, const void *, const int *, const int *, T, void *, const int *, const int *, T, C);
    if (b != MPI_IN_PLACE) b = move(b, blocks(n, at, t, c), SENT);
    return done(next(b, n, at, t, move(d, blocks(m, at2, u, c), RECEIVED), m, at2, u, c));
}

int MPI_Alltoallw(const void *b, const int *n, const int *at, const T *t, void *d, const int *m, const int *at2,
                  const T *u, C c) {
    NEXT(Alltoallw, const void *, const int *, const int *, const T *, void *, const int *, const int *, const T *, C);
    if (b != MPI_IN_PLACE) b = move(b, typed_blocks(n, at, t, c), SENT);
    return done(next(b, n, at, t, move(d, typed_blocks(m, at2, u, c), RECEIVED), m, at2, u, c));
}

int MPI_Allreduce(const void *b, void *d, int n, T t, MPI_Op op, C c) {
    NEXT(Allreduce, const void *, void *, int, T, MPI_Op, C);
    b = move(b, elements(n, t), SENT);
    return done(next(b, move(d, elements(n, t), RECEIVED), n, t, op, c));
}

int MPI_Reduce(const void *b, void *d, int n, T t, MPI_Op op, int root, C c) {
    NEXT(Reduce, const void *, void *, int, T, MPI_Op, int, C);
    b = move(b, elements(n, t), SENT);
    if (is_root(root, c)) d = move(d, elements(n, t), RECEIVED);
    return done(next(b, d, n, t, op, root, c));
}

int MPI_Reduce_scatter_block(const void *b, void *d, int n, T t, MPI_Op op, C c) {
    NEXT(Reduce_scatter_block, const void *, void *, int, T, MPI_Op, C);
    long all = (long)n * size_of(c);
    int in_place = b == MPI_IN_PLACE;
    b = move(b, elements(all, t), SENT);
    return done(next(b, move(d, elements(in_place ? all : n, t), RECEIVED), n, t, op, c));
}

int MPI_Reduce_scatter(const void *b, void *d, const int *n, T t, MPI_Op op, C c) {
    NEXT(Reduce_scatter, const void *, void *, const int *, T, MPI_Op, C);
    long all = 0;
    int p = size_of(c), me, in_place = b == MPI_IN_PLACE;
    PMPI_Comm_rank(c, &me);
    for (int r = 0; r < p; r++) all += n[r];
    b = move(b, elements(all, t), SENT);
    return done(next(b, move(d, elements(in_place ? all : n[me], t), RECEIVED), n, t, op, c));
}

int MPI_Scan(const void *b, void *d, int n, T t, MPI_Op op, C c) {
    NEXT(Scan, const void *, void *, int, T, MPI_Op, C);
    b = move(b, elements(n, t), SENT);
    return done(next(b, move(d, elements(n, t), RECEIVED), n, t, op, c));
}

int MPI_Exscan(const void *b, void *d, int n, T t, MPI_Op op, C c) {
    NEXT(Exscan, const void *, void *, int, T, MPI_Op, C);
    b = move(b, elements(n, t), SENT);
    return done(next(b, move(d, elements(n, t), RECEIVED), n, t, op, c));
}
