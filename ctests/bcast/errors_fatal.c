/* Invalid arguments under the default error handler: the job aborts, at once, whoever carries broadcasts out.
 * The argument names the fault. Reaching the last line is the failure.
 */
#include "rondo_test.h"

int main(int argc, char **argv) {
    start(&argc, &argv, "errors_fatal");
    const char *fault = argc > 1 ? argv[1] : "root";
    static double b[100];
    bcast_bytes(1000, 0, MPI_COMM_WORLD);
    if (!strcmp(fault, "root"))
        MPI_Bcast(b, 100, MPI_DOUBLE, test.ranks, MPI_COMM_WORLD);
    else if (!strcmp(fault, "count"))
        MPI_Bcast(b, -1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    else if (!strcmp(fault, "datatype"))
        MPI_Bcast(b, 100, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    else if (!strcmp(fault, "comm"))
        MPI_Bcast(b, 100, MPI_DOUBLE, 0, MPI_COMM_NULL);
    printf("rank %d: MPI_Bcast returned from a fatal error\n", test.rank);
    return finish();
}
