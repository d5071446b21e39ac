/* Reductions and scans of all sizes, in place and not, by an operator that commutes and by one that does not: every
 * element is right, and who carried the call out is who was named. Sums also by the names for large counts, where mpi.h
 * has them. */
#include "rondo_test.h"

/* Maps x -> a x + b of 32-bit integers: doing one after the other shows the order. */
typedef struct {
    unsigned a, b;
} map;

static map after(map first, map then) {
    map both = {first.a * then.a, first.b * then.a + then.b};
    return both;
}

static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    map *left = in, *right = inout;
    for (int i = 0; i < *count; i++) right[i] = after(left[i], right[i]);
}

static map operand(int rank, long i) {
    map m = {2u * (unsigned)(rank + i) + 3, (unsigned)(rank * 31 + i * 17 + 5)};
    return m;
}

/* The maps of ranks 0 to `upto`, which is not among them. */
static map composed(int upto, long i) {
    map m = operand(0, i);
    for (int r = 1; r < upto; r++) m = after(m, operand(r, i));
    return m;
}

static int same(map x, map y) { return x.a == y.a && x.b == y.b; }

static long number(int rank, long i) { return (rank + 1L) * 7 + i * 3 + 1; }

/* The sum of the numbers of ranks 0 to `upto`, which is not among them. */
static long sum(int upto, long i) {
    long s = 0;
    for (int r = 0; r < upto; r++) s += number(r, i);
    return s;
}

static MPI_Comm comm;
static int rank, ranks;

/* Are calls with data a certain algorithm's? Where only the order of ranks will do, another one of Rondo's may come. */
static void check_counted(struct counts before, const char *name, int commutes, long elements) {
    const char *expect = expected(name);
    if (!expect || strcmp(expect, "off") == 0) return;
    struct counts now = counts_of(name);
    CHECK_IN(now.rondo + now.host == before.rondo + before.host + 1, "%s of %ld", name, elements);
    if (!is_algorithm(expect) || ranks < 3 || elements == 0) return;
    CHECK_IN(now.rondo == before.rondo + 1, "%s of %ld, %d ranks", name, elements, ranks);
    if (commutes) CHECK_IN(now.named == before.named + 1, "%s of %ld, %d ranks", name, elements, ranks);
}

/* May the algorithm that is named for a collective carry out sums? Where operands count twice, another one does. */
static int may_sum(const char *name) {
    const char *expect = expected(name);
    return !expect || strcmp(expect, "dissemination") != 0;
}

/* MPICH 4.0 ends in a segmentation fault where another root than rank 0 has a longer vector in place. */
static int may_be_in_place(int root) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    return root == 0 || !strstr(version, "MPICH Version:\t4.0");
}

static void sums(long n, int in_place) {
    size_t bytes = (size_t)n * sizeof(long);
    long *own = malloc(bytes + 1), *got = malloc(bytes + 1);
    for (long i = 0; i < n; i++) own[i] = number(rank, i);

    memcpy(got, own, bytes);
    struct counts before = counts_of("allreduce");
    MPI_Allreduce(in_place ? MPI_IN_PLACE : own, got, (int)n, MPI_LONG, MPI_SUM, comm);
    check_counted(before, "allreduce", may_sum("allreduce"), n);
    for (long i = 0; i < n; i++) CHECK_IN(got[i] == sum(ranks, i), "allreduce of %ld, element %ld", n, i);

    /* Of operands that rise with the rank, and of those that fall. */
    for (long i = 0; i < n; i++) got[i] = i % 2 ? own[i] : -own[i];
    long *signs = malloc(bytes + 1);
    memcpy(signs, got, bytes);
    before = counts_of("allreduce");
    MPI_Allreduce(in_place ? MPI_IN_PLACE : signs, got, (int)n, MPI_LONG, MPI_MAX, comm);
    check_counted(before, "allreduce", 1, n);
    for (long i = 0; i < n; i++)
        CHECK_IN(got[i] == (i % 2 ? number(ranks - 1, i) : -number(0, i)), "maximum of %ld, element %ld", n, i);
    free(signs);

    for (int root = 0; root < ranks; root += ranks > 3 ? ranks / 2 : 1) {
        int here = rank == root;
        memcpy(got, own, bytes);
        before = counts_of("reduce");
        int there = here && in_place && may_be_in_place(root);
        MPI_Reduce(there ? MPI_IN_PLACE : own, here ? got : NULL, (int)n, MPI_LONG, MPI_SUM, root, comm);
        check_counted(before, "reduce", 1, n);
        for (long i = 0; here && i < n; i++)
            CHECK_IN(got[i] == sum(ranks, i), "reduce of %ld to %d, element %ld", n, root, i);
    }

    memcpy(got, own, bytes);
    before = counts_of("scan");
    MPI_Scan(in_place ? MPI_IN_PLACE : own, got, (int)n, MPI_LONG, MPI_SUM, comm);
    check_counted(before, "scan", 1, n);
    for (long i = 0; i < n; i++) CHECK_IN(got[i] == sum(rank + 1, i), "scan of %ld, element %ld", n, i);

    memcpy(got, own, bytes);
    before = counts_of("exscan");
    MPI_Exscan(in_place ? MPI_IN_PLACE : own, got, (int)n, MPI_LONG, MPI_SUM, comm);
    check_counted(before, "exscan", 1, n);
    /* Rank 0 gets nothing. */
    for (long i = 0; i < n; i++)
        CHECK_IN(got[i] == (rank ? sum(rank, i) : own[i]), "exscan of %ld, element %ld", n, i);
    free(own), free(got);
}

