/* The system refuses one process what shared memory is made of, from the beginning on (refusing.c). The job does
 * without: all answers are right, and nobody waits for memory that will not come.
 *
 * Arguments: what is refused (see refusal.h) and to which rank; a negative one counts from the end.
 */
#include "agv.h"
#include "gsv.h"
#include "nodes.h"

static void use(MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    for (int root = 0; root < p; root++)
        for (int unit = 1; unit <= 50000; unit *= 30) {
            bcast_bytes((size_t)unit * 4, root, comm);
            allgather_bytes(unit, comm);
            both_ways(unit, root, comm);
            both_ways_regular(unit / 10 + 1, root, comm);
        }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "refused");
    if (argc < 3) return 2;
    int whom = (atoi(argv[2]) + test.ranks) % test.ranks;
    use(MPI_COMM_WORLD);
    MPI_Comm reverse, others;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &reverse);
    use(reverse);
    MPI_Comm_free(&reverse);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank == whom, test.rank, &others);
    use(others);
    MPI_Comm_free(&others);
    use(MPI_COMM_WORLD);
    return finish();
}
