/* For compiling the constants of mpi-sys: SMPI's MPI_COMM_WORLD is a variable and its MPI_COMM_SELF a function call,
 * neither of which can be in an initialiser. Rondo asks for both at run time (src/host/library/abi.rs). */
#include <mpi.h>
#undef MPI_COMM_SELF
#define MPI_COMM_SELF MPI_COMM_NULL
#define MPI_COMM_WORLD MPI_COMM_NULL
