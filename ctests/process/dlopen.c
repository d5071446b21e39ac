/* A program that knows no MPI and loads a plugin that does, with RTLD_LOCAL, as interpreters load their extensions.
 * libmpi is then not in the global scope, and Rondo has to find it by other means. The plugin's path is the argument.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!plugin) {
        fprintf(stderr, "dlopen: %s\n", argc > 1 ? dlerror() : "no plugin named");
        return 2;
    }
    if (dlsym(RTLD_DEFAULT, "PMPI_Init")) {
        fprintf(stderr, "dlopen: libmpi is in the global scope, so this test shows nothing\n");
        return 2;
    }
    int (*run)(int *, char ***);
    *(void **)&run = dlsym(plugin, "run");
    return run ? run(&argc, &argv) : 2;
}
