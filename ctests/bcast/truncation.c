/* One rank passes a smaller count than the others: an erroneous program, which must learn of it.
 *
 * Arguments: who is short ("one" non-root rank, the "root", or "all" but the root), by how much ("half", "one"
 * element or "most"), and the error handler ("return" or "fatal"). With "return" a rank that gets an error prints
 * its class and aborts the job; with "fatal" the handler aborts it. If all ranks return success the program says
 * so and ends with status 0, which is the failure: data was cut off and nobody was told.
 */
#include "rondo_test.h"

enum { BYTES = 256 * 1024 };

static int is(const char *argument, const char *word) { return argument && !strcmp(argument, word); }

int main(int argc, char **argv) {
    start(&argc, &argv, "truncation");
    const char *who = argc > 1 ? argv[1] : "one", *how = argc > 2 ? argv[2] : "half";
    if (argc > 3 && is(argv[3], "return")) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    int root = 0, count = BYTES, less = is(how, "half") ? BYTES / 2 : is(how, "most") ? 1 : BYTES - 1;
    if (is(who, "one") && test.rank == test.ranks - 1) count = less;
    if (is(who, "root") && test.rank == root) count = less;
    if (is(who, "all") && test.rank != root) count = less;

    unsigned char *b = malloc(BYTES);
    memset(b, test.rank == root, BYTES);
    bcast_bytes(1000, root, MPI_COMM_WORLD); /* the communicator is in use already */
    int code = MPI_Bcast(b, count, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int i = count; code == MPI_SUCCESS && i < BYTES; i++)
        if (test.rank != root && b[i] != 0) {
            fprintf(stderr, "rank %d: byte %d behind the buffer's end was overwritten\n", test.rank, i);
            break;
        }
    return end_of_mismatch(code, "MPI_Bcast");
}
