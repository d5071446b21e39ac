/* MPI_Gatherv and MPI_Scatterv with the root's blocks anywhere: gaps between them, any order, below the buffer's
 * address.
 *
 * Only the root knows the places, and an empty block has none at all. Whatever lies between blocks stays as it was.
 */
#include "gsv.h"

static int *counts, *displs;

static void use(enum order kind, MPI_Datatype type, int each, unsigned seed) {
    struct piece piece;
    struct layout l = dense(type, &piece);
    for (int r = 0; r < test.ranks; r++) counts[r] = (int)(((unsigned)r * 7 + seed) % 4) * each;
    lay_out(kind, test.ranks, counts, seed, displs);
    for (int way = 0; way < WAYS; way++)
        check_move(&(struct move){.way = (enum way)way,
                                  .root = (int)(seed + (unsigned)way) % test.ranks,
                                  .in_place = seed % 2 != 0,
                                  .edition = seed,
                                  .own = &l,
                                  .all = &l,
                                  .counts = counts,
                                  .displs = displs,
                                  .comm = MPI_COMM_WORLD});
}

static const int sizes[] = {1, 7, 100, 2501, 12000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void every_order(void) {
    for (int kind = 0; kind < ORDERS; kind++)
        for (int i = 0; i < SIZES; i++)
            for (unsigned seed = 0; seed < 4; seed++)
                use((enum order)kind, seed / 2 ? MPI_INT : MPI_BYTE, seed / 2 ? (sizes[i] + 3) / 4 : sizes[i],
                    seed + (unsigned)i);
}

/* The same call again and again with other places, so that nothing may remember those of the call before. */
static void places_change(void) {
    struct piece piece;
    struct layout l = dense(MPI_INT, &piece);
    for (unsigned i = 0; i < 30; i++) {
        for (int r = 0; r < test.ranks; r++) counts[r] = 10 + r;
        lay_out(PERMUTED, test.ranks, counts, i, displs);
        check_move(&(struct move){.way = i % 2 ? SCATTER : GATHER,
                                  .edition = i,
                                  .own = &l,
                                  .all = &l,
                                  .counts = counts,
                                  .displs = displs,
                                  .comm = MPI_COMM_WORLD});
    }
}

/* Nobody looks at the displacement of an empty block. */
static void empty_blocks_anywhere(void) {
    const int wild[] = {1 << 30, -(1 << 30), 0x7fffffff, -0x7fffffff, 0};
    struct piece piece;
    struct layout l = dense(MPI_DOUBLE, &piece);
    for (int i = 0; i < 2 * SIZES; i++) {
        for (int r = 0; r < test.ranks; r++) counts[r] = (r + i) % 2 ? 0 : sizes[i / 2] / 4 + 1;
        lay_out(GAPS, test.ranks, counts, 0, displs);
        for (int r = 0; r < test.ranks; r++)
            if (counts[r] == 0) displs[r] = wild[(r + i) % 5];
        for (int way = 0; way < WAYS; way++)
            check_move(&(struct move){.way = (enum way)way,
                                      .root = i % test.ranks,
                                      .in_place = i % 3 == 0,
                                      .edition = (unsigned)i,
                                      .own = &l,
                                      .all = &l,
                                      .counts = counts,
                                      .displs = displs,
                                      .comm = MPI_COMM_WORLD});
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_displs");
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);
    every_order();
    places_change();
    empty_blocks_anywhere();
    free(counts);
    free(displs);
    return finish();
}
