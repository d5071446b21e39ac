/* Exchanges of more than 2 GiB in all, whose counts fit into an int.
 *
 * alltoall    blocks of the same size, together of more than 2 GiB on each rank
 * alltoallv   a single block of more than 2 GiB, from rank 0 to rank 1
 *
 * A block that is sent has the same piece of memory several times, so that little is needed. What goes to the next
 * rank begins one word further. What is received is looked at where it begins, in the middle, where it ends, and around
 * the ends of pieces.
 */
#include "exchanges.h"
#include "words.h"

enum { ELEMENT = 16, PIECE = 1 << 26, WORDS = PIECE / 4, NEAR = 100 };

/* A piece for each of all ranks, each beginning a word behind the one before. */
static uint32_t *piece;

/* So many pieces that are one and the same. */
static MPI_Datatype repeated(int pieces) {
    MPI_Datatype same, type;
    MPI_Type_create_hvector(pieces, PIECE, 0, MPI_BYTE, &same);
    MPI_Type_create_resized(same, 0, 4, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&same);
    return type;
}

/* Is this what `from` has for this rank, at the places that are looked at? */
static void check_block(const uint32_t *block, int pieces, int from) {
    size_t words = (size_t)pieces * WORDS, bad = 0;
    for (int i = 0; i <= pieces; i++)
        for (size_t j = 0; j < 2 * NEAR; j++) {
            size_t at = (size_t)i * WORDS + j - NEAR; /* one below 0 is too large */
            if (at < words) bad += block[at] != word(from, at % WORDS + (size_t)test.rank);
        }
    for (size_t at = words / 2 - NEAR; at < words / 2 + NEAR; at++)
        bad += block[at] != word(from, at % WORDS + (size_t)test.rank);
    CHECK_IN(bad == 0, "%zu words of rank %d", bad, from);
}

static void all_alike(MPI_Datatype element) {
    /* Of the fewest pieces with which all blocks together have more than 2 GiB. */
    int p = test.ranks, pieces = (1 << 5) / p + 1;
    size_t bytes = (size_t)pieces * PIECE;
    MPI_Datatype type = repeated(pieces);
    uint32_t *got = calloc((size_t)p, bytes);
    CHECK(got != NULL);
    alltoall(piece, 1, type, got, (int)(bytes / ELEMENT), element, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) check_block(got + (size_t)r * bytes / 4, pieces, r);
    free(got);
    MPI_Type_free(&type);
}

static void one_block(MPI_Datatype element) {
    int p = test.ranks, pieces = (1 << 5) + 1, takes = test.rank == 1;
    size_t bytes = (size_t)pieces * PIECE, ints = sizeof(int) * (size_t)p;
    MPI_Datatype type = repeated(pieces);
    int *sent = calloc(1, ints), *counts = calloc(1, ints), *displs = calloc(1, ints);
    uint32_t *got = calloc(1, takes ? bytes : 4);
    CHECK(got != NULL);
    sent[1] = test.rank == 0;
    displs[1] = 1;
    counts[0] = takes ? (int)(bytes / ELEMENT) : 0;
    int none[16] = {0};
    alltoallv(piece, sent, displs, type, got, counts, none, element, MPI_COMM_WORLD);
    if (takes) check_block(got, pieces, 0);
    free(got);
    free(sent);
    free(counts);
    free(displs);
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "a2a_large");
    piece = malloc(PIECE + 4 * (size_t)test.ranks);
    fill_words(piece, WORDS + (size_t)test.ranks, test.rank);
    MPI_Datatype element;
    MPI_Type_contiguous(ELEMENT, MPI_BYTE, &element);
    MPI_Type_commit(&element);
    if (argc > 1 && !strcmp(argv[1], "alltoallv"))
        one_block(element);
    else
        all_alike(element);
    MPI_Type_free(&element);
    free(piece);
    return finish();
}
