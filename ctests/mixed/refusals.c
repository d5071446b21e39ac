/* Arguments that an MPI library refuses, mostly one fault in a call, under MPI_ERRORS_RETURN: null buffers,
 * MPI_IN_PLACE where it means nothing, one buffer under two names, counts, arrays and types that are none, on either
 * side, also where there are no data. docs/errors.md says what each library makes of them. What a library does not
 * survive bare is left out.
 *
 * Prints one line per case, "class NAME c0 c1 ...", with the error class each rank got. The bare run and the run with
 * Rondo must print the same. No case hangs, and MPI_COMM_WORLD works on after each. The handler of MPI_COMM_SELF is
 * never called.
 *
 * Arguments: what is wrong, and then, perhaps, the name of a case, to run that one alone.
 *   bcast, allgather, rooted   faults that each rank makes
 *   root                       those of the root alone, which is the only one that looks: if it is refused, the
 *                              others do not make the call, or they might wait for the root
 *   large                      some of them in the functions with large counts
 *   inter                      on an inter-communicator
 *   overlooked                 what Open MPI does not look at: Rondo ends the job
 *   fatal                      errors end the job: of the root alone, while the others wait for it
 */
#include "agv.h"
#include "errors.h"
#include "gsv.h"

#ifdef OPEN_MPI
enum { OPEN = 1 };
#else
enum { OPEN = 0 };
#endif

enum { MAX_RANKS = 16, N = 10, ROOM = 100, MAX_CASES = 300 };

static double own[ROOM], all[MAX_RANKS * ROOM];
static int counts[MAX_RANKS], displs[MAX_RANKS], zeros[MAX_RANKS], negative[MAX_RANKS];
static const MPI_Datatype dbl = MPI_DOUBLE, none = MPI_DATATYPE_NULL;
/* Derived: two doubles in a row, two with a gap, none, one far from its address, and such that nobody committed. */
static MPI_Datatype packed, gaps, empty, displaced, uncommitted, uncommitted_gaps;

static const char *family, *only;
static int fatal;
static MPI_Comm between = MPI_COMM_NULL, myself;
static MPI_Comm comms[MAX_CASES];
static int cases;
static int is_idle; /* this rank does not make the calls */
static int asks;    /* nor do the others than rank 0, the root, if that is refused the same call by itself */

static void ask(int code) {
    int is_refused = code != MPI_SUCCESS;
    MPI_Bcast(&is_refused, 1, MPI_INT, 0, MPI_COMM_WORLD);
    is_idle = is_refused && test.rank != 0;
}

static MPI_Datatype pair(int blocks, int committed) {
    MPI_Datatype type;
    MPI_Type_vector(blocks, 2 / blocks, 3, MPI_DOUBLE, &type);
    if (committed) MPI_Type_commit(&type);
    return type;
}

static void make_types(void) {
    MPI_Aint at;
    const int one = 1;
    packed = pair(1, 1);
    gaps = pair(2, 1);
    uncommitted = pair(1, 0);
    uncommitted_gaps = pair(2, 0);
    MPI_Type_contiguous(0, MPI_DOUBLE, &empty);
    MPI_Type_commit(&empty);
    MPI_Get_address(own, &at);
    MPI_Type_create_hindexed(1, &one, &at, MPI_DOUBLE, &displaced);
    MPI_Type_commit(&displaced);
}

static void free_types(void) {
    MPI_Datatype *types[] = {&packed, &gaps, &empty, &displaced, &uncommitted, &uncommitted_gaps};
    for (int i = 0; i < 6; i++) MPI_Type_free(types[i]);
}

/* A communicator of the case's own: nothing may be expected of it afterwards, nor of one that gets its place. */
static int begin(const char *name, MPI_Comm *comm) {
    if (only && strcmp(only, name)) return 0;
    if (between == MPI_COMM_NULL) {
        MPI_Comm_dup(MPI_COMM_WORLD, comm);
        comms[cases++] = *comm;
        if (fatal) MPI_Comm_set_errhandler(*comm, MPI_ERRORS_ARE_FATAL);
    } else {
        *comm = between;
    }
    return 1;
}

