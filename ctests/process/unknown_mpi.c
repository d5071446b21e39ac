/* A program whose MPI library has an ABI that Rondo does not know (libmpi_gnu_fake.c, preloaded): all of its calls get
 * there, and nothing is asked of handles that the library does not have. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int (*init)(int *, char ***), (*bcast)(void *, int, void *, int, void *), (*barrier)(void *), (*calls)(void);
    *(void **)&init = dlsym(RTLD_DEFAULT, "MPI_Init");
    *(void **)&bcast = dlsym(RTLD_DEFAULT, "MPI_Bcast");
    *(void **)&barrier = dlsym(RTLD_DEFAULT, "MPI_Barrier");
    *(void **)&calls = dlsym(RTLD_DEFAULT, "fake_calls");
    if (!init || !bcast || !barrier || !calls) {
        fprintf(stderr, "unknown_mpi: the library is not there\n");
        return 2;
    }
    init(&argc, &argv);
    char byte = 1;
    int handle;
    for (int i = 0; i < 3; i++) {
        if (bcast(&byte, 1, &handle, 0, &handle) != 0 || barrier(&handle) != 0) return 1;
    }
    if (calls() != 6) {
        printf("unknown_mpi: %d of 6 calls came to the library\n", calls());
        return 1;
    }
    puts("PASS unknown_mpi");
    return 0;
}
