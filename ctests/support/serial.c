/* A program without parallelism, which has serial_mpi.c in place of an MPI library: its calls get there. With an
 * argument, it calls what that lacks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int (*init)(int *, char ***), (*bcast)(void *, int, int, int, int), (*release)(int *), (*finalize)(void);
    int (*barrier)(int), (*calls)(void);
    *(void **)&init = dlsym(RTLD_DEFAULT, "MPI_Init");
    *(void **)&bcast = dlsym(RTLD_DEFAULT, "MPI_Bcast");
    *(void **)&release = dlsym(RTLD_DEFAULT, "MPI_Comm_free");
    *(void **)&finalize = dlsym(RTLD_DEFAULT, "MPI_Finalize");
    *(void **)&barrier = dlsym(RTLD_DEFAULT, "MPI_Barrier");
    *(void **)&calls = dlsym(RTLD_DEFAULT, "serial_calls");
    if (!init || !bcast || !release || !finalize || !calls) {
        fprintf(stderr, "serial: the library is not there\n");
        return 2;
    }
    init(&argc, &argv);
    char byte = 1;
    int comm = 1;
    for (int i = 0; i < 3; i++) {
        if (bcast(&byte, 1, 1, 0, comm) != 0) return 1;
    }
    if (release(&comm) != 0 || comm != -1) return 1;
    if (argc > 1 && barrier) barrier(1);
    if (finalize() != 0) return 1;
    if (calls() != 5) {
        printf("serial: %d of 5 calls came to the library\n", calls());
        return 1;
    }
    puts("PASS serial");
    return 0;
}
