/* MPI_Allgatherv of more than 2 GiB in all, with one contributor of more than 1 GiB among smaller ones.
 *
 * Elements of 16 contiguous bytes, so that counts and displacements fit into an int. The blocks lie in reverse order.
 */
#include "words.h"

enum { ELEMENT = 16 };
static const size_t TOTAL = (((size_t)1 << 31) + 64) / ELEMENT, LARGEST = ((size_t)1 << 30) / ELEMENT + 1001;

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_large");
    int p = test.ranks, big = p > 1, *counts = malloc(sizeof *counts * (size_t)p),
        *displs = malloc(sizeof *displs * (size_t)p);
    size_t left = TOTAL - LARGEST, at = 0;
    for (int r = 0; r < p; r++) counts[r] = r == big ? (int)LARGEST : (int)(left / (size_t)p);
    for (int r = 0; r < p; r++) at += (size_t)counts[r];
    counts[p - 1] += (int)(TOTAL - at);
    at = 0;
    for (int r = p - 1; r >= 0; r--) {
        displs[r] = (int)at;
        at += (size_t)counts[r];
    }
    CHECK(at == TOTAL);

    size_t words = (size_t)counts[test.rank] * ELEMENT / 4, bad = 0;
    uint32_t *mine = malloc(words * 4 + 4), *all = malloc(TOTAL * ELEMENT);
    CHECK(mine != NULL && all != NULL);
    memset(all, 0, TOTAL * ELEMENT);
    fill_words(mine, words, test.rank);
    MPI_Datatype t;
    MPI_Type_contiguous(ELEMENT, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    allgatherv(mine, counts[test.rank], t, all, counts, displs, t, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++)
        bad += wrong_words(all + (size_t)displs[r] * ELEMENT / 4, (size_t)counts[r] * ELEMENT / 4, r);
    CHECK_IN(bad == 0, "%zu words wrong", bad);
    MPI_Type_free(&t);
    free(mine);
    free(all);
    free(counts);
    free(displs);
    return finish();
}