static void report(const char *name, int code) {
    print_classes(name, code);
    if (!strcmp(family, "bcast"))
        bcast_bytes(10000, test.ranks - 1, MPI_COMM_WORLD);
    else if (!strcmp(family, "allgather"))
        allgather_bytes(1000, MPI_COMM_WORLD);
    else
        both_ways(1000, test.ranks / 2, MPI_COMM_WORLD);
}

#define CASE(name, call)                                                      \
    do {                                                                      \
        MPI_Comm comm = myself;                                               \
        if (asks) ask((call));                                                \
        if (begin(name, &comm)) report(name, is_idle ? MPI_SUCCESS : (call)); \
    } while (0)

static void broadcasts(void) {
    if (!OPEN) { /* which looks at no buffer, and crashes */
        CASE("null", MPI_Bcast(NULL, N, dbl, 0, comm));
        CASE("null_packed", MPI_Bcast(NULL, N, packed, 0, comm));
        CASE("null_gaps", MPI_Bcast(NULL, N, gaps, 0, comm));
    }
    if (OPEN) { /* the others crash */
        CASE("in_place", MPI_Bcast(MPI_IN_PLACE, N, dbl, 0, comm));
        CASE("in_place_gaps", MPI_Bcast(MPI_IN_PLACE, N, gaps, 0, comm));
        CASE("type_none_nothing", MPI_Bcast(own, 0, none, 0, comm));
    }
    CASE("null_empty_type", MPI_Bcast(NULL, N, empty, 0, comm));
    CASE("null_nothing", MPI_Bcast(NULL, 0, dbl, 0, comm));
    CASE("bottom", MPI_Bcast(MPI_BOTTOM, 1, displaced, 0, comm));
    CASE("in_place_nothing", MPI_Bcast(MPI_IN_PLACE, 0, dbl, 0, comm));
    CASE("uncommitted", MPI_Bcast(own, 1, uncommitted, 0, comm));
    CASE("uncommitted_gaps", MPI_Bcast(own, 1, uncommitted_gaps, 0, comm));
    CASE("uncommitted_nothing", MPI_Bcast(own, 0, uncommitted, 0, comm));
    CASE("count", MPI_Bcast(own, -1, gaps, 0, comm));
    CASE("root", MPI_Bcast(own, N, gaps, test.ranks, comm));
}

