/* A launcher that does not forward the environment: the ranks start with different RONDO_* settings. Those of rank 0
 * are used by all, on MPI_COMM_WORLD and, by its own rank 0, on a communicator in reverse order. Nothing hangs, and
 * every answer is right, although ranks left to themselves would not agree on which blocks are short, nor on the tree.
 */
#include "gsv.h"

int main(int argc, char **argv) {
    /* Rondo reads the environment at the first call it intercepts, so this is as good as a launcher's doing. */
    start(&argc, &argv, "gsv_environment");
    const char *lengths[] = {"64", "1", "1M", "200"}, *shapes[] = {"hybrid", "linear", "adaptive", "binomial", "host"};
    if (test.rank > 0) {
        setenv("RONDO_SHORT_MSG", lengths[test.rank % 4], 1);
        setenv("RONDO_MAX_TMP_SIZE", lengths[(test.rank + 1) % 4], 1);
        setenv("RONDO_GATHERV", shapes[test.rank % 5], 1);
        setenv("RONDO_SCATTERV", shapes[(test.rank + 1) % 5], 1);
        setenv("RONDO_GATHER", shapes[(test.rank + 2) % 5], 1);
        setenv("RONDO_SCATTER", shapes[(test.rank + 3) % 5], 1);
    }
    if (test.rank % 3 == 2) setenv("RONDO", "off", 1);
    for (int root = 0; root < test.ranks; root++)
        for (int unit = 1; unit <= 5000; unit *= 7) {
            both_ways(unit, root, MPI_COMM_WORLD);
            both_ways_regular(unit, root, MPI_COMM_WORLD);
        }
    /* Here another rank's settings count, so that nobody can say who is at work. */
    test.expect = NULL;
    MPI_Comm reverse;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &reverse);
    for (int root = 0; root < test.ranks; root++)
        for (int unit = 1; unit <= 5000; unit *= 7) {
            both_ways(unit, root, reverse);
            both_ways_regular(unit, root, reverse);
        }
    MPI_Comm_free(&reverse);
    return finish();
}
