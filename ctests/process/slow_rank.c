/* Calls that take much longer than any network makes them: a rank begins each of them late. */
#include "rondo_test.h"
#include <unistd.h>

int main(int argc, char **argv) {
    enum { CALLS = 30, BYTES = 64 << 10, LATE_US = 100000 };
    start(&argc, &argv, "slow_rank");
    char *buffer = calloc(1, BYTES);
    for (int i = 0; i < CALLS; i++) {
        memset(buffer, test.rank == 0 ? i : -1, BYTES);
        if (test.rank == 1) usleep(LATE_US);
        MPI_Bcast(buffer, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
        CHECK(buffer[0] == i && buffer[BYTES - 1] == i);
    }
    free(buffer);
    return finish();
}
