/* MPI_Gatherv, MPI_Scatterv, MPI_Gather and MPI_Scatter of more than 2 GiB. The argument says where these are:
 *
 * block     one block of more than 2 GiB among smaller ones, with elements of 16 contiguous bytes, so that counts and
 *           displacements fit into an int; the blocks lie in reverse order
 * total     blocks of equal size, more than 2 GiB in all
 * distance  short blocks, far from each other, by MPI_Gatherv_c and MPI_Scatterv_c
 */
#include "words.h"

enum { ELEMENT = 16, WORDS = ELEMENT / 4 };

static MPI_Datatype element;

static void block(void) {
    int p = test.ranks, root = 0, big = p - 1, at = 0, mine;
    int *counts = malloc(sizeof *counts * (size_t)p), *displs = malloc(sizeof *displs * (size_t)p);
    for (int r = p - 1; r >= 0; r--) {
        counts[r] = r == big ? (1 << 27) + 1001 : 1000003; /* 2^31 bytes and some; 16 MB */
        displs[r] = at;
        at += counts[r];
    }
    mine = counts[test.rank];
    size_t bytes = (size_t)mine * ELEMENT, total = test.rank == root ? (size_t)at * ELEMENT : 0, bad = 0;
    uint32_t *own = malloc(bytes), *all = malloc(total + 1);
    CHECK(own != NULL && all != NULL);
    fill_words(own, bytes / 4, test.rank);
    memset(all, 0, total);
    gatherv(own, mine, element, all, counts, displs, element, root, MPI_COMM_WORLD);
    for (int r = 0; r < p && test.rank == root; r++)
        bad += wrong_words(all + (size_t)displs[r] * WORDS, (size_t)counts[r] * WORDS, r);
    CHECK_IN(bad == 0, "%zu words of the gather wrong", bad);
    memset(own, 0, bytes);
    scatterv(all, counts, displs, element, own, mine, element, root, MPI_COMM_WORLD);
    bad = wrong_words(own, bytes / 4, test.rank);
    CHECK_IN(bad == 0, "%zu words of the scatter wrong", bad);
    free(own);
    free(all);
    free(counts);
    free(displs);
}

static void total(void) {
    int p = test.ranks, root = 1 % p, each = (int)((((size_t)1 << 31) / ELEMENT + 999) / (size_t)p);
    size_t bytes = (size_t)each * ELEMENT, bad = 0;
    uint32_t *own = malloc(bytes), *all = calloc(test.rank == root ? (size_t)p : 1, bytes);
    CHECK(own != NULL && all != NULL);
    fill_words(own, bytes / 4, test.rank);
    gather(own, each, element, all, each, element, root, MPI_COMM_WORLD);
    for (int r = 0; r < p && test.rank == root; r++) bad += wrong_words(all + (size_t)r * bytes / 4, bytes / 4, r);
    CHECK_IN(bad == 0, "%zu words of the gather wrong", bad);
    memset(own, 0, bytes);
    scatter(all, each, element, own, each, element, root, MPI_COMM_WORLD);
    bad = wrong_words(own, bytes / 4, test.rank);
    CHECK_IN(bad == 0, "%zu words of the scatter wrong", bad);
    free(own);
    free(all);
}

#if MPI_VERSION >= 4
static void distance(void) {
    enum { BLOCK = 5000 };
    const MPI_Aint step = ((MPI_Aint)1 << 31) + 12345;
    int p = test.ranks, root = p / 2, takes = is_rondos_comm(MPI_COMM_WORLD);
    MPI_Count *counts = malloc(sizeof *counts * (size_t)p);
    MPI_Aint *displs = malloc(sizeof *displs * (size_t)p);
    for (int r = 0; r < p; r++) {
        counts[r] = BLOCK + r;
        displs[r] = r * step;
    }
    int mine = BLOCK + test.rank;
    /* The memory in between is never touched, so it needs to be there in name only. */
    unsigned char *own = malloc((size_t)mine), *all = malloc((size_t)(p * step));
    CHECK(all != NULL);
    fill(own, (size_t)mine, (unsigned)test.rank);
    struct counts before = counts_of("gatherv");
    check_taken(before,
                MPI_Gatherv_c(own, mine, MPI_BYTE, all, counts, displs, MPI_BYTE, root, MPI_COMM_WORLD), takes);
    for (int r = 0; r < p && test.rank == root; r++) {
        CHECK_IN(wrong(all + displs[r], (size_t)counts[r], (unsigned)r) == 0, "block of rank %d", r);
        fill(all + displs[r], (size_t)counts[r], 100 + (unsigned)r);
    }
    before = counts_of("scatterv");
    check_taken(before,
                MPI_Scatterv_c(all, counts, displs, MPI_BYTE, own, mine, MPI_BYTE, root, MPI_COMM_WORLD), takes);
    CHECK(wrong(own, (size_t)mine, 100 + (unsigned)test.rank) == 0);
    free(own);
    free(all);
    free(counts);
    free(displs);
}
#else
static void distance(void) { CHECK(!"the host has no _c functions"); }
#endif

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_large");
    MPI_Type_contiguous(ELEMENT, MPI_BYTE, &element);
    MPI_Type_commit(&element);
    if (argc > 1 && !strcmp(argv[1], "distance"))
        distance();
    else if (argc > 1 && !strcmp(argv[1], "total"))
        total();
    else
        block();
    MPI_Type_free(&element);
    return finish();
}
