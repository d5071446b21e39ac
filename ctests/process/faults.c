/* Every call of the host by Rondo fails once: collectives of all kinds on a new communicator, with the n-th such call
 * on one rank failing, for every n from a first one on.
 *
 *   faults FIRST RANK
 *
 * Errors are returned. A round in which no collective returned one must have had the right results, and when its
 * communicator is free again Rondo must hold nothing that it did not hold before. Then comes the next round, until one
 * has no call left to fail. A rank that gets an error says so and ends the job: what the others know of it is not
 * defined. tests/faults.rs reads the lines:
 *
 *   round N                         begins
 *   round N: FUNCTION, survived     all was right in spite of it
 *   round N: error CLASS in NAME    the job ends
 *   PASS faults                     no call was left to fail
 */
#include "rondo_test.h"
#include <unistd.h>

enum { ELEMENTS = 3000, LIMIT = 100000 };

static const char *const KINDS[] = {"requests", "communicators", "types", "groups", "handlers"};
enum { HELD = 5 };

static void (*arm)(long);
static const char *(*struck)(void);
static long (*held)(const char *);

static void find_faults(void) {
    *(void **)&arm = dlsym(RTLD_DEFAULT, "fault_arm");
    *(void **)&struck = dlsym(RTLD_DEFAULT, "fault_struck");
    *(void **)&held = dlsym(RTLD_DEFAULT, "fault_held");
    if (arm && struck && held) return;
    fprintf(stderr, "faults: fault.so is not loaded\n");
    exit(2);
}

