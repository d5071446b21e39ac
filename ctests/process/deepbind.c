/* A program that knows no MPI, and loads a library that does in such a way that nothing which is preloaded comes before
 * the MPI library (RTLD_DEEPBIND). The library's path is the argument.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : NULL;
    int (*run)(int *, char ***) = NULL;
    if (library) *(void **)&run = dlsym(library, "run");
    if (!run) {
        fprintf(stderr, "deepbind: %s\n", argc > 1 ? dlerror() : "no library named");
        return 2;
    }
    return run(&argc, &argv);
}
