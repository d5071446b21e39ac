/* In place, MPI ignores what a rank says it sends, so it may be anything: a negative count, no type at all, a type that
 * was freed, or a value that never was a type.
 */
#include "agv.h"

static int *counts, *displs, *got;

static void in_place(const char *what, int count, MPI_Datatype type) {
    int total = 0;
    for (int r = 0; r < test.ranks; r++) {
        counts[r] = r % 3 * 1000 + 10;
        displs[r] = total;
        total += counts[r];
    }
    for (int i = 0; i < total; i++) got[i] = -1;
    for (int i = 0; i < counts[test.rank]; i++) got[displs[test.rank] + i] = 10000 * test.rank + i;
    allgatherv(MPI_IN_PLACE, count, type, got, counts, displs, MPI_INT, MPI_COMM_WORLD);
    int bad = 0;
    for (int r = 0; r < test.ranks; r++)
        for (int i = 0; i < counts[r]; i++) bad += got[displs[r] + i] != 10000 * r + i;
    CHECK_IN(bad == 0, "%s in MPI_Allgatherv", what);

    for (int i = 0; i < 100 * test.ranks; i++) got[i] = i / 100 == test.rank ? i : -1;
    allgather(MPI_IN_PLACE, count, type, got, 100, MPI_INT, MPI_COMM_WORLD);
    bad = 0;
    for (int i = 0; i < 100 * test.ranks; i++) bad += got[i] != i;
    CHECK_IN(bad == 0, "%s in MPI_Allgather", what);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_garbage");
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);
    got = malloc(sizeof *got * 3000 * (size_t)test.ranks);
    MPI_Datatype type, freed;
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    freed = type;
    MPI_Type_free(&type);
    in_place("a negative count", -7, MPI_INT);
    in_place("no type", 0, MPI_DATATYPE_NULL);
    in_place("a freed type", 5, freed);
    in_place("no handle at all", 5, (MPI_Datatype)(size_t)0x8c001234);
    free(counts);
    free(displs);
    free(got);
    return finish();
}
