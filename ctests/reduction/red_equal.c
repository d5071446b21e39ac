/* MPIX_EQUAL of MPICH, an operator of its own: whatever the elements are, the result is one int, which says whether the
 * vectors of all ranks are alike.
 */
#include "rondo_test.h"

enum { LONGEST = 1 << 16, GUARD = 0x5a5a5a5a };

static void compare(int count, MPI_Datatype type, int differs) {
    static unsigned char own[4 * LONGEST];
    static int equal[LONGEST];
    int size;
    MPI_Type_size(type, &size);
    fill(own, (size_t)count * (size_t)size, 3);
    if (differs && test.rank == test.ranks - 1) own[(size_t)count * (size_t)size - 1] ^= 1;
    for (int i = 0; i < LONGEST; i++) equal[i] = GUARD;
    CHECK(MPI_Allreduce(own, equal, count, type, MPIX_EQUAL, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK_IN(equal[0] == !differs, "%d elements of %d bytes: %d", count, size, equal[0]);
    for (int i = 1; i < LONGEST; i++) {
        CHECK_IN(equal[i] == GUARD, "%d elements of %d bytes: int %d", count, size, i);
        if (equal[i] != GUARD) break;
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_equal");
    const int counts[] = {1, 100, 5000, LONGEST};
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (int differs = 0; differs < 2; differs++) {
                compare(counts[i], MPI_BYTE, differs);
                compare(counts[i], MPI_INT, differs);
            }
    return finish();
}
