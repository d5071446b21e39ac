/* A program that is linked with Rondo. It says whether it has more rights than its user, and makes a call.
 */
#include <mpi.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(int argc, char **argv) {
    int word = 1;
    MPI_Init(&argc, &argv);
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    printf("secure: %lu\n", getauxval(AT_SECURE));
    MPI_Finalize();
    return 0;
}
