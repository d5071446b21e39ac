/* MPI_Alltoall and MPI_Alltoallv with the requests counted that are not complete.
 *
 *   a2a_open MOST   so many at a time, and no more
 */
#include "counting.h"
#include "exchanges.h"

enum { BLOCK = 1000, CALLS = 20 };

int main(int argc, char **argv) {
    start(&argc, &argv, "a2a_open");
    find_counting();
    CHECK(argc == 2);
    counting.forget();
    long allowed = atol(argv[1]);
    size_t ints = (size_t)test.ranks * BLOCK;
    int *own = malloc(ints * sizeof *own), *got = malloc(ints * sizeof *got), counts[64], displs[64];
    for (int r = 0; r < test.ranks; r++) counts[r] = BLOCK, displs[r] = r * BLOCK;
    for (int call = 0; call < CALLS; call++) {
        for (size_t i = 0; i < ints; i++) own[i] = (int)i * 7 + test.rank + call, got[i] = -1;
        if (call % 2)
            alltoallv(own, counts, displs, MPI_INT, got, counts, displs, MPI_INT, MPI_COMM_WORLD);
        else
            alltoall(own, BLOCK, MPI_INT, got, BLOCK, MPI_INT, MPI_COMM_WORLD);
        for (size_t i = 0; i < ints; i++) {
            int from = (int)i / BLOCK, want = (test.rank * BLOCK + (int)i % BLOCK) * 7 + from + call;
            CHECK_IN(got[i] == want, "call %d, element %zu: %d", call, i, got[i]);
        }
    }
    long most = counting.of("most");
    CHECK_IN(most >= 2 && most <= allowed, "%ld requests at a time, and not up to %ld", most, allowed);
    CHECK_IN(counting.of("open") == 0, "%ld requests are left", counting.of("open"));
    free(own), free(got);
    return finish();
}
