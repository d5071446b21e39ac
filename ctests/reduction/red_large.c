/* Reductions and scans of more than 2^31 bytes. The first argument says how they are counted.
 *
 * words  numbers of 8 bytes, whose count fits into an int
 * bytes  bytes, more than an int can count (MPI_Reduce_scatter_block: in all)
 *
 * The second one is the collective: allreduce (in place), reduce (in place at the root), block
 * (MPI_Reduce_scatter_block in place), scan and exscan (in place).
 */
#include "words.h"

static const size_t MESSAGE = ((size_t)1 << 31) + 64; /* three parts of whole numbers */

static const char *what = "allreduce";

static int is(const char *name) { return !strcmp(what, name); }

static int reduce(void *vector, int in_bytes) {
    size_t n = MESSAGE / 8, part = n / (size_t)test.ranks;
    const void *own = is("reduce") && test.rank ? vector : MPI_IN_PLACE;
    void *got = own == vector ? NULL : vector;
    MPI_Datatype type = MPI_UINT64_T;
    MPI_Op op = MPI_BXOR;
    MPI_Comm comm = MPI_COMM_WORLD;
    if (!in_bytes) {
        if (is("reduce")) return MPI_Reduce(own, got, (int)n, type, op, 0, comm);
        if (is("block")) return MPI_Reduce_scatter_block(own, got, (int)part, type, op, comm);
        if (is("scan")) return MPI_Scan(own, got, (int)n, type, op, comm);
        if (is("exscan")) return MPI_Exscan(own, got, (int)n, type, op, comm);
        return MPI_Allreduce(own, got, (int)n, type, op, comm);
    }
#if MPI_VERSION >= 4
    MPI_Count bytes = (MPI_Count)n * 8, part_bytes = (MPI_Count)part * 8;
    type = MPI_BYTE;
    if (is("reduce")) return MPI_Reduce_c(own, got, bytes, type, op, 0, comm);
    if (is("block")) return MPI_Reduce_scatter_block_c(own, got, part_bytes, type, op, comm);
    if (is("scan")) return MPI_Scan_c(own, got, bytes, type, op, comm);
    if (is("exscan")) return MPI_Exscan_c(own, got, bytes, type, op, comm);
    return MPI_Allreduce_c(own, got, bytes, type, op, comm);
#else
    return MPI_ERR_ARG;
#endif
}

int main(int argc, char **argv) {
    start(&argc, &argv, "red_large");
    if (argc > 2) what = argv[2];
    size_t words = MESSAGE / 4, first = 0, bad = 0;
    int from = 0, to = test.ranks; /* whose words are in the result */
    uint32_t *vector = malloc(MESSAGE);
    CHECK(vector != NULL);
    fill_words(vector, words, test.rank);
    struct counts before = counts_of(is("block") ? "reduce_scatter_block" : what);
    check_call(before, reduce(vector, argc > 1 && !strcmp(argv[1], "bytes")), (long long)MESSAGE, MPI_COMM_WORLD);
    if (is("block")) words /= (size_t)test.ranks, first = words * (size_t)test.rank;
    if (is("scan")) to = test.rank + 1;
    if (is("exscan")) to = test.rank ? test.rank : 1; /* rank 0 keeps its own */
    if (is("reduce") && test.rank) from = test.rank, to = from + 1;
    for (size_t i = 0; i < words; i++) {
        uint32_t all = 0;
        for (int r = from; r < to; r++) all ^= word(r, first + i);
        bad += vector[i] != all;
    }
    CHECK_IN(bad == 0, "%zu words wrong", bad);
    free(vector);
    return finish();
}
