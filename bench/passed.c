/* What calls with data cost that Rondo passes on, in nanoseconds, with an MPI library that does nothing in them.
 *
 *   cc -shared -fPIC -DHOST bench/passed.c -o empty.so -ldl      the library behind Rondo
 *   mpicc bench/passed.c -o passed -ldl                          the program
 *   LD_PRELOAD=librondo.so:./empty.so ./passed                   on three ranks of one node
 *
 * Once the first calls are over, in which communicators and memory are made, rank 0 alone makes calls, and those of the
 * MPI library are empty: so all that takes time is Rondo's. The least of 60 times 100 000 calls.
 */
#ifdef HOST
#define _GNU_SOURCE
#include <dlfcn.h>

int empty; /* Are the functions? */

#define FUNCTION(name, parameters, arguments)                                                                      \
    int name parameters {                                                                                          \
        static int(*next) parameters;                                                                              \
        if (empty) return 0;                                                                                       \
        if (!next) next = (int(*) parameters)dlsym(RTLD_NEXT, #name);                                              \
        return next arguments;                                                                                     \
    }
/* Handles are no wider than pointers. */
FUNCTION(PMPI_Bcast, (void *b, int n, void *t, int r, void *c), (b, n, t, r, c))
FUNCTION(PMPI_Allreduce, (const void *s, void *b, int n, void *t, void *o, void *c), (s, b, n, t, o, c))
FUNCTION(PMPI_Barrier, (void *c), (c))
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static char sent[512], got[512];

static void call(int which) {
    switch (which) {
        case 0: MPI_Bcast(got, 0, MPI_BYTE, 0, MPI_COMM_WORLD); break;
        case 1: MPI_Bcast(got, 1, MPI_BYTE, 0, MPI_COMM_WORLD); break;
        case 2: MPI_Bcast(got, 64, MPI_BYTE, 0, MPI_COMM_WORLD); break;
        case 3: MPI_Allreduce(sent, got, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
        case 4: MPI_Allreduce(sent, got, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
        default: MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    static const char *const names[] = {"broadcast, count 0", "broadcast, 1 byte", "broadcast, 64 bytes",
                                        "allreduce, one double", "allreduce, 16 integers", "barrier"};
    MPI_Init(&argc, &argv);
    int rank, *empty = (int *)dlsym(RTLD_DEFAULT, "empty");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!empty) {
        fprintf(stderr, "passed: preload librondo.so and the library of empty functions\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < 600; i++) call(i % 6);
    if (rank == 0) {
        *empty = 1;
        for (int which = 0; which < 6; which++) {
            double least = 1e9;
            for (int i = 0; i < 60; i++) {
                double start = MPI_Wtime();
                for (int j = 0; j < 100000; j++) call(which);
                double ns = (MPI_Wtime() - start) * 1e4;
                if (ns < least) least = ns;
            }
            printf("%-24s %6.1f ns\n", names[which], least);
        }
        *empty = 0;
    } else {
        sleep(10); /* The cores are for rank 0. */
    }
    MPI_Finalize();
    return 0;
}
#endif
