/* Random legal programs on MPI_COMM_WORLD: communicators made in all ways and freed; attributes whose callbacks
 * communicate, also in MPI_Finalize; error handlers, set, called and read back; all collectives with types, roots,
 * counts, distributions and in place; reductions, scans and barriers; messages to wildcard receives and nonblocking
 * collectives under way meanwhile; calls with invalid arguments. A program is decided by its seed, on all ranks alike,
 * and prints one number for all that all ranks saw. The runner compares these with those of the bare run.
 *
 *   fuzz FIRST COUNT               seeds
 *   fuzz FIRST COUNT exchanges     exchanges of blocks between all ranks too
 */
#include "random_program.h"

/* Attributes whose callbacks come in MPI_Finalize: on MPI_COMM_SELF first, the last one set first, and they may
 * still communicate; then those of MPI_COMM_WORLD, which may not. */
static void last_words(void) {
    now.state = (uint64_t)test.ranks;
    now.hash = 0;
    make_keyvals();
    for (int i = 0; i < KEYVALS; i++) {
        MPI_Comm_set_attr(MPI_COMM_SELF, now.keyvals[i], value_of(50 + i, WITH_ALL));
        MPI_Comm_set_attr(MPI_COMM_WORLD, now.keyvals[i], value_of(60 + i, WITH_NOBODY));
        collective(MPI_COMM_WORLD);
    }
    free_keyvals();
    make_keyvals();
    for (int i = 0; i < KEYVALS; i++) MPI_Comm_set_attr(MPI_COMM_SELF, now.keyvals[i], value_of(70 + i, WITH_ALL));
}

int main(int argc, char **argv) {
    start(&argc, &argv, "fuzz");
    find_host();
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
    unsigned verbs = MAKES | WORLD | ATTRIBUTES | ERRORS | REDUCES;
    if (argc > 3 && !strcmp(argv[3], "exchanges")) verbs |= EXCHANGES;
    make_handlers();
    for (uint64_t seed = first; seed < first + count; seed++)
        show("seed", seed, program(seed, MPI_COMM_WORLD, verbs));
    free_handlers();
    check_at_work();
    check_reductions();
    if (verbs & EXCHANGES) check_exchanges();
    last_words();
    if (now.names >> (now.rank % 64) & 1)
        PMPI_Finalize();
    else
        MPI_Finalize();
    show("end", first, now.hash);
    /* finish() would call MPI_Finalize; what a rank checked, its exit status tells. */
    if (test.rank == 0) printf("PASS fuzz\n");
    return test.failures != 0;
}
