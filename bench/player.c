/* Performs a record of a program's collectives (bench/replay makes it and says what its lines are) in the simulator,
 * whose clock is the same on all ranks.
 *
 *     player RECORD
 *
 * A line for each call, in the record's order: collective, ranks, bytes (of the message, vector or block; the mean of
 * unlike blocks), microseconds from the entry of the last rank until the exit of the last rank. The first line is
 * MPI_Init, the last one MPI_Finalize. Between two calls, a rank sleeps as long as it computed in the program. */
#include <mpi.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 32 };

struct call {
    char name[NAME_MAX_BYTES], operator[NAME_MAX_BYTES], type[NAME_MAX_BYTES];
    int comm, root;
    int *counts, *waits;
};

static int rank, ranks;
static MPI_Comm *comms;
static int **members, *sizes, most_comms;
static FILE *record;
static void *sent, *received;

static void fail(const char *what) {
    fprintf(stderr, "player: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* The numbers up to the next blank or the end of the line, with commas between them; "-" are none. */
static int *read_numbers(int *many) {
    static int *numbers, most;
    int c;
    *many = 0;
    while ((c = getc(record)) == ' ') continue;
    if (c == '-') return numbers;
    ungetc(c, record);
    do {
        if (*many == most) numbers = realloc(numbers, (most = 2 * most + 64) * sizeof *numbers);
        if (fscanf(record, "%d", &numbers[(*many)++]) != 1) fail("the record is damaged");
    } while ((c = getc(record)) == ',');
    ungetc(c, record);
    return numbers;
}

static int *copy(const int *numbers, int many) {
    int *copied = malloc((many + 1) * sizeof *copied);
    if (many) memcpy(copied, numbers, many * sizeof *copied);
    return copied;
}

/* The place of this rank among the members of a communicator; -1 if it is none. */
static int place_in(int comm) {
    for (int i = 0; i < sizes[comm]; i++)
        if (members[comm][i] == rank) return i;
    return -1;
}

static void make_comm(int number) {
    if (number >= most_comms) {
        most_comms = 2 * number + 16;
        comms = realloc(comms, most_comms * sizeof *comms);
        members = realloc(members, most_comms * sizeof *members);
        sizes = realloc(sizes, most_comms * sizeof *sizes);
    }
    const int *numbers = read_numbers(&sizes[number]);
    members[number] = copy(numbers, sizes[number]);
    comms[number] = MPI_COMM_WORLD;
    if (number == 0 || place_in(number) < 0) return;
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, sizes[number], members[number], &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, number, &comms[number]);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
}

/* An operator of the program's: what it computes makes no difference. */
static void join(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}

static MPI_Op operator_of(const char *name) {
    static MPI_Op user = MPI_OP_NULL, ordered = MPI_OP_NULL;
    const struct { const char *name; MPI_Op operator; } known[] = {
        {"sum", MPI_SUM}, {"prod", MPI_PROD}, {"max", MPI_MAX}, {"min", MPI_MIN}, {"maxloc", MPI_MAXLOC},
        {"minloc", MPI_MINLOC}, {"land", MPI_LAND}, {"lor", MPI_LOR}, {"lxor", MPI_LXOR}, {"band", MPI_BAND},
        {"bor", MPI_BOR}, {"bxor", MPI_BXOR}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) return known[i].operator;
    MPI_Op *own = strcmp(name, "user") == 0 ? &user : &ordered;
    if (*own == MPI_OP_NULL) MPI_Op_create(join, own == &user, own);
    return *own;
}

/* A type by its name, or so many bytes. */
static MPI_Datatype type_of(const char *name) {
    static MPI_Datatype made[4096];
    static char are_made[4096];
    const struct { const char *name; MPI_Datatype type; } known[] = {
        {"byte", MPI_BYTE}, {"int", MPI_INT}, {"long", MPI_LONG}, {"float", MPI_FLOAT}, {"double", MPI_DOUBLE},
        {"complex", MPI_C_FLOAT_COMPLEX}, {"dcomplex", MPI_C_DOUBLE_COMPLEX}, {"2int", MPI_2INT},
        {"double_int", MPI_DOUBLE_INT}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) return known[i].type;
    int size = atoi(name);
    if (size < 1 || size >= 4096) fail("unknown type");
    if (!are_made[size]) {
        MPI_Type_contiguous(size, MPI_BYTE, &made[size]);
        MPI_Type_commit(&made[size]);
        are_made[size] = 1;
    }
    return made[size];
}

static int sum_of(const int *counts, int many) {
    int sum = 0;
    for (int i = 0; i < many; i++) sum += counts[i];
    return sum;
}

/* Where each of the parts begins that lie one behind the other. */
static int *begins_of(const int *counts, int many) {
    int *begins = malloc(many * sizeof *begins);
    for (int i = 0, begin = 0; i < many; begin += counts[i++]) begins[i] = begin;
    return begins;
}

static void *memory(void **kept, size_t *size, size_t bytes) {
    if (*kept && *size >= bytes) return *kept;
    free(*kept);
    if (!(*kept = calloc(bytes + 1, 1))) fail("out of memory");
    *size = bytes;
    return *kept;
}

static void perform(const struct call *c) {
    static size_t sent_size, received_size;
    MPI_Comm comm = comms[c->comm];
    int p = sizes[c->comm], me = place_in(c->comm), root = c->root, n = c->counts[0];
    MPI_Datatype t = type_of(c->type);
    int is_exchange = strcmp(c->name, "alltoallv") == 0 || strcmp(c->name, "alltoallw") == 0;
    int is_list = is_exchange || strcmp(c->name, "reduce_scatter") == 0 || c->name[strlen(c->name) - 1] == 'v';
    /* What this rank takes from each and gives to each, in elements; where all have one count, that is one. */
    int parts = is_list ? p : 1;
    int *take = copy(is_exchange ? c->counts + me * p : c->counts, parts), *give = copy(take, parts);
    for (int i = 0; is_exchange && i < p; i++) give[i] = c->counts[i * p + me];
    int *take_at = begins_of(take, parts), *give_at = begins_of(give, parts);
    MPI_Datatype *types = malloc(p * sizeof *types);
    for (int i = 0; i < p; i++) types[i] = t;
    MPI_Aint low, extent;
    MPI_Type_get_extent(t, &low, &extent);
    int is_vector = strcmp(c->name, "bcast") == 0 || strcmp(c->name, "reduce") == 0 ||
        strcmp(c->name, "allreduce") == 0 || strstr(c->name, "scan");
    extent *= is_list || is_vector ? 1 : p;
    void *s = memory(&sent, &sent_size, sum_of(give, parts) * extent);
    void *r = memory(&received, &received_size, sum_of(take, parts) * extent);

#define CASE(NAME, CALL) else if (strcmp(c->name, NAME) == 0) CALL
    if (strcmp(c->name, "barrier") == 0) MPI_Barrier(comm);
    CASE("bcast", MPI_Bcast(r, n, t, root, comm));
    CASE("gather", MPI_Gather(s, n, t, r, n, t, root, comm));
    CASE("gatherv", MPI_Gatherv(s, give[me], t, r, take, take_at, t, root, comm));
    CASE("scatter", MPI_Scatter(s, n, t, r, n, t, root, comm));
    CASE("scatterv", MPI_Scatterv(s, give, give_at, t, r, take[me], t, root, comm));
    CASE("allgather", MPI_Allgather(s, n, t, r, n, t, comm));
    CASE("allgatherv", MPI_Allgatherv(s, give[me], t, r, take, take_at, t, comm));
    CASE("alltoall", MPI_Alltoall(s, n, t, r, n, t, comm));
    CASE("alltoallv", MPI_Alltoallv(s, give, give_at, t, r, take, take_at, t, comm));
    CASE("alltoallw", MPI_Alltoallw(s, give, give_at, types, r, take, take_at, types, comm));
    CASE("reduce", MPI_Reduce(s, r, n, t, operator_of(c->operator), root, comm));
    CASE("allreduce", MPI_Allreduce(s, r, n, t, operator_of(c->operator), comm));
    CASE("reduce_scatter", MPI_Reduce_scatter(s, r, take, t, operator_of(c->operator), comm));
    CASE("reduce_scatter_block", MPI_Reduce_scatter_block(s, r, n, t, operator_of(c->operator), comm));
    CASE("scan", MPI_Scan(s, r, n, t, operator_of(c->operator), comm));
    CASE("exscan", MPI_Exscan(s, r, n, t, operator_of(c->operator), comm));
    else fail("unknown collective");
    free(take), free(give), free(take_at), free(give_at), free(types);
}

int main(int argc, char **argv) {
    int calls = 0, most = 0, many;
    double *entered = NULL, *left = NULL, ready;
    char (*lines)[2 * NAME_MAX_BYTES] = NULL;
    struct call c;
    MPI_Init(&argc, &argv);
    ready = simgrid_get_clock();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2 || !(record = fopen(argv[1], "r"))) fail("usage: player RECORD");

    while (fscanf(record, "%31s %d", c.name, &c.comm) == 2) {
        if (strcmp(c.name, "comm") == 0) {
            make_comm(c.comm);
            continue;
        }
        int me = place_in(c.comm);
        if (strcmp(c.name, "free") == 0) {
            if (me >= 0) MPI_Comm_free(&comms[c.comm]);
            continue;
        }
        if (fscanf(record, "%d %31s %31s", &c.root, c.operator, c.type) != 3) fail("the record is damaged");
        const int *numbers = read_numbers(&many);
        int size;
        MPI_Type_size(type_of(c.type), &size);
        double bytes = many ? (double)sum_of(numbers, many) / many * size : 0;
        c.counts = copy(numbers, many);
        if (!many) c.counts[0] = 0;
        c.waits = copy(read_numbers(&many), sizes[c.comm]);
        if (calls == most) {
            most = 2 * most + 1024;
            entered = realloc(entered, most * sizeof *entered);
            left = realloc(left, most * sizeof *left);
            lines = realloc(lines, most * sizeof *lines);
        }
        snprintf(lines[calls], sizeof *lines, "%s,%d,%.0f", c.name, sizes[c.comm], bytes);
        entered[calls] = left[calls] = 0;
        if (me >= 0) {
            usleep(c.waits[me]);
            entered[calls] = simgrid_get_clock();
            perform(&c);
            left[calls] = simgrid_get_clock();
        }
        calls++;
        free(c.counts), free(c.waits);
    }

    /* The host's own functions, so that the calls above are all that there is of Rondo. */
    double *last_entered = malloc((calls + 1) * sizeof *last_entered), all_ready;
    double *last_left = malloc((calls + 1) * sizeof *last_left);
    PMPI_Reduce(&ready, &all_ready, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Reduce(entered, last_entered, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Reduce(left, last_left, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Barrier(MPI_COMM_WORLD);
    double end = simgrid_get_clock();
    MPI_Finalize();
    if (rank != 0) return 0;
    printf("init,%d,0,%.3f\n", ranks, all_ready * 1e6);
    for (int i = 0; i < calls; i++) printf("%s,%.3f\n", lines[i], (last_left[i] - last_entered[i]) * 1e6);
    printf("finalize,%d,0,%.3f\n", ranks, (simgrid_get_clock() - end) * 1e6);
    return 0;
}
