/* MPI_Allgatherv with blocks anywhere: gaps between them, any order, below the buffer's address.
 *
 * Displacements are each rank's own business. Ranks may put the blocks into different places in one call, and an empty
 * block has no place at all. Whatever lies between blocks stays as it was.
 */
#include "agv.h"

static int *counts, *displs;

static void use(enum order kind, MPI_Datatype type, int each, unsigned seed) {
    struct piece piece;
    struct layout l = dense(type, &piece);
    for (int r = 0; r < test.ranks; r++) counts[r] = (int)(((unsigned)r * 7 + seed) % 4) * each;
    lay_out(kind, test.ranks, counts, seed, displs);
    allgather_blocks(seed % 2 ? &l : NULL, &l, counts, displs, MPI_COMM_WORLD);
}

static const int sizes[] = {1, 7, 100, 2501, 12000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void alike(void) {
    for (int kind = 0; kind < ORDERS; kind++)
        for (int i = 0; i < SIZES; i++)
            for (unsigned seed = 0; seed < 4; seed++)
                use(kind, seed / 2 ? MPI_INT : MPI_BYTE, seed / 2 ? (sizes[i] + 3) / 4 : sizes[i], seed + (unsigned)i);
}

/* Each rank has an order of its own. */
static void each_its_own(void) {
    for (int step = 0; step < ORDERS; step++)
        for (int i = 0; i < SIZES; i++) {
            enum order kind = (enum order)((test.rank + step) % ORDERS);
            struct piece piece;
            struct layout l = dense(MPI_SHORT, &piece);
            for (int r = 0; r < test.ranks; r++) counts[r] = (r + step) % 3 * sizes[i];
            lay_out(kind, test.ranks, counts, (unsigned)(100 * test.rank + step), displs);
            allgather_blocks((step + i) % 2 ? &l : NULL, &l, counts, displs, MPI_COMM_WORLD);
        }
}

/* The same call again and again with other places, so that nothing may remember those of the call before. */
static void places_change(void) {
    for (int i = 0; i < 30; i++) {
        struct piece piece;
        struct layout l = dense(MPI_INT, &piece);
        for (int r = 0; r < test.ranks; r++) counts[r] = 50 + r;
        lay_out(PERMUTED, test.ranks, counts, (unsigned)(i * (test.rank + 1)), displs);
        allgather_blocks(&l, &l, counts, displs, MPI_COMM_WORLD);
    }
}

/* Nobody looks at the displacement of an empty block. */
static void empty_blocks_anywhere(void) {
    const int wild[] = {1 << 30, -(1 << 30), 0x7fffffff, -0x7fffffff, 0};
    for (int i = 0; i < SIZES; i++) {
        struct piece piece;
        struct layout l = dense(MPI_DOUBLE, &piece);
        for (int r = 0; r < test.ranks; r++) counts[r] = (r + i) % 2 ? 0 : sizes[i] / 4 + 1;
        lay_out(GAPS, test.ranks, counts, 0, displs);
        for (int r = 0; r < test.ranks; r++)
            if (counts[r] == 0) displs[r] = wild[(r + i) % 5];
        allgather_blocks(i % 2 ? &l : NULL, &l, counts, displs, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_displs");
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);
    alike();
    each_its_own();
    places_change();
    empty_blocks_anywhere();
    free(counts);
    free(displs);
    return finish();
}
