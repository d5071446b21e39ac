/* Times collectives of the program's MPI library, whatever is preloaded: what bench/against and bench/best run again
 * and again.
 *
 *     together [-p] [-g FIFO] [-w CALLS] [-r REPETITIONS] CASE:BYTES...
 *
 * With -p each rank stays on a core, rank after rank: on few cores each run would otherwise choose anew who shares one.
 * With -g a rank sleeps before each case until it reads a byte from FIFO, so that two runs can take turns case by case.
 * CALLS (0) come first where a case is named for the first time, and are not timed. CASE is
 *   * bcast, allgather, same (MPI_Allgatherv of equal parts) or one (one rank has all), BYTES being those that every
 *     rank has in the end; allreduce, reduce or reduce_scatter: sums of doubles, or of integers with "-int" behind the
 *     name, of vectors of BYTES; alltoall with BYTES for all blocks of a rank; gatherv and scatterv of BYTES of all
 *     ranks together, in equal parts; or barrier. A line for each: case, bytes, the least time of the slowest rank in
 *     microseconds, and the median.
 *   * "passed-" and one of these: calls of the program's (MPI_) and of the host's own function (PMPI_ in its library)
 *     in turns, BATCH of each in a row; the line has least and median of both, of a call.
 *   * dup or half, with a number in place of BYTES: a communicator of all ranks, or of every second one, is made, used
 *     for so many MPI_Allgather of 80 bytes and MPI_Allreduce of 8000 bytes of doubles, and freed.
 *
 * All ranks begin at a moment on which they agreed, if their clocks are the same (one machine, or nodes emulated on
 * one): behind a barrier over latency they would begin one after another, and short calls would look too fast.
 * Otherwise they begin behind two barriers, and the line is marked by '~'.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Clocks are the same if they differ by less than this, in seconds, behind a barrier. */
#define SAME_CLOCK 0.5
/* How often it is looked how long the ranks take to agree. */
#define LOOKS 9
/* Calls of a batch in turns: a switch between processes must not fall on one side alone. */
#define BATCH 10

#define USAGE "usage: together [-p] [-g FIFO] [-w CALLS] [-r REPETITIONS] CASE:BYTES..."

