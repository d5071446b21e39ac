/* A profiler beside Rondo, each preloaded. In front it sees every call, and so does Rondo, to which it goes on by the
 * PMPI_ name. Behind, it sees what Rondo passes on under the same name: nonblocking collectives. Blocking ones Rondo
 * carries out itself, or passes to the PMPI_ function of the MPI library, so they are not counted as if the program had
 * made other calls. Either way Rondo counts a call once.
 *
 *   stacked front|behind
 */
#include "rondo_test.h"

enum { CALLS = 10, BYTES = 30000 };

int main(int argc, char **argv) {
    start(&argc, &argv, "stacked");
    unsigned long (*profiler)(const char *);
    *(void **)&profiler = dlsym(RTLD_DEFAULT, "profiler_calls");
    CHECK(profiler != NULL);
    if (!profiler) return finish();
    /* In a bare run there is nothing before the profiler. */
    int sees = !test.expect || (argc > 1 && !strcmp(argv[1], "front"));

    unsigned char *b = malloc(BYTES);
    int counts[64], displs[64];
    for (int i = 0; i < test.ranks; i++) counts[i] = 100, displs[i] = 100 * i;
    for (int i = 0; i < CALLS; i++) {
        int root = i % test.ranks;
        fill(b, BYTES, test.rank == root ? 3 : 4);
        bcast(b, BYTES, MPI_BYTE, root, MPI_COMM_WORLD);
        CHECK(wrong(b, BYTES, 3) == 0);
        allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, b, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
    }
    unsigned long seen = profiler("MPI_Bcast");
    CHECK_IN(seen == (sees ? CALLS : 0), "%lu broadcasts", seen);
    seen = profiler("MPI_Allgatherv");
    CHECK_IN(seen == (sees ? CALLS : 0), "%lu allgathers", seen);

    unsigned long long before = test.expect ? test.calls("bcast", "host") : 0;
    for (int i = 0; i < CALLS; i++) {
        MPI_Request request;
        CHECK(MPI_Ibcast(b, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    seen = profiler("MPI_Ibcast");
    CHECK_IN(seen == CALLS, "%lu nonblocking broadcasts", seen);
    if (test.expect) {
        unsigned long long counted = test.calls("bcast", "host") - before;
        CHECK_IN(counted == CALLS, "Rondo counts %llu nonblocking broadcasts", counted);
    }
    free(b);
    return finish();
}
