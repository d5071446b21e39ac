/* After the first broadcasts on a communicator, broadcasts of contiguous data allocate nothing in Rondo, unless the
 * measured network lets more messages be under way than ever before, for which there is room then. That ends: of a few
 * rounds of calls one allocates nothing.
 *
 * A positive control shows that the count works: the first call on a communicator has to allocate.
 */
#include "allocations.h"

int main(int argc, char **argv) {
    start(&argc, &argv, "allocations");
    watch();
    enum { BYTES = 300000 };
    char *b = malloc(BYTES);
    memset(b, 1, BYTES);
    MPI_Datatype row; /* contiguous, though derived */
    MPI_Type_contiguous(100, MPI_INT, &row);
    MPI_Type_commit(&row);
    allocated.count = 0;
    bcast(b, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(!test.expect || allocated.count > 0);
    bcast(b, BYTES / 400, row, 0, MPI_COMM_WORLD);

    unsigned long most = 1;
    for (int round = 0; round < 6 && most; round++) {
        allocated.count = 0;
        for (int i = 0; i < 200; i++) {
            bcast(b, i % 3 ? BYTES : 1000, MPI_BYTE, i % test.ranks, MPI_COMM_WORLD);
            bcast(b, i + 1, row, i % test.ranks, MPI_COMM_WORLD);
        }
        most = most_allocations();
    }
    CHECK_IN(most == 0, "%lu allocations in 400 calls", most);
    MPI_Type_free(&row);
    free(b);
    return finish();
}
