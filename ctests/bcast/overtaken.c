/* Messages of one rank complete out of order (see rails.c, which is preloaded behind Rondo): a rank still waits for the
 * rest of one when a later one, of a later call, has come. Nothing is wrong with that.
 *
 * Argument: how many seconds a message is late (0.3).
 */
#define _GNU_SOURCE
#include "rondo_test.h"
#include <dlfcn.h>

/* Long enough for the root to get each of them by itself. */
enum { BLOCK = 20000 };

static void gather_blocks(int root) {
    unsigned char *all = malloc((size_t)BLOCK * (size_t)test.ranks), own[BLOCK];
    fill(own, BLOCK, (unsigned)test.rank);
    gather(own, BLOCK, MPI_BYTE, all, BLOCK, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int r = 0; test.rank == root && r < test.ranks; r++)
        CHECK(wrong(all + (size_t)BLOCK * (size_t)r, BLOCK, (unsigned)r) == 0);
    free(all);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "overtaken");
    void (*delay)(double) = NULL;
    int (*late)(void) = NULL;
    *(void **)&delay = dlsym(RTLD_DEFAULT, "rails_delay");
    *(void **)&late = dlsym(RTLD_DEFAULT, "rails_late");
    CHECK(delay && late);
    double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    /* On one rank, so that the others go ahead: to calls in which they send it something again. */
    for (int slow = 0; slow < test.ranks; slow += 2)
        for (int root = 0; root < test.ranks; root++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (delay) delay(test.rank == slow ? seconds : 0);
            bcast_bytes(BLOCK, root, MPI_COMM_WORLD);
            bcast_bytes(100, root, MPI_COMM_WORLD);
            gather_blocks(slow);
            gather_blocks(slow);
            bcast_bytes(100, root, MPI_COMM_WORLD);
            if (delay) delay(0);
        }
    int n = late ? late() : 0, all = 0;
    MPI_Reduce(&n, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (test.expect && strcmp(test.expect, "off") && test.rank == 0) CHECK_IN(all > 0, "%d were late", all);
    return finish();
}