/* Ends the job if this is an error. */
static void sound(long round, int code, const char *name) {
    if (code == MPI_SUCCESS) return;
    int class = -1;
    MPI_Error_class(code, &class);
    int known = class > MPI_SUCCESS && class <= MPI_ERR_LASTCODE;
    printf("round %ld: error %s in %s\n", round, known ? "known" : "UNKNOWN", name);
    fflush(stdout);
    usleep(200000); /* MPICH's launcher may lose what it has not read when the job ends */
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* `own` is of rank `r`, element `i`. */
static int value(int r, int i) { return 1000 * r + i % 997; }

/* The collectives; `type` is `stride` ints of which the first counts. */
static void collectives(long round, MPI_Comm comm, MPI_Datatype type, int stride, int elements) {
    int p = test.ranks, counts[p], displs[p], total = 0;
    for (int i = 0; i < p; i++) {
        counts[i] = elements * (1 + i % 2);
        displs[i] = total;
        total += counts[i];
    }
    int mine = counts[test.rank], *own = calloc((size_t)(mine * stride), sizeof(int));
    int *all = calloc((size_t)(total * stride), sizeof(int));

    for (int i = 0; i < elements; i++) all[i * stride] = test.rank == 1 ? value(1, i) : -1;
    sound(round, MPI_Bcast(all, elements, type, 1, comm), "MPI_Bcast");
    for (int i = 0; i < elements; i++) CHECK_IN(all[i * stride] == value(1, i), "bcast, round %ld", round);

    for (int i = 0; i < mine; i++) own[i * stride] = value(test.rank, i);
    memset(all, 0, (size_t)(total * stride) * sizeof(int));
    sound(round, MPI_Allgatherv(own, mine, type, all, counts, displs, type, comm), "MPI_Allgatherv");
    for (int r = 0; r < p; r++)
        for (int i = 0; i < counts[r]; i++)
            CHECK_IN(all[(displs[r] + i) * stride] == value(r, i), "allgatherv, round %ld", round);

    memset(all, 0, (size_t)(total * stride) * sizeof(int));
    sound(round, MPI_Gatherv(own, mine, type, all, counts, displs, type, 0, comm), "MPI_Gatherv");
    for (int r = 0; test.rank == 0 && r < p; r++)
        for (int i = 0; i < counts[r]; i++)
            CHECK_IN(all[(displs[r] + i) * stride] == value(r, i), "gatherv, round %ld", round);

    memset(own, 0, (size_t)(mine * stride) * sizeof(int));
    sound(round, MPI_Scatterv(all, counts, displs, type, own, mine, type, 0, comm), "MPI_Scatterv");
    for (int i = 0; i < mine; i++) CHECK_IN(own[i * stride] == value(test.rank, i), "scatterv, round %ld", round);

    sound(round, MPI_Gather(own, elements, type, all, elements, type, 0, comm), "MPI_Gather");
    sound(round, MPI_Scatter(all, elements, type, own, elements, type, 0, comm), "MPI_Scatter");
    for (int i = 0; i < elements; i++) CHECK_IN(own[i * stride] == value(test.rank, i), "scatter, round %ld", round);
    free(own);
    free(all);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

/* Reductions by `op`, which adds ints, a barrier and an exchange. */
static void reductions(long round, MPI_Comm comm, MPI_Op op, int elements) {
    int p = test.ranks, all = p * elements, counts[p];
    int *own = calloc((size_t)all, sizeof(int)), *sum = calloc((size_t)all, sizeof(int));
    for (int i = 0; i < all; i++) own[i] = value(test.rank, i);
    for (int i = 0; i < p; i++) counts[i] = elements;
    /* Of the ranks below `end`, element `i`. */
#define SUM(end, i) ((end) * ((end)-1) / 2 * 1000 + (end) * ((i) % 997))

    sound(round, MPI_Allreduce(own, sum, elements, MPI_INT, op, comm), "MPI_Allreduce");
    for (int i = 0; i < elements; i++) CHECK_IN(sum[i] == SUM(p, i), "allreduce, round %ld", round);
    sound(round, MPI_Reduce(own, sum, elements, MPI_INT, op, 1, comm), "MPI_Reduce");
    for (int i = 0; test.rank == 1 && i < elements; i++) CHECK_IN(sum[i] == SUM(p, i), "reduce, round %ld", round);
    sound(round, MPI_Reduce_scatter(own, sum, counts, MPI_INT, op, comm), "MPI_Reduce_scatter");
    for (int i = 0; i < elements; i++)
        CHECK_IN(sum[i] == SUM(p, test.rank * elements + i), "reduce_scatter, round %ld", round);
    sound(round, MPI_Scan(own, sum, elements, MPI_INT, op, comm), "MPI_Scan");
    for (int i = 0; i < elements; i++) CHECK_IN(sum[i] == SUM(test.rank + 1, i), "scan, round %ld", round);
    sound(round, MPI_Barrier(comm), "MPI_Barrier");
    sound(round, MPI_Alltoall(own, elements, MPI_INT, sum, elements, MPI_INT, comm), "MPI_Alltoall");
    for (int r = 0; r < p; r++)
        for (int i = 0; i < elements; i++)
            CHECK_IN(sum[r * elements + i] == value(r, test.rank * elements + i), "alltoall, round %ld", round);
    free(own);
    free(sum);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "faults");
    find_faults();
    long first = argc > 1 ? atol(argv[1]) : 1;
    int rank = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    int missed = 0;
    for (long round = first; !missed && round < LIMIT; round++) {
        if (test.rank == 0) printf("round %ld\n", round), fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm comm;
        MPI_Datatype type;
        long before[HELD];
        for (int i = 0; i < HELD; i++) before[i] = held(KINDS[i]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &type);
        MPI_Type_commit(&type);
        arm(test.rank == rank ? round : 0);
        collectives(round, comm, MPI_INT, 1, ELEMENTS);
        collectives(round, comm, type, 2, 50);
        reductions(round, comm, MPI_SUM, 2000);
        reductions(round, comm, op, 50);
        MPI_Type_free(&type);
        MPI_Comm_free(&comm);
        const char *name = struck();
        arm(0);
        int frees = name && strstr(name, "_free");
        for (int i = 0; i < HELD; i++) {
            long more = held(KINDS[i]) - before[i];
            /* The first round makes what stays: keyvals, and the host's handlers of communicators of Rondo's own. */
            CHECK_IN(more == 0 || (frees && more == 1), "%ld %s more in round %ld, %s failed", more, KINDS[i], round,
                     name ? name : "nothing");
        }
        missed = name == NULL;
        MPI_Bcast(&missed, 1, MPI_INT, rank, MPI_COMM_WORLD);
        if (test.rank == rank && name) printf("round %ld: %s, survived\n", round, name), fflush(stdout);
    }
    MPI_Op_free(&op);
    return finish();
}