static void scattered(long n, int in_place) {
    int *counts = malloc((size_t)ranks * sizeof *counts), from = 0, total = 0;
    for (int r = 0; r < ranks; r++) {
        counts[r] = (int)(r % 3 == 0 ? 0 : n * (r % 4) / 2);
        if (r < rank) from += counts[r];
        total += counts[r];
    }
    long most = n * ranks > total ? n * ranks : total;
    size_t bytes = (size_t)most * sizeof(long);
    long *own = malloc(bytes + 1), *got = malloc(bytes + 1);
    for (long i = 0; i < most; i++) own[i] = number(rank, i);

    memcpy(got, own, bytes);
    struct counts before = counts_of("reduce_scatter_block");
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : own, got, (int)n, MPI_LONG, MPI_SUM, comm);
    check_counted(before, "reduce_scatter_block", 1, n);
    for (long i = 0; i < n; i++)
        CHECK_IN(got[i] == sum(ranks, rank * n + i), "reduce_scatter_block of %ld, element %ld", n, i);

    memcpy(got, own, bytes);
    before = counts_of("reduce_scatter");
    MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : own, got, counts, MPI_LONG, MPI_SUM, comm);
    check_counted(before, "reduce_scatter", 1, total);
    for (long i = 0; i < counts[rank]; i++)
        CHECK_IN(got[i] == sum(ranks, from + i), "reduce_scatter of %ld, element %ld", n, i);
    free(counts), free(own), free(got);
}

/* Doubles on a new communicator, whose short calls may go another way. Nothing behind the result is written. */
static void first_scattered(int n) {
    int last = rank == ranks - 1, counts[ranks];
    double own[n * ranks], got[n * ranks];
    MPI_Comm fresh;
    MPI_Comm_dup(comm, &fresh);
    for (int i = 0; i < n * ranks; i++) own[i] = (double)number(rank, i), got[i] = -1;
    MPI_Reduce_scatter_block(own, got, n, MPI_DOUBLE, MPI_SUM, fresh);
    for (int i = 0; i < n * ranks; i++) {
        double is = i < n ? (double)sum(ranks, rank * n + i) : -1;
        CHECK_IN(got[i] == is, "first scattered, element %d of %d", i, n);
    }
    MPI_Comm_free(&fresh);
    MPI_Comm_dup(comm, &fresh);
    for (int r = 0; r < ranks; r++) counts[r] = r == ranks - 1 ? n : 0;
    MPI_Reduce_scatter(own, last ? got : NULL, counts, MPI_DOUBLE, MPI_SUM, fresh);
    for (int i = 0; last && i < n; i++)
        CHECK_IN(got[i] == (double)sum(ranks, i), "first scattered to the last rank, element %d of %d", i, n);
    MPI_Comm_free(&fresh);
}