static void allgathers(void) {
    const int me = test.rank, p = test.ranks;
    double *mine = all + N * me;
    int but_last[MAX_RANKS];
    for (int r = 0; r < p; r++) but_last[r] = r < p - 1 ? N : 0;
    const int n = but_last[me];
#define V(send, n, type, recv, ns, to, recvtype) MPI_Allgatherv(send, n, type, recv, ns, to, recvtype, comm)
#define R(send, n, type, recv, m, recvtype) MPI_Allgather(send, n, type, recv, m, recvtype, comm)
    if (!OPEN) { /* which looks at no buffer, at no array of counts, and not whether it can receive a type */
        CASE("v_send_null", V(NULL, N, dbl, all, counts, displs, dbl));
        CASE("v_send_null_packed", V(NULL, N, packed, all, counts, displs, packed));
        CASE("v_send_null_gaps", V(NULL, N, gaps, all, counts, displs, gaps));
        CASE("v_recv_null", V(own, N, dbl, NULL, counts, displs, dbl));
        CASE("v_recv_null_packed", V(own, N, packed, NULL, counts, displs, packed));
        CASE("v_recv_null_gaps", V(own, N, gaps, NULL, counts, displs, gaps));
        CASE("v_in_place_recv_null", V(MPI_IN_PLACE, 0, none, NULL, counts, displs, dbl));
        CASE("send_null", R(NULL, N, dbl, all, N, dbl));
        CASE("send_null_packed", R(NULL, N, packed, all, N, packed));
        CASE("send_null_gaps", R(NULL, N, gaps, all, N, gaps));
        CASE("recv_null", R(own, N, dbl, NULL, N, dbl));
        CASE("recv_null_packed", R(own, N, packed, NULL, N, packed));
        CASE("recv_null_gaps", R(own, N, gaps, NULL, N, gaps));
        CASE("in_place_recv_null", R(MPI_IN_PLACE, 0, none, NULL, N, dbl));
        CASE("v_count", V(own, N, dbl, all, negative, displs, dbl));
        CASE("v_uncommitted_gaps", V(own, N, gaps, all, counts, displs, uncommitted_gaps));
        CASE("uncommitted_gaps", R(own, N, gaps, all, N, uncommitted_gaps));
    }
    if (OPEN) { /* the others crash */
        CASE("v_alias_other_type", V(mine, N / 2, packed, all, counts, displs, dbl));
        CASE("v_displs_null", V(own, N, dbl, all, counts, NULL, dbl));
        CASE("v_displs_null_nothing", V(own, 0, dbl, all, zeros, NULL, dbl));
        CASE("alias_other_type", R(mine, N / 2, packed, all, N, dbl));
    }
    CASE("v_recv_in_place", V(own, N, dbl, MPI_IN_PLACE, counts, displs, dbl));
    CASE("v_recv_in_place_gaps", V(own, N, gaps, MPI_IN_PLACE, counts, displs, gaps));
    CASE("v_both_in_place", V(MPI_IN_PLACE, 0, none, MPI_IN_PLACE, counts, displs, dbl));
    CASE("v_nothing_null", V(NULL, 0, dbl, NULL, zeros, zeros, dbl));
    CASE("v_nothing_in_place", V(own, 0, dbl, MPI_IN_PLACE, zeros, zeros, dbl));
    CASE("v_alias", V(mine, N, dbl, all, counts, displs, dbl));
    CASE("v_alias_packed", V(all + 2 * N * me, N, packed, all, counts, displs, packed));
    CASE("v_alias_by_size", V(all + 2 * N * me, N, gaps, all, counts, displs, gaps));
    CASE("v_alias_nothing", V(all, 0, dbl, all, zeros, zeros, dbl));
    CASE("v_send_count", V(own, -1, dbl, all, counts, displs, dbl));
    CASE("v_send_type_none", V(own, N, none, all, counts, displs, dbl));
    CASE("v_type_none", V(own, N, dbl, all, counts, displs, none));
    CASE("v_send_uncommitted", V(own, N / 2, uncommitted, all, counts, displs, dbl));
    CASE("v_send_uncommitted_nothing", V(own, 0, uncommitted, all, zeros, zeros, dbl));
    CASE("v_send_uncommitted_some", V(own, n / 2, uncommitted, all, but_last, displs, dbl));
    CASE("v_uncommitted", V(own, N, packed, all, counts, displs, uncommitted));
    CASE("v_uncommitted_nothing", V(own, 0, dbl, all, zeros, zeros, uncommitted));
    CASE("v_send_type_none_nothing", V(own, 0, none, all, zeros, zeros, dbl));
    CASE("v_type_none_nothing", V(own, 0, dbl, all, zeros, zeros, none));

    CASE("recv_in_place", R(own, N, dbl, MPI_IN_PLACE, N, dbl));
    CASE("recv_in_place_gaps", R(own, N, gaps, MPI_IN_PLACE, N, gaps));
    CASE("both_in_place", R(MPI_IN_PLACE, 0, none, MPI_IN_PLACE, N, dbl));
    CASE("nothing_null", R(NULL, 0, dbl, NULL, 0, dbl));
    CASE("nothing_in_place", R(own, 0, dbl, MPI_IN_PLACE, 0, dbl));
    CASE("alias", R(mine, N, dbl, all, N, dbl));
    CASE("alias_packed", R(all + 2 * N * me, N, packed, all, N, packed));
    CASE("alias_by_size", R(all + 2 * N * me, N, gaps, all, N, gaps));
    CASE("alias_nothing", R(all, 0, dbl, all, 0, dbl));
    CASE("count", R(own, N, dbl, all, -1, dbl));
    CASE("send_count", R(own, -1, dbl, all, N, dbl));
    CASE("send_type_none", R(own, N, none, all, N, dbl));
    CASE("type_none", R(own, N, dbl, all, N, none));
    CASE("send_uncommitted", R(own, N / 2, uncommitted, all, N, dbl));
    CASE("uncommitted", R(own, N, packed, all, N, uncommitted));
    CASE("send_uncommitted_nothing", R(own, 0, uncommitted, all, 0, dbl));
    CASE("uncommitted_nothing", R(own, 0, dbl, all, 0, uncommitted));
    CASE("send_type_none_nothing", R(own, 0, none, all, 0, dbl));
    CASE("type_none_nothing", R(own, 0, dbl, all, 0, none));
#undef V
#undef R
}

