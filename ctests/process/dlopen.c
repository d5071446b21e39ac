/* A program that knows no MPI and loads a plugin that does, with RTLD_LOCAL, as interpreters load their extensions.
 * libmpi is then not in the global scope, and Rondo has to find it by other means. The plugin's path is the argument.
 *
 * A second argument is another MPI library, which is loaded before and never initialised: the plugin's is the one.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc > 2 && !dlopen(argv[2], RTLD_NOW | RTLD_LOCAL)) {
        fprintf(stderr, "dlopen: %s\n", dlerror());
        return 2;
    }
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!plugin) {
        fprintf(stderr, "dlopen: %s\n", argc > 1 ? dlerror() : "no plugin named");
        return 2;
    }
    if (dlsym(RTLD_DEFAULT, "PMPI_Initialized")) {
        fprintf(stderr, "dlopen: libmpi is in the global scope, so this test shows nothing\n");
        return 2;
    }
    if (argc > 2) {
        /* Rondo's, if it is there: it goes to some library, and all of them refuse it. That decides nothing. */
        int (*barrier)(void *);
        *(void **)&barrier = dlsym(RTLD_DEFAULT, "MPI_Barrier");
        if (barrier && barrier(NULL) == 0) {
            fprintf(stderr, "dlopen: a barrier before MPI_Init\n");
            return 2;
        }
    }
    int (*run)(int *, char ***);
    *(void **)&run = dlsym(plugin, "run");
    return run ? run(&argc, &argv) : 2;
}
