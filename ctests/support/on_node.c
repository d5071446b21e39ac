/* Nodes without a cluster: tells a rank the name of its node, and becomes the program.
 *
 * Arguments: the number of each rank's node, separated by commas ("0,0,1,1"), then the program and its arguments. The
 * rank comes from the launcher: OMPI_COMM_WORLD_RANK (Open MPI) or PMI_RANK (MPICH). No MPI here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text behind `n` commas, or NULL if there are fewer. */
static const char *item(const char *list, int n) {
    while (list && n-- > 0) list = (list = strchr(list, ',')) ? list + 1 : NULL;
    return list;
}

int main(int argc, char **argv) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK");
    const char *node = argc > 2 && rank ? item(argv[1], atoi(rank)) : NULL;
    if (!node) {
        fprintf(stderr, "on_node: no node for rank %s, or no program\n", rank ? rank : "?");
        return 2;
    }
    char name[32];
    snprintf(name, sizeof name, "n%d", atoi(node));
    setenv("RONDO_NODE", name, 1);
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 2;
}