/* The four rooted ones with the same arguments: this rank's block, then all blocks. */
#define FOUR(name, n, mine, type, ns, m, to, blocks, alltype)                                                  \
    do {                                                                                                       \
        CASE("gatherv_" name, MPI_Gatherv(mine, n, type, blocks, ns, to, alltype, root, comm));                \
        CASE("scatterv_" name, MPI_Scatterv(blocks, ns, to, alltype, mine, n, type, root, comm));              \
        CASE("gather_" name, MPI_Gather(mine, n, type, blocks, m, alltype, root, comm));                       \
        CASE("scatter_" name, MPI_Scatter(blocks, m, alltype, mine, n, type, root, comm));                     \
    } while (0)

/* Those that gather. */
#define GATHERS(name, n, mine, type, ns, m, to, blocks, alltype)                                               \
    do {                                                                                                       \
        CASE("gatherv_" name, MPI_Gatherv(mine, n, type, blocks, ns, to, alltype, root, comm));                \
        CASE("gather_" name, MPI_Gather(mine, n, type, blocks, m, alltype, root, comm));                       \
    } while (0)

/* Those that scatter. */
#define SCATTERS(name, n, mine, type, ns, m, to, blocks, alltype)                                              \
    do {                                                                                                       \
        CASE("scatterv_" name, MPI_Scatterv(blocks, ns, to, alltype, mine, n, type, root, comm));              \
        CASE("scatter_" name, MPI_Scatter(blocks, m, alltype, mine, n, type, root, comm));                     \
    } while (0)

/* Of each rank. */
static void rooted(void) {
    const int root = test.ranks / 2;
    if (!OPEN) { /* which looks at no buffer, and not whether it can receive a type */
        FOUR("null", N, NULL, dbl, counts, N, displs, all, dbl);
        FOUR("null_packed", N, NULL, packed, counts, N, displs, all, packed);
        FOUR("null_gaps", N, NULL, gaps, counts, N, displs, all, gaps);
        SCATTERS("uncommitted_gaps", N, own, uncommitted_gaps, counts, N, displs, all, gaps);
    }
    if (OPEN) /* the others crash, or hang */
        FOUR("both_in_place", N, MPI_IN_PLACE, dbl, counts, N, displs, MPI_IN_PLACE, dbl);
    FOUR("null_nothing", 0, NULL, dbl, zeros, 0, zeros, NULL, dbl);
    FOUR("count", -1, own, dbl, counts, N, displs, all, dbl);
    FOUR("type_none", N, own, none, counts, N, displs, all, dbl);
    FOUR("type_none_nothing", 0, own, none, zeros, 0, zeros, all, dbl);
    FOUR("uncommitted", N, own, uncommitted, counts, N, displs, all, packed);
    GATHERS("uncommitted_gaps", N, own, uncommitted_gaps, counts, N, displs, all, gaps);
    FOUR("uncommitted_nothing", 0, own, uncommitted, zeros, 0, zeros, all, packed);
}

