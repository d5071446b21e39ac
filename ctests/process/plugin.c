/* The MPI half of dlopen.c: its broadcasts are taken although libmpi came with RTLD_LOCAL. */
#include "rondo_test.h"

int run(int *argc, char ***argv);

int run(int *argc, char ***argv) {
    start(argc, argv, "dlopen");
    for (int root = 0; root < test.ranks; root++) {
        bcast_bytes(1, root, MPI_COMM_WORLD);
        bcast_bytes(70000, root, MPI_COMM_WORLD);
    }
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm);
    bcast_bytes(70000, 0, comm);
    MPI_Comm_free(&comm);
    return finish();
}
