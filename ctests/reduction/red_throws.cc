/* An operator that throws: the exception leaves the reduction, as it does without Rondo. What becomes of the reduction
 * is not said, so the job ends then.
 */
#include "rondo_test.h"
#include <stdexcept>

static void raise(void *, void *, int *, MPI_Datatype *) { throw std::runtime_error("an operator"); }

int main(int argc, char **argv) {
    start(&argc, &argv, "red_throws");
    static int own[5000], got[5000];
    MPI_Op op;
    MPI_Op_create(raise, 1, &op);
    try {
        MPI_Allreduce(own, got, 5000, MPI_INT, op, MPI_COMM_WORLD);
    } catch (const std::runtime_error &) {
        MPI_Abort(MPI_COMM_WORLD, 5);
        _Exit(5); // MPICH 5.0 may return
    }
    printf("SILENT: no exception\n");
    MPI_Finalize();
    return 0;
}
