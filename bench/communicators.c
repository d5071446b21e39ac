/* What a new communicator costs, beside the program's MPI library and beside that library's own first collective.
 *
 *     communicators [-n REPETITIONS] [-f] [-t]
 *
 * Prints lines of microseconds of the slowest rank, least and median of REPETITIONS (30):
 *   * init: MPI_Init, once.
 *   * first: the host's MPI_Allreduce of 512 bytes, as the first call on a new duplicate of the world.
 *   * allgather:80 and so on: that call, first on a new duplicate, by the host's own function and by the program's, in
 *     turns; and what the second is to be at most: the first and 1.5 times `first` (of medians).
 *   * alive:1 and alive:10: 200 duplicates, then so many MPI_Allreduce of 8000 bytes on each, then they are freed.
 *   * chain: 2000 duplicates one after another, made, used for one such call and freed.
 * With -f only the lines before `alive`. With -t two threads, each of which makes 800 duplicates, uses each for one
 * call, and then frees them (threads:1). Only the calls are timed of `alive` and `chain`, because duplicates are the
 * host's on both sides.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ALIVE = 200, CHAIN = 2000, OF_THREAD = 800, LONGEST = 65536 };

struct library {
    int (*allgather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
};
static const struct library own = {MPI_Allgather, MPI_Allreduce, MPI_Bcast};
static struct library host;
static int (*host_barrier)(MPI_Comm);
static int rank, ranks;

static void *of_host(const char *name) {
    static const char *const files[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"};
    void *file = NULL, *function = NULL;
    for (int i = 0; i < 3 && !file; i++) file = dlopen(files[i], RTLD_NOLOAD | RTLD_LAZY);
    if (!file || !(function = dlsym(file, name))) {
        fprintf(stderr, "communicators: no %s\n", name);
        exit(2);
    }
    return function;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double slowest(double mine) {
    double most;
    host.allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int n) {
    qsort(times, (size_t)n, sizeof *times, by_value);
    return times[n / 2];
}

enum kind { ALLGATHER, ALLREDUCE, BCAST };

static void call(const struct library *l, enum kind kind, int bytes, MPI_Comm comm) {
    char in[LONGEST], out[LONGEST];
    memset(in, 0, sizeof in);
    if (kind == ALLGATHER) l->allgather(in, bytes / ranks, MPI_BYTE, out, bytes / ranks, MPI_BYTE, comm);
    else if (kind == ALLREDUCE) l->allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
    else l->bcast(in, bytes, MPI_BYTE, 0, comm);
}

static double time_first(const struct library *l, enum kind kind, int bytes) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    host_barrier(MPI_COMM_WORLD);
    host_barrier(MPI_COMM_WORLD);
    double start = now();
    call(l, kind, bytes, comm);
    double time = slowest(now() - start);
    MPI_Comm_free(&comm);
    return time;
}

static double time_alive(const struct library *l, int calls) {
    static MPI_Comm comms[ALIVE];
    for (int i = 0; i < ALIVE; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    host_barrier(MPI_COMM_WORLD);
    double start = now();
    for (int i = 0; i < ALIVE; i++)
        for (int j = 0; j < calls; j++) call(l, ALLREDUCE, 8000, comms[i]);
    double time = slowest(now() - start);
    for (int i = 0; i < ALIVE; i++) MPI_Comm_free(&comms[i]);
    return time;
}

static double time_chain(const struct library *l) {
    double time = 0;
    for (int i = 0; i < CHAIN; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        double start = now();
        call(l, ALLREDUCE, 8000, comm);
        time += now() - start;
        MPI_Comm_free(&comm);
    }
    return slowest(time);
}

struct work {
    const struct library *library;
    MPI_Comm base;
};

static void *use_many(void *argument) {
    const struct work *work = argument;
    MPI_Comm *comms = calloc(OF_THREAD, sizeof *comms);
    for (int i = 0; i < OF_THREAD; i++) {
        MPI_Comm_dup(work->base, &comms[i]);
        call(work->library, ALLREDUCE, 8000, comms[i]);
    }
    for (int i = 0; i < OF_THREAD; i++) MPI_Comm_free(&comms[i]);
    free(comms);
    return NULL;
}

static double time_threads(const struct library *l) {
    struct work work[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) work[i].library = l, MPI_Comm_dup(MPI_COMM_WORLD, &work[i].base);
    host_barrier(MPI_COMM_WORLD);
    double start = now();
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, use_many, &work[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    double time = slowest(now() - start);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&work[i].base);
    return time;
}

/* `more` is what the program's calls may take beyond the host's, as a part of these, or in microseconds (above 1). */
static void print(const char *name, double *hosts, double *mine, int n, double more) {
    double of_host = median(hosts, n), of_mine = median(mine, n);
    double limit = of_host + (more < 1 ? more * of_host : more);
    if (rank == 0)
        printf("%-16s %10.1f %10.1f %10.1f %10.1f %10.1f %s\n", name, hosts[0], of_host, mine[0], of_mine, limit,
               of_mine <= limit ? "" : "above");
    fflush(stdout);
}

