/* Random programs with processes that were not there at the start: the job spawns children, which are this program too,
 * and both have a random program (random_program.h) on the communicator that merges them, on the job's own
 * MPI_COMM_WORLD, and on duplicates. Children of some launchers do not have preloaded what their parents have.
 *
 *   fuzz_spawn FIRST COUNT     seeds
 */
#include "random_program.h"

enum { CHILDREN = 2 };

/* Some words from one side to the other, over the inter-communicator. */
static void across(MPI_Comm inter, int child) {
    int me, data[50] = {0}, all[300] = {0}, root = child ? 0 : MPI_PROC_NULL;
    MPI_Comm_rank(inter, &me);
    if (!child && me == 0) root = MPI_ROOT;
    for (int i = 0; i < 50; i++) data[i] = root == MPI_ROOT ? 1000 + i : 0;
    MPI_Bcast(data, 50, MPI_INT, root, inter);
    add(data, sizeof data);
    data[0] += me;
    MPI_Allgather(data, 1, MPI_INT, all, 1, MPI_INT, inter);
    add(all, sizeof all);
}

/* What both sides do. The parents come first. */
static uint64_t both(uint64_t seed, MPI_Comm inter, int child) {
    MPI_Comm merged;
    MPI_Intercomm_merge(inter, child, &merged);
    uint64_t saw = program(seed, merged, MAKES | ATTRIBUTES | ERRORS);
    across(inter, child);
    saw += now.hash;
    saw += program(seed + 500, MPI_COMM_WORLD, MAKES | WORLD | ATTRIBUTES | ERRORS);
    saw += program(seed + 900, merged, MAKES | ATTRIBUTES);
    uint64_t sum = 0;
    MPI_Allreduce(&saw, &sum, 1, MPI_UINT64_T, MPI_SUM, merged);
    MPI_Comm_free(&merged);
    return sum;
}

static void child(uint64_t seed, MPI_Comm parents) {
    both(seed, parents, 1);
    MPI_Comm_disconnect(&parents);
    free_handlers();
    MPI_Finalize();
}

int main(int argc, char **argv) {
    MPI_Comm parents, children;
    MPI_Init(&argc, &argv);
    find_host();
    make_handlers();
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        child(strtoull(argv[1], NULL, 10), parents);
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test.ranks);
    find_rondo("fuzz_spawn");
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 2;
    for (uint64_t seed = first; seed < first + count; seed++) {
        char number[24], *arguments[] = {number, NULL};
        snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
        MPI_Comm_spawn(argv[0], arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        uint64_t saw = both(seed, children, 0);
        MPI_Comm_disconnect(&children);
        if (test.rank == 0) printf("seed %llu: %016llx\n", (unsigned long long)seed, (unsigned long long)saw);
    }
    free_handlers();
    check_at_work();
    return finish();
}
