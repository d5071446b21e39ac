/* The first sums on a new communicator of one node: 32 of them, or eight longer ones, do without the memory that ranks
 * share, which takes longer to make than they do, and have the bits of those that come after.
 */
#include "rondo_test.h"

enum { CALLS = 40, MOST = 3000 };

static const double some[] = {1e16, 1, -1e16, 3.5, 1e-3, -7e15, 0.1, 3e8};

/* Memory of Rondo's that this process maps. */
static int segments(void) {
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "rondo") && strstr(line, "rw-s")) found++;
    if (maps) fclose(maps);
    return found;
}

static void sums(int n, int without, int rondos, int in_place) {
    static double own[MOST], first[MOST], got[MOST];
    size_t bytes = sizeof *own * (size_t)n;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    struct counts before = counts_of("allreduce");
    int none = segments();
    for (int i = 0; i < n; i++) own[i] = some[(test.rank * 5 + i) % 8] * (1 + i % 3);
    for (int k = 0; k < CALLS; k++) {
        if (in_place) memcpy(got, own, bytes);
        CHECK(MPI_Allreduce(in_place ? MPI_IN_PLACE : own, got, n, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS);
        if (k == 0) memcpy(first, got, bytes);
        if (rondos) CHECK_IN(!memcmp(first, got, bytes), "call %d", k);
        if (rondos) CHECK_IN((segments() > none) == (k >= without), "call %d: %d segments", k, segments() - none);
    }
    MPI_Bcast(got, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CHECK(!memcmp(first, got, bytes) || !rondos);
    struct counts now = counts_of("allreduce");
    if (rondos) CHECK_IN(now.host == before.host && now.rondo == before.rondo + CALLS, "by the host");
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_first");
    int rondos = test.expect && strcmp(test.expect, "off");
    for (int in_place = 0; in_place < 2; in_place++) {
        sums(1000, 32, rondos, in_place);
        sums(MOST, 8, rondos, in_place);
    }
    return finish();
}
