/* Invalid arguments for what is sent, the same on all ranks, on a communicator that returns errors while MPI_COMM_SELF
 * still ends the program: the error belongs to the communicator of the call. Rank 0 contributes nothing and gets the
 * error too.
 *
 * Prints "class NAME c0 c1 ..." like agv_errors; the bare run and the run with Rondo must print the same.
 */
#include "agv.h"
#include "errors.h"

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_errors_self");
    int counts[64], displs[64];
    static int from[100], to[64 * 30];
    MPI_Datatype uncommitted, types[3] = {MPI_INT, MPI_DATATYPE_NULL};
    const char *names[3] = {"count", "type_null", "uncommitted"};
    MPI_Type_vector(5, 2, 4, MPI_INT, &uncommitted);
    types[2] = uncommitted;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int first = 0; first <= 10; first += 10) /* elements of rank 0 */
        for (int i = 0; i < 3; i++) {
            for (int r = 0; r < test.ranks; r++) {
                counts[r] = r ? 10 : first;
                displs[r] = 10 * r;
            }
            int mine = i == 0 ? -1 : i == 2 ? counts[test.rank] / 10 : counts[test.rank];
            int code = MPI_Allgatherv(from, mine, types[i], to, counts, displs, MPI_INT, comm);
            print_classes(names[i], code);
            allgather_bytes(1000, comm);
        }
    MPI_Type_free(&uncommitted);
    MPI_Comm_free(&comm);
    return finish();
}