/* The functions that are timed: those that the program sees, and the host's own, which also agree on the start. */
struct library {
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
    int (*allgather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    int (*allgatherv)(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    int (*reduce_scatter)(const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*alltoall)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    int (*gatherv)(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, int, MPI_Comm);
    int (*scatterv)(const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
    int (*barrier)(MPI_Comm);
};
static struct library own = {MPI_Bcast, MPI_Allgather, MPI_Allgatherv, MPI_Allreduce, MPI_Reduce, MPI_Reduce_scatter,
                             MPI_Alltoall, MPI_Gatherv, MPI_Scatterv, MPI_Barrier};
static struct library host;

static int rank, ranks, same_clock;
static double ahead = 0.02; /* seconds from the agreement to the start */

static void fail(const char *what) {
    fprintf(stderr, "together: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static void find_host(void) {
    static const char *const files[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"};
    static const char *const names[] = {"Bcast", "Allgather", "Allgatherv", "Allreduce", "Reduce", "Reduce_scatter",
                                        "Alltoall", "Gatherv", "Scatterv", "Barrier"};
    void *file = NULL, *function;
    for (int i = 0; i < 3 && !file; i++) file = dlopen(files[i], RTLD_NOLOAD | RTLD_LAZY);
    if (!file) fail("the MPI library's file has no known name");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[32];
        snprintf(name, sizeof name, "PMPI_%s", names[i]);
        if (!(function = dlsym(file, name))) fail(name);
        memcpy((char *)&host + i * sizeof function, &function, sizeof function);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double slowest(double mine) {
    double most;
    host.allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* Begins a call; the time from which it counts. */
static double begin(void) {
    host.barrier(MPI_COMM_WORLD);
    if (!same_clock) {
        host.barrier(MPI_COMM_WORLD);
        return now();
    }
    double start = slowest(now()) + ahead, left;
    while ((left = start - now()) > 0)
        if (left > 3e-4) usleep((useconds_t)(left * 1e6 - 200));
        else sched_yield();
    return start;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Are the clocks the same, and how long does it take until all have agreed on the start? The median, because all calls
 * would wait as long as one rank was once kept from running. */
static void look_at_clocks(void) {
    host.barrier(MPI_COMM_WORLD);
    double time = now();
    same_clock = slowest(time) + slowest(-time) < SAME_CLOCK;
    double times[LOOKS];
    for (int i = -2; i < LOOKS; i++) {
        host.barrier(MPI_COMM_WORLD);
        time = now();
        slowest(time);
        time = slowest(now() - time);
        if (i >= 0) times[i] = time;
    }
    qsort(times, LOOKS, sizeof *times, by_value);
    ahead = 2 * times[LOOKS / 2] + 5e-4;
}

/* Keeps this rank on one core of those that it may use. */
static void stay(void) {
    cpu_set_t cores, own_core;
    CPU_ZERO(&own_core);
    if (sched_getaffinity(0, sizeof cores, &cores)) fail("no cores");
    int skipped = rank % CPU_COUNT(&cores), core = 0;
    while (!CPU_ISSET(core, &cores) || skipped-- > 0) core++;
    CPU_SET(core, &own_core);
    if (sched_setaffinity(0, sizeof own_core, &own_core)) fail("no core of its own");
}

/* Prints the least and the median, in microseconds of one of so many calls. */
static void print_times(double *times, int n, int calls) {
    qsort(times, (size_t)n, sizeof *times, by_value);
    if (rank == 0) printf(" %.2f %.2f", times[0] * 1e6 / calls, times[n / 2] * 1e6 / calls);
}

struct operands {
    char *in, *out;
    int bytes, part, n; /* of all, of a rank, and numbers of all */
    int *counts, *places, *parts;
    MPI_Datatype type;
};

static void call(const struct library *l, const char *name, const struct operands *o) {
    MPI_Comm world = MPI_COMM_WORLD;
    if (!strcmp(name, "allreduce")) l->allreduce(o->in, o->out, o->n, o->type, MPI_SUM, world);
    else if (!strcmp(name, "reduce")) l->reduce(o->in, o->out, o->n, o->type, MPI_SUM, 0, world);
    else if (!strcmp(name, "reduce_scatter")) l->reduce_scatter(o->in, o->out, o->parts, o->type, MPI_SUM, world);
    else if (!strcmp(name, "alltoall")) l->alltoall(o->in, o->part, MPI_BYTE, o->out, o->part, MPI_BYTE, world);
    else if (!strcmp(name, "barrier")) l->barrier(world);
    else if (!strcmp(name, "bcast")) l->bcast(o->out, o->bytes, MPI_BYTE, 0, world);
    else if (!strcmp(name, "allgather"))
        l->allgather(MPI_IN_PLACE, 0, MPI_BYTE, o->out, o->part, MPI_BYTE, world);
    else if (!strcmp(name, "gatherv"))
        l->gatherv(o->in, o->part, MPI_BYTE, o->out, o->counts, o->places, MPI_BYTE, 0, world);
    else if (!strcmp(name, "scatterv"))
        l->scatterv(o->in, o->counts, o->places, MPI_BYTE, o->out, o->part, MPI_BYTE, 0, world);
    else if (!strcmp(name, "same") || !strcmp(name, "one"))
        l->allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, o->out, o->counts, o->places, MPI_BYTE, world);
    else fail("no such case");
}

static void make_operands(struct operands *o, char *name, int bytes) {
    char *suffix = strstr(name, "-int");
    *o = (struct operands){.bytes = bytes, .part = bytes / ranks, .n = bytes / 8};
    o->type = suffix ? MPI_INT64_T : MPI_DOUBLE; /* of 8 bytes, both */
    if (suffix) *suffix = 0;
    o->in = calloc(1, (size_t)bytes + 8), o->out = calloc(1, (size_t)bytes + 8);
    o->counts = calloc((size_t)ranks, sizeof(int)), o->places = calloc((size_t)ranks, sizeof(int));
    o->parts = calloc((size_t)ranks, sizeof(int));
    for (int i = 0; i < o->n; i++)
        if (suffix) ((long *)o->in)[i] = rank + i;
        else ((double *)o->in)[i] = rank + i;
    int all_at_one = !strcmp(name, "one");
    for (int r = 0; r < ranks; r++) {
        o->parts[r] = o->n / ranks + (r < o->n % ranks);
        o->counts[r] = all_at_one ? (r == 0) * bytes : o->part;
        o->places[r] = all_at_one ? (r > 0) * bytes : r * o->part;
    }
}

static void free_operands(struct operands *o) {
    free(o->in), free(o->out), free(o->counts), free(o->places), free(o->parts);
}

static double batch(const struct library *l, const char *name, const struct operands *o) {
    double start = now();
    for (int i = 0; i < BATCH; i++) call(l, name, o);
    return now() - start;
}

/* Calls of the program's function and of the host's in turns. */
static void time_passed(const char *name, const struct operands *o, int untimed, int n, double *times) {
    double *of_host = times + n;
    for (int i = -untimed; i < n; i++) {
        double mine = batch(&own, name, o), hosts = batch(&host, name, o);
        if (i >= 0) times[i] = mine, of_host[i] = hosts;
    }
    host.allreduce(MPI_IN_PLACE, times, 2 * n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    print_times(times, n, BATCH);
    print_times(of_host, n, BATCH);
}

/* A communicator, from its beginning to its end. */
static void use_communicator(int half, int calls) {
    MPI_Comm comm;
    double in[1000] = {0}, out[1000];
    int size;
    if (half) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    else MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < calls; i++) {
        own.allgather(in, 80 / size, MPI_BYTE, out, 80 / size, MPI_BYTE, comm);
        own.allreduce(in, out, 1000, MPI_DOUBLE, MPI_SUM, comm);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    find_host();
    int untimed = 0, n = 5, turns = -1, option;
    while ((option = getopt(argc, argv, "pg:w:r:")) != -1)
        if (option == 'p') stay();
        else if (option == 'g' && (turns = open(optarg, O_RDONLY)) < 0) fail("no such FIFO");
        else if (option == 'g') continue;
        else if (option == 'w') untimed = atoi(optarg);
        else if (option == 'r') n = atoi(optarg);
        else fail(USAGE);
    if (n < 1 || optind == argc) fail(USAGE);
    look_at_clocks();
    double *times = calloc(2 * (size_t)n, sizeof *times);
    for (int a = optind; a < argc; a++) {
        char go;
        if (turns >= 0 && read(turns, &go, 1) != 1) fail("nobody says whose turn it is");
        char word[32], *name = word;
        int bytes;
        if (sscanf(argv[a], "%31[a-z_-]:%d", word, &bytes) != 2 || bytes < 1) fail("a case is NAME:BYTES");
        if (rank == 0) printf("%s%s %d", same_clock ? "" : "~", word, bytes);
        int half = !strcmp(name, "half"), makes = half || !strcmp(name, "dup");
        int passed = !strncmp(name, "passed-", 7);
        if (passed) name += 7;
        int warm = untimed;
        for (int before = optind; before < a; before++)
            if (!strcmp(argv[before], argv[a])) warm = 0;
        struct operands o;
        make_operands(&o, name, bytes);
        if (passed) time_passed(name, &o, warm, n, times);
        else {
            for (int i = -warm; i < n; i++) {
                double start = begin();
                if (makes) use_communicator(half, bytes);
                else call(&own, name, &o);
                double time = slowest(now() - start);
                if (i >= 0) times[i] = time;
            }
            print_times(times, n, 1);
        }
        if (rank == 0) printf("\n");
        fflush(stdout);
        free_operands(&o);
    }
    free(times);
    MPI_Finalize();
    return 0;
}
