/* Preloaded: a machine with a GPU, as far as its files say. The process finds /dev/kfd, which AMD's driver makes in the
 * kernel, whether it is there or not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

/* Not as in the C library's header, which promises that no path is a null pointer: some ask in this way whether there
 * is such a function. */
int statx(int folder, const char *path, int flags, unsigned mask, void *found);

int statx(int folder, const char *path, int flags, unsigned mask, void *found) {
    static int (*next)(int, const char *, int, unsigned, void *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "statx");
    return next(folder, path && !strcmp(path, "/dev/kfd") ? "/dev/null" : path, flags, mask, found);
}
