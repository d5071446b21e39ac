/* Messages of more than 2 GiB, described with counts that fit into an int. The argument chooses the type.
 *
 * contiguous  (2^31 + 64) / 16 elements of 16 contiguous bytes
 * gaps        elements of 12 bytes in 16: the message passes 2 GiB, the memory behind it even more so
 */
#include "words.h"

static const size_t MESSAGE = ((size_t)1 << 31) + 64;

static void contiguous(int root) {
    size_t words = MESSAGE / 4;
    uint32_t *b = malloc(MESSAGE);
    CHECK(b != NULL);
    MPI_Datatype t;
    MPI_Type_contiguous(16, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    memset(b, 0, MESSAGE);
    if (test.rank == root) fill_words(b, words, 0);
    bcast(b, (int)(MESSAGE / 16), t, root, MPI_COMM_WORLD);
    size_t bad = wrong_words(b, words, 0);
    CHECK_IN(bad == 0, "%zu words wrong", bad);
    MPI_Type_free(&t);
    free(b);
}

static void gaps(int root) {
    size_t elements = MESSAGE / 12 + 1, bad = 0;
    uint32_t *b = malloc(elements * 16);
    CHECK(b != NULL);
    MPI_Datatype s, t;
    MPI_Type_contiguous(3, MPI_UINT32_T, &s);
    MPI_Type_create_resized(s, 0, 16, &t);
    MPI_Type_commit(&t);
    for (size_t i = 0; i < elements * 4; i++) b[i] = test.rank == root ? word(0, i) : 77;
    bcast(b, (int)elements, t, root, MPI_COMM_WORLD);
    for (size_t i = 0; i < elements * 4; i++) {
        uint32_t want = i % 4 == 3 && test.rank != root ? 77 : word(0, i);
        bad += b[i] != want;
    }
    CHECK_IN(bad == 0, "%zu words wrong", bad);
    MPI_Type_free(&t);
    MPI_Type_free(&s);
    free(b);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "large");
    if (argc > 1 && !strcmp(argv[1], "gaps"))
        gaps(1 % test.ranks);
    else
        contiguous(test.ranks - 1);
    return finish();
}
