/* Preloaded behind Rondo: makes a host that can use the memory of GPUs of any that cannot. Where a buffer is in the
 * memory of a stand-in's, the host gets the same bytes in the second mapping (gpu_memory.h). PMPI_Reduce_local is not
 * here: hosts cannot do that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

/* The buffer as the host may touch it. Which memory it is in shows where the data begin. */
static void *reach(const void *buffer, MPI_Aint offset) {
    static ptrdiff_t (*distance)(const void *);
    if (!distance) *(void **)&distance = dlsym(RTLD_DEFAULT, "gpu_distance");
    if (!distance || buffer == MPI_IN_PLACE) return (void *)buffer;
    return (char *)buffer + distance((const char *)buffer + offset);
}

static void *of_type(const void *buffer, MPI_Datatype type) {
    MPI_Aint lower = 0, extent = 0;
    if (buffer != NULL && reach(buffer, 0) != buffer) return reach(buffer, 0);
    if (type == MPI_DATATYPE_NULL || buffer == MPI_IN_PLACE) return (void *)buffer;
    PMPI_Type_get_true_extent(type, &lower, &extent);
    return reach(buffer, lower);
}

/* The same for blocks at displacements, of types of their own or of the first one. */
static void *of_blocks(const void *buffer, const int *counts, const int *displs, const MPI_Datatype *types, int each,
                       MPI_Comm comm) {
    int p;
    if (buffer == MPI_IN_PLACE || counts == NULL) return (void *)buffer;
    PMPI_Comm_size(comm, &p);
    for (int r = 0; r < p; r++) {
        MPI_Aint lower, extent;
        if (counts[r] == 0) continue;
        PMPI_Type_get_extent(types[each ? r : 0], &lower, &extent);
        MPI_Aint at = each ? displs[r] : displs[r] * extent;
        PMPI_Type_get_true_extent(types[each ? r : 0], &lower, &extent);
        return reach(buffer, at + lower);
    }
    return (void *)buffer;
}

#define NEXT(name, ...)                  \
    static int (*next)(__VA_ARGS__);     \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_" #name)

typedef MPI_Datatype T;
typedef MPI_Comm C;
typedef MPI_Request *R;

int PMPI_Isend(const void *b, int n, T t, int to, int tag, C c, R r) {
    NEXT(Isend, const void *, int, T, int, int, C, R);
    return next(of_type(b, t), n, t, to, tag, c, r);
}

int PMPI_Issend(const void *b, int n, T t, int to, int tag, C c, R r) {
    NEXT(Issend, const void *, int, T, int, int, C, R);
    return next(of_type(b, t), n, t, to, tag, c, r);
}

int PMPI_Irecv(void *b, int n, T t, int from, int tag, C c, R r) {
    NEXT(Irecv, void *, int, T, int, int, C, R);
    return next(of_type(b, t), n, t, from, tag, c, r);
}

int PMPI_Sendrecv(const void *b, int n, T t, int to, int tag, void *d, int m, T u, int from, int tag2, C c,
                  MPI_Status *s) {
    NEXT(Sendrecv, const void *, int, T, int, int, void *, int, T, int, int, C, MPI_Status *);
    return next(of_type(b, t), n, t, to, tag, of_type(d, u), m, u, from, tag2, c, s);
}

int PMPI_Pack(const void *b, int n, T t, void *d, int m, int *at, C c) {
    NEXT(Pack, const void *, int, T, void *, int, int *, C);
    return next(of_type(b, t), n, t, reach(d, 0), m, at, c);
}

int PMPI_Unpack(const void *b, int n, int *at, void *d, int m, T t, C c) {
    NEXT(Unpack, const void *, int, int *, void *, int, T, C);
    return next(reach(b, 0), n, at, of_type(d, t), m, t, c);
}

int PMPI_Bcast(void *b, int n, T t, int root, C c) {
    NEXT(Bcast, void *, int, T, int, C);
    return next(of_type(b, t), n, t, root, c);
}

int PMPI_Allgather(const void *b, int n, T t, void *d, int m, T u, C c) {
    NEXT(Allgather, const void *, int, T, void *, int, T, C);
    return next(of_type(b, t), n, t, of_type(d, u), m, u, c);
}

int PMPI_Allgatherv(const void *b, int n, T t, void *d, const int *m, const int *at, T u, C c) {
    NEXT(Allgatherv, const void *, int, T, void *, const int *, const int *, T, C);
    return next(of_type(b, t), n, t, of_blocks(d, m, at, &u, 0, c), m, at, u, c);
}

