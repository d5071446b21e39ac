/* A reduction of more than 2^31 bytes, in place. The argument says how they are counted.
 *
 * words  numbers of 8 bytes, whose count fits into an int
 * bytes  bytes, more than an int can count
 */
#include "words.h"

static const size_t MESSAGE = ((size_t)1 << 31) + 64;

int main(int argc, char **argv) {
    start(&argc, &argv, "red_large");
    size_t words = MESSAGE / 4, bad = 0;
    uint32_t *vector = malloc(MESSAGE);
    CHECK(vector != NULL);
    fill_words(vector, words, test.rank);
    struct counts before = counts_of("allreduce");
    int rc = MPI_ERR_ARG;
    if (argc < 2 || strcmp(argv[1], "bytes"))
        rc = MPI_Allreduce(MPI_IN_PLACE, vector, (int)(MESSAGE / 8), MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
    else
        rc = MPI_Allreduce_c(MPI_IN_PLACE, vector, (MPI_Count)MESSAGE, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
#endif
    check_call(before, rc, (long long)MESSAGE, MPI_COMM_WORLD);
    for (size_t i = 0; i < words; i++) {
        uint32_t all = 0;
        for (int r = 0; r < test.ranks; r++) all ^= word(r, i);
        bad += vector[i] != all;
    }
    CHECK_IN(bad == 0, "%zu words wrong", bad);
    free(vector);
    return finish();
}