/* Of the root alone. */
static void root_alone(void) {
    int root = test.ranks / 2;
    const int here = test.rank == root;
    double *mine = here ? all + root * N : own, *mine_packed = here ? all + 2 * N * root : own;
    if (OPEN) { /* which carries them out; the others crash */
        FOUR("alias_other_type", N / 2, mine, packed, counts, N, displs, all, dbl);
        SCATTERS("alias", N, mine, dbl, counts, N, displs, all, dbl);
    }
    is_idle = !here;
    if (!OPEN) { /* which looks at no buffer, and not whether it can receive a type */
        GATHERS("all_null", N, own, dbl, counts, N, displs, NULL, dbl);
        GATHERS("all_null_packed", N, own, packed, counts, N, displs, NULL, packed);
        GATHERS("all_null_gaps", N, own, gaps, counts, N, displs, NULL, gaps);
        GATHERS("null_of_root", N, here ? NULL : own, dbl, counts, N, displs, all, dbl);
        GATHERS("null_of_root_gaps", N, here ? NULL : own, gaps, counts, N, displs, all, gaps);
        GATHERS("all_uncommitted", N, own, packed, counts, N, displs, all, uncommitted);
        GATHERS("all_uncommitted_gaps", N, own, gaps, counts, N, displs, all, uncommitted_gaps);
    }
    if (OPEN) { /* the others crash */
        CASE("gatherv_counts_null", MPI_Gatherv(own, N, dbl, all, NULL, displs, dbl, root, comm));
        CASE("gatherv_displs_null", MPI_Gatherv(own, N, dbl, all, counts, NULL, dbl, root, comm));
        CASE("gatherv_displs_null_nothing", MPI_Gatherv(own, 0, dbl, all, zeros, NULL, dbl, root, comm));
        CASE("scatterv_displs_null_nothing", MPI_Scatterv(all, zeros, NULL, dbl, own, 0, dbl, root, comm));
    }
    GATHERS("all_in_place", N, own, dbl, counts, N, displs, MPI_IN_PLACE, dbl);
    GATHERS("all_in_place_gaps", N, own, gaps, counts, N, displs, MPI_IN_PLACE, gaps);
    GATHERS("all_count", N, own, dbl, negative, -1, displs, all, dbl);
    GATHERS("all_type_none", N, own, dbl, counts, N, displs, all, none);
    is_idle = !here && !OPEN; /* which carries them out */
    GATHERS("alias", N, mine, dbl, counts, N, displs, all, dbl);
    GATHERS("alias_packed", N, mine_packed, packed, counts, N, displs, all, packed);
    GATHERS("alias_by_size", N, mine_packed, gaps, counts, N, displs, all, gaps);
    root = 0, asks = 1;
    FOUR("all_in_place_nothing", 0, own, dbl, zeros, 0, zeros, MPI_IN_PLACE, dbl);
    FOUR("all_type_none_nothing", 0, own, dbl, zeros, 0, zeros, all, none);
    FOUR("all_uncommitted_nothing", 0, own, dbl, zeros, 0, zeros, all, uncommitted);
    FOUR("alias_nothing", 0, test.rank == 0 ? all : own, dbl, zeros, 0, zeros, all, dbl);
    asks = is_idle = 0;
}