int main(int argc, char **argv) {
    int n = 30, first_only = 0, threads = 0, option, provided = MPI_THREAD_SINGLE;
    while ((option = getopt(argc, argv, "n:ft")) != -1)
        if (option == 'n') n = atoi(optarg);
        else if (option == 'f') first_only = 1;
        else threads = 1;
    double start = now();
    if (threads) MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    else MPI_Init(NULL, NULL);
    double init = now() - start;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    *(void **)&host.allgather = of_host("PMPI_Allgather");
    *(void **)&host.allreduce = of_host("PMPI_Allreduce");
    *(void **)&host.bcast = of_host("PMPI_Bcast");
    *(void **)&host_barrier = of_host("PMPI_Barrier");
    init = slowest(init);
    double *hosts = calloc((size_t)n, sizeof *hosts), *mine = calloc((size_t)n, sizeof *mine);
    if (rank == 0) printf("%-16s %10s %10s %10s %10s %10s\n", "us", "host least", "median", "least", "median", "limit");
    if (rank == 0) printf("%-16s %43.1f\n", "init", init);
    if (threads) {
        for (int i = 0; i < 3; i++) hosts[i] = time_threads(&host), mine[i] = time_threads(&own);
        print("threads:1", hosts, mine, 3, 0.5);
        MPI_Finalize();
        return 0;
    }
    for (int i = -2; i < n; i++) {
        double time = time_first(&host, ALLREDUCE, 512);
        if (i >= 0) hosts[i] = time;
    }
    double first = median(hosts, n);
    if (rank == 0) printf("%-16s %10.1f %10.1f\n", "first", hosts[0], first);
    static const struct {
        const char *name;
        enum kind kind;
        int bytes;
    } cases[] = {{"allgather:80", ALLGATHER, 80},
                 {"allreduce:8", ALLREDUCE, 8},
                 {"allreduce:8000", ALLREDUCE, 8000},
                 {"bcast:65536", BCAST, 65536}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int i = -2; i < n; i++) {
            double of_host = time_first(&host, cases[c].kind, cases[c].bytes);
            double of_mine = time_first(&own, cases[c].kind, cases[c].bytes);
            if (i >= 0) hosts[i] = of_host, mine[i] = of_mine;
        }
        print(cases[c].name, hosts, mine, n, 1.5 * first);
    }
    for (int calls = 1; calls <= 10 && !first_only; calls += 9) {
        for (int i = 0; i < 3; i++) hosts[i] = time_alive(&host, calls), mine[i] = time_alive(&own, calls);
        print(calls == 1 ? "alive:1" : "alive:10", hosts, mine, 3, calls == 1 ? 0.5 : 0.2);
    }
    for (int i = 0; i < 3 && !first_only; i++) hosts[i] = time_chain(&host), mine[i] = time_chain(&own);
    if (!first_only) print("chain", hosts, mine, 3, 0.5);
    MPI_Finalize();
    return 0;
}
