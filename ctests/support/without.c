/* A job whose ranks do not all have the library: takes Rondo out of what is preloaded on some ranks, and becomes the
 * program.
 *
 * Arguments: these ranks, separated by commas, then the program and its arguments. The rank comes from the launcher, as
 * in on_node.c. No MPI here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_in(const char *list, int rank) {
    for (; list; list = (list = strchr(list, ',')) ? list + 1 : NULL)
        if (atoi(list) == rank) return 1;
    return 0;
}

int main(int argc, char **argv) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *preload = getenv("LD_PRELOAD");
    if (!rank) rank = getenv("PMI_RANK");
    if (argc < 3 || !rank) {
        fprintf(stderr, "without: no rank, or no program\n");
        return 2;
    }
    if (preload && is_in(argv[1], atoi(rank))) {
        char *all = strdup(preload), *kept = calloc(1, strlen(preload) + 2);
        for (char *one = strtok(all, ":"); one; one = strtok(NULL, ":")) {
            if (strstr(one, "librondo")) continue;
            if (*kept) strcat(kept, ":");
            strcat(kept, one);
        }
        setenv("LD_PRELOAD", kept, 1);
        unsetenv("EXPECT_RONDO");
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 2;
}