/* The functions with large counts, where there are any. */
static void large(void) {
#ifndef OPEN_MPI
    const int root = test.ranks / 2, here = test.rank == root;
    double *mine = all + N * test.rank, *of_root = here ? mine : own;
    MPI_Count many[MAX_RANKS], wrong[MAX_RANKS];
    MPI_Aint to[MAX_RANKS];
    for (int r = 0; r < test.ranks; r++) {
        many[r] = counts[r];
        wrong[r] = negative[r];
        to[r] = displs[r];
    }
    CASE("bcast_null", MPI_Bcast_c(NULL, N, gaps, 0, comm));
    CASE("bcast_count", MPI_Bcast_c(own, -1, gaps, 0, comm));
    CASE("allgatherv_null", MPI_Allgatherv_c(own, N, gaps, NULL, many, to, gaps, comm));
    CASE("allgatherv_count", MPI_Allgatherv_c(own, N, dbl, all, wrong, to, dbl, comm));
    CASE("allgatherv_alias", MPI_Allgatherv_c(mine, N, dbl, all, many, to, dbl, comm));
    CASE("allgather_null", MPI_Allgather_c(NULL, N, gaps, all, N, gaps, comm));
    CASE("allgather_alias", MPI_Allgather_c(mine, N, dbl, all, N, dbl, comm));
    CASE("gatherv_null", MPI_Gatherv_c(NULL, N, gaps, all, many, to, gaps, root, comm));
    is_idle = !here;
    CASE("gatherv_alias", MPI_Gatherv_c(of_root, N, dbl, all, many, to, dbl, root, comm));
    CASE("gather_alias", MPI_Gather_c(of_root, N, dbl, all, N, dbl, root, comm));
    is_idle = 0;
    CASE("scatterv_null", MPI_Scatterv_c(all, many, to, gaps, NULL, N, gaps, root, comm));
    CASE("scatter_null", MPI_Scatter_c(all, N, gaps, NULL, N, gaps, root, comm));
#endif
}

/* On an inter-communicator between the lower ranks and the others. */
static void inter(void) {
    MPI_Comm half;
    int side = test.rank >= test.ranks / 2, p = test.ranks;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : test.ranks / 2, 0, &between);
    MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    CASE("bcast_root", MPI_Bcast(own, N, dbl, p, comm));
    CASE("gather_root", MPI_Gather(own, N, dbl, all, N, dbl, p, comm));
    CASE("scatterv_root", MPI_Scatterv(all, counts, displs, dbl, own, N, dbl, p, comm));
    CASE("allgather_type_none", MPI_Allgather(own, N, dbl, all, N, none, comm));
    CASE("allgatherv_recv_in_place", MPI_Allgatherv(own, N, dbl, MPI_IN_PLACE, counts, displs, dbl, comm));
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static void overlooked(void) {
    const int root = test.ranks / 2;
    GATHERS("uncommitted", N, own, packed, counts, N, displs, all, uncommitted);
    CASE("scatter_uncommitted", MPI_Scatter(all, N, uncommitted, own, N, packed, root, comm));
    CASE("scatter_type_none", MPI_Scatter(all, N, none, own, N, dbl, root, comm));
}

static void fatal_ones(void) {
    const int root = test.ranks / 2, here = test.rank == root;
    fatal = 1;
    SCATTERS("null", N, own, gaps, counts, N, displs, NULL, gaps);
    SCATTERS("alias", N, here ? all + root * N : own, dbl, counts, N, displs, all, dbl);
}

int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*run)(void);
    } families[] = {{"bcast", broadcasts}, {"allgather", allgathers}, {"rooted", rooted},
                    {"root", root_alone},  {"large", large},          {"inter", inter},
                    {"fatal", fatal_ones}, {"overlooked", overlooked}};
    start(&argc, &argv, "refusals");
    for (int r = 0; r < test.ranks; r++) {
        counts[r] = negative[r] = N;
        displs[r] = r * N;
    }
    negative[test.ranks - 1] = -1;
    family = argc > 1 ? argv[1] : "";
    only = argc > 2 ? argv[2] : NULL;
    MPI_Errhandler counting;
    MPI_Comm_create_errhandler(handler, &counting);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_SELF, &myself);
    MPI_Comm_set_errhandler(myself, MPI_ERRORS_RETURN);
    make_types();
    for (int i = 0; i < 8; i++)
        if (!strcmp(family, families[i].name)) families[i].run();
    free_types();
    for (int i = 0; i < cases; i++) MPI_Comm_free(&comms[i]);
    MPI_Comm_free(&myself);
    CHECK(handled == 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&counting);
    return finish();
}
