/* Rules give Rondo short reductions that the MPI library has by default. An operator that does not commute keeps the
 * order of ranks all the same, and one whose operands may not count twice gets each of them once. With the argument
 * "host" the bits of the MPI library are promised, so that sums of doubles are left to it whatever the rules say.
 */
#include "rondo_test.h"
#include "../../include/rondo.h"

enum { COUNT = 20 };

/* Maps x -> a x + b. */
typedef struct {
    unsigned a, b;
} map;

static map after(map first, map then) { return (map){first.a * then.a, first.b * then.a + then.b}; }

static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    map *left = in, *right = inout;
    for (int i = 0; i < *count; i++) right[i] = after(left[i], right[i]);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    long *left = in, *right = inout;
    for (int i = 0; i < *count; i++) right[i] += left[i];
}

static map operand(int rank, int i) { return (map){2u * (unsigned)(rank + i) + 3, (unsigned)(rank * 31 + i * 17 + 5)}; }

/* The maps of ranks 0 to `upto`, which is not among them. */
static map composed(int upto, int i) {
    map m = operand(0, i);
    for (int r = 1; r < upto; r++) m = after(m, operand(r, i));
    return m;
}

static int wrong_maps(const map *got, int count, int upto, int from) {
    int bad = 0;
    for (int i = 0; i < count; i++) {
        map want = composed(upto, from + i);
        bad += got[i].a != want.a || got[i].b != want.b;
    }
    return bad;
}

static void maps(MPI_Comm comm, MPI_Datatype type, MPI_Op op, const char *algorithm) {
    int p = test.ranks, me = test.rank, root = p - 1, counts[64];
    map *own = malloc(sizeof *own * (size_t)(COUNT * p)), *got = malloc(sizeof *got * (size_t)(COUNT * p));
    for (int i = 0; i < COUNT * p; i++) own[i] = operand(me, i);
    for (int r = 0; r < p; r++) counts[r] = COUNT;
    MPI_Allreduce(own, got, COUNT, type, op, comm);
    CHECK_IN(!wrong_maps(got, COUNT, p, 0), "allreduce by %s", algorithm);
    MPI_Reduce(own, got, COUNT, type, op, root, comm);
    if (me == root) CHECK_IN(!wrong_maps(got, COUNT, p, 0), "reduce by %s", algorithm);
    MPI_Reduce_scatter(own, got, counts, type, op, comm);
    CHECK_IN(!wrong_maps(got, COUNT, p, me * COUNT), "reduce_scatter by %s", algorithm);
    MPI_Reduce_scatter_block(own, got, COUNT, type, op, comm);
    CHECK_IN(!wrong_maps(got, COUNT, p, me * COUNT), "reduce_scatter_block by %s", algorithm);
    MPI_Scan(own, got, COUNT, type, op, comm);
    CHECK_IN(!wrong_maps(got, COUNT, me + 1, 0), "scan by %s", algorithm);
    MPI_Exscan(own, got, COUNT, type, op, comm);
    if (me > 0) CHECK_IN(!wrong_maps(got, COUNT, me, 0), "exscan by %s", algorithm);
    free(own), free(got);
}

static void sums(MPI_Comm comm, MPI_Op op, const char *algorithm) {
    long own[COUNT], got[COUNT], bad = 0;
    for (int i = 0; i < COUNT; i++) own[i] = test.rank + i;
    MPI_Allreduce(own, got, COUNT, MPI_LONG, op, comm);
    for (int i = 0; i < COUNT; i++) bad += got[i] != test.ranks * (test.ranks - 1L) / 2 + (long)i * test.ranks;
    CHECK_IN(bad == 0, "%ld sums by %s", bad, algorithm);
}

/* A communicator whose short reductions are an algorithm's, by rules. */
static MPI_Comm ruled(const char *allreduce, const char *reduce, const char *scatter, const char *scan) {
    static int (*give)(const char *);
    const char *of[][2] = {{"allreduce", allreduce}, {"reduce", reduce}, {"reduce_scatter", scatter},
                           {"reduce_scatter_block", scatter}, {"scan", scan}, {"exscan", scan}};
    char text[1000] = "{\"rules\": [", *end = text + strlen(text);
    for (int c = 0; c < 6; c++)
        end += sprintf(end, "%s{\"collective\": \"%s\", \"algorithm\": \"%s\"}", c ? ", " : "", of[c][0], of[c][1]);
    strcpy(end, "]}");
    if (test.expect) {
        give = (int (*)(const char *))dlsym(RTLD_DEFAULT, "rondo_rules");
        if (0) give = rondo_rules;
        CHECK(give(text) == 0);
    }
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

static void check_each_algorithm(void) {
    static const char *const all[][4] = {{"halving", "circulant", "halving", "doubling"},
                                         {"census", "binomial", "circulant", "pipelined"},
                                         {"dissemination", "two-tree", "ordered", "two-tree"},
                                         {"ring", "in-order", "halving", "in-order"},
                                         {"gather", "kary", "circulant", "doubling"}};
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Op composing, adding;
    MPI_Op_create(compose, 0, &composing);
    MPI_Op_create(add, 1, &adding);
    for (int a = 0; a < 5; a++) {
        MPI_Comm comm = ruled(all[a][0], all[a][1], all[a][2], all[a][3]);
        struct counts before = counts_of("allreduce");
        maps(comm, type, composing, all[a][0]);
        sums(comm, adding, all[a][0]);
        if (test.expect) CHECK(counts_of("allreduce").rondo == before.rondo + 2);
        MPI_Comm_free(&comm);
    }
    MPI_Op_free(&composing);
    MPI_Op_free(&adding);
    MPI_Type_free(&type);
}

static void check_promise(void) {
    MPI_Comm comm = ruled("halving", "circulant", "halving", "doubling");
    double own[COUNT] = {test.rank}, got[COUNT];
    struct counts before = counts_of("allreduce");
    MPI_Allreduce(own, got, COUNT, MPI_DOUBLE, MPI_SUM, comm);
    CHECK(got[0] == test.ranks * (test.ranks - 1) / 2);
    if (test.expect) CHECK(counts_of("allreduce").rondo == before.rondo);
    sums(comm, MPI_SUM, "halving");
    if (test.expect) CHECK(counts_of("allreduce").rondo == before.rondo + 1);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_rules");
    if (argc > 1 && !strcmp(argv[1], "host"))
        check_promise();
    else
        check_each_algorithm();
    return finish();
}