/* What is significant at the root only may be anything elsewhere. */
static int is_root(int root, MPI_Comm comm) {
    int me;
    PMPI_Comm_rank(comm, &me);
    return me == root;
}

int PMPI_Gather(const void *b, int n, T t, void *d, int m, T u, int root, C c) {
    NEXT(Gather, const void *, int, T, void *, int, T, int, C);
    if (is_root(root, c)) d = of_type(d, u);
    return next(b == MPI_IN_PLACE ? b : of_type(b, t), n, t, d, m, u, root, c);
}

int PMPI_Gatherv(const void *b, int n, T t, void *d, const int *m, const int *at, T u, int root, C c) {
    NEXT(Gatherv, const void *, int, T, void *, const int *, const int *, T, int, C);
    if (is_root(root, c)) d = of_blocks(d, m, at, &u, 0, c);
    return next(b == MPI_IN_PLACE ? b : of_type(b, t), n, t, d, m, at, u, root, c);
}

int PMPI_Scatter(const void *b, int n, T t, void *d, int m, T u, int root, C c) {
    NEXT(Scatter, const void *, int, T, void *, int, T, int, C);
    if (is_root(root, c)) b = of_type(b, t);
    return next(b, n, t, d == MPI_IN_PLACE ? d : of_type(d, u), m, u, root, c);
}

int PMPI_Scatterv(const void *b, const int *n, const int *at, T t, void *d, int m, T u, int root, C c) {
    NEXT(Scatterv, const void *, const int *, const int *, T, void *, int, T, int, C);
    if (is_root(root, c)) b = of_blocks(b, n, at, &t, 0, c);
    return next(b, n, at, t, d == MPI_IN_PLACE ? d : of_type(d, u), m, u, root, c);
}

int PMPI_Alltoall(const void *b, int n, T t, void *d, int m, T u, C c) {
    NEXT(Alltoall, const void *, int, T, void *, int, T, C);
    return next(b == MPI_IN_PLACE ? b : of_type(b, t), n, t, of_type(d, u), m, u, c);
}

int PMPI_Alltoallv(const void *b, const int *n, const int *at, T t, void *d, const int *m, const int *at2, T u, C c) {
    NEXT(Alltoallv, const void *, const int *, const int *, T, void *, const int *, const int *, T, C);
    return next(of_blocks(b, n, at, &t, 0, c), n, at, t, of_blocks(d, m, at2, &u, 0, c), m, at2, u, c);
}

int PMPI_Alltoallw(const void *b, const int *n, const int *at, const T *t, void *d, const int *m, const int *at2,
                   const T *u, C c) {
    NEXT(Alltoallw, const void *, const int *, const int *, const T *, void *, const int *, const int *, const T *, C);
    return next(of_blocks(b, n, at, t, 1, c), n, at, t, of_blocks(d, m, at2, u, 1, c), m, at2, u, c);
}

int PMPI_Allreduce(const void *b, void *d, int n, T t, MPI_Op op, C c) {
    NEXT(Allreduce, const void *, void *, int, T, MPI_Op, C);
    return next(of_type(b, t), of_type(d, t), n, t, op, c);
}

int PMPI_Reduce(const void *b, void *d, int n, T t, MPI_Op op, int root, C c) {
    NEXT(Reduce, const void *, void *, int, T, MPI_Op, int, C);
    if (is_root(root, c)) d = of_type(d, t);
    return next(of_type(b, t), d, n, t, op, root, c);
}

int PMPI_Reduce_scatter_block(const void *b, void *d, int n, T t, MPI_Op op, C c) {
    NEXT(Reduce_scatter_block, const void *, void *, int, T, MPI_Op, C);
    return next(of_type(b, t), of_type(d, t), n, t, op, c);
}

int PMPI_Reduce_scatter(const void *b, void *d, const int *n, T t, MPI_Op op, C c) {
    NEXT(Reduce_scatter, const void *, void *, const int *, T, MPI_Op, C);
    return next(of_type(b, t), of_type(d, t), n, t, op, c);
}

int PMPI_Scan(const void *b, void *d, int n, T t, MPI_Op op, C c) {
    NEXT(Scan, const void *, void *, int, T, MPI_Op, C);
    return next(of_type(b, t), of_type(d, t), n, t, op, c);
}

int PMPI_Exscan(const void *b, void *d, int n, T t, MPI_Op op, C c) {
    NEXT(Exscan, const void *, void *, int, T, MPI_Op, C);
    return next(of_type(b, t), of_type(d, t), n, t, op, c);
}