#if MPI_VERSION >= 4
/* Sums of n elements, or of so many for each rank, by the names for large counts. */
static void large(long n) {
    static const char *const names[] = {"allreduce", "reduce", "scan", "exscan", "reduce_scatter_block",
                                        "reduce_scatter"};
    MPI_Count *counts = malloc((size_t)ranks * sizeof *counts);
    size_t bytes = (size_t)(n * ranks) * sizeof(long);
    long *own = malloc(bytes + 1), *got = malloc(bytes + 1);
    for (int r = 0; r < ranks; r++) counts[r] = n;
    for (long i = 0; i < n * ranks; i++) own[i] = number(rank, i);
    for (int call = 0; call < 6; call++) {
        long from = call < 4 ? 0 : rank * n;
        int root = ranks - 1, upto = call == 2 ? rank + 1 : call == 3 ? rank : ranks;
        struct counts before = counts_of(names[call]);
        switch (call) {
        case 0: MPI_Allreduce_c(own, got, n, MPI_LONG, MPI_SUM, comm); break;
        case 1: MPI_Reduce_c(own, got, n, MPI_LONG, MPI_SUM, root, comm); break;
        case 2: MPI_Scan_c(own, got, n, MPI_LONG, MPI_SUM, comm); break;
        case 3: MPI_Exscan_c(own, got, n, MPI_LONG, MPI_SUM, comm); break;
        case 4: MPI_Reduce_scatter_block_c(own, got, n, MPI_LONG, MPI_SUM, comm); break;
        default: MPI_Reduce_scatter_c(own, got, counts, MPI_LONG, MPI_SUM, comm);
        }
        check_counted(before, names[call], call > 0 || may_sum("allreduce"), n);
        int gets = call == 1 ? rank == root : upto > 0;
        for (long i = 0; gets && i < n; i++)
            CHECK_IN(got[i] == sum(upto, from + i), "%s_c of %ld, element %ld", names[call], n, i);
    }
    free(counts), free(own), free(got);
}
#else
static void large(long n) { (void)n; }
#endif

static void maps(long n, int in_place, MPI_Datatype type, MPI_Op op) {
    size_t bytes = (size_t)n * sizeof(map);
    map *own = malloc(bytes * (size_t)ranks + 1), *got = malloc(bytes * (size_t)ranks + 1);
    for (long i = 0; i < n * ranks; i++) own[i] = operand(rank, i);

    memcpy(got, own, bytes);
    struct counts before = counts_of("allreduce");
    MPI_Allreduce(in_place ? MPI_IN_PLACE : own, got, (int)n, type, op, comm);
    check_counted(before, "allreduce", 0, n);
    for (long i = 0; i < n; i++) CHECK_IN(same(got[i], composed(ranks, i)), "maps, allreduce of %ld", n);

    int root = ranks - 1, here = rank == root;
    memcpy(got, own, bytes);
    before = counts_of("reduce");
    int there = here && in_place && may_be_in_place(root);
    MPI_Reduce(there ? MPI_IN_PLACE : own, got, (int)n, type, op, root, comm);
    check_counted(before, "reduce", 0, n);
    for (long i = 0; here && i < n; i++) CHECK_IN(same(got[i], composed(ranks, i)), "maps, reduce of %ld", n);

    memcpy(got, own, bytes * (size_t)ranks);
    before = counts_of("reduce_scatter_block");
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : own, got, (int)n, type, op, comm);
    check_counted(before, "reduce_scatter_block", 0, n);
    for (long i = 0; i < n; i++)
        CHECK_IN(same(got[i], composed(ranks, rank * n + i)), "maps, reduce_scatter_block of %ld", n);

    memcpy(got, own, bytes);
    before = counts_of("scan");
    MPI_Scan(in_place ? MPI_IN_PLACE : own, got, (int)n, type, op, comm);
    check_counted(before, "scan", 0, n);
    for (long i = 0; i < n; i++) CHECK_IN(same(got[i], composed(rank + 1, i)), "maps, scan of %ld", n);

    memcpy(got, own, bytes);
    before = counts_of("exscan");
    MPI_Exscan(in_place ? MPI_IN_PLACE : own, got, (int)n, type, op, comm);
    check_counted(before, "exscan", 0, n);
    for (long i = 0; rank && i < n; i++) CHECK_IN(same(got[i], composed(rank, i)), "maps, exscan of %ld", n);
    free(own), free(got);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_basic");
    MPI_Op op;
    MPI_Op_create(compose, 0, &op);
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    static const long sizes[] = {0, 1, 3, 17, 1000, 5000, 40000};
    /* All ranks, and those of odd numbers in the other order. */
    MPI_Comm odd;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, -test.rank, &odd);
    MPI_Comm comms[] = {MPI_COMM_WORLD, odd};
    for (int c = 0; c < 2; c++) {
        comm = comms[c];
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        first_scattered(1), first_scattered(20);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int in_place = 0; in_place < 2; in_place++) {
                sums(sizes[s], in_place);
                if (sizes[s] <= 5000) {
                    scattered(sizes[s], in_place);
                    maps(sizes[s], in_place, type, op);
                }
                if (sizes[s] <= 5000 && !in_place) large(sizes[s]);
                MPI_Barrier(comm);
            }
    }
    MPI_Comm_free(&odd);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    return finish();
}
