/* MPI_Allgatherv with blocks anywhere: gaps between them, any order, below the buffer's address.
 *
 * Displacements are each rank's own business. Ranks may put the blocks into different places in one call, and an empty
 * block has no place at all. Whatever lies between blocks stays as it was.
 */
#include "agv.h"

enum order { CONTIGUOUS, GAPS, REVERSED, PERMUTED, BELOW, MIDDLE, ORDERS };

static int *counts, *displs, *order;

static unsigned next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Gives every block its place. The seed makes the permutation, and the widths of its gaps. */
static void lay_out(enum order kind, unsigned seed) {
    int p = test.ranks, at = 0, total = 0;
    for (int i = 0; i < p; i++) order[i] = kind == REVERSED ? p - 1 - i : i;
    for (int i = p - 1; kind == PERMUTED && i > 0; i--) {
        int j = (int)(next_random(&seed) % (unsigned)(i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (int i = 0; i < p; i++) total += counts[i];
    if (kind == BELOW) at = -total - 3 * p;
    if (kind == MIDDLE) at = -total / 2;
    for (int i = 0; i < p; i++) {
        displs[order[i]] = at;
        at += counts[order[i]];
        if (kind == GAPS) at += 1 + 5 * i;
        if (kind == PERMUTED) at += (int)(next_random(&seed) % 4);
        if (kind == BELOW) at += 2;
    }
}

static void use(enum order kind, MPI_Datatype type, int each, unsigned seed) {
    struct piece piece;
    struct layout l = dense(type, &piece);
    for (int r = 0; r < test.ranks; r++) counts[r] = (int)(((unsigned)r * 7 + seed) % 4) * each;
    lay_out(kind, seed);
    gather_blocks(seed % 2 ? &l : NULL, &l, counts, displs, MPI_COMM_WORLD);
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
            lay_out(kind, (unsigned)(100 * test.rank + step));
            gather_blocks((step + i) % 2 ? &l : NULL, &l, counts, displs, MPI_COMM_WORLD);
        }
}

/* The same call again and again with other places, so that nothing may remember those of the call before. */
static void places_change(void) {
    for (int i = 0; i < 30; i++) {
        struct piece piece;
        struct layout l = dense(MPI_INT, &piece);
        for (int r = 0; r < test.ranks; r++) counts[r] = 50 + r;
        lay_out(PERMUTED, (unsigned)(i * (test.rank + 1)));
        gather_blocks(&l, &l, counts, displs, MPI_COMM_WORLD);
    }
}

/* Nobody looks at the displacement of an empty block. */
static void empty_blocks_anywhere(void) {
    const int wild[] = {1 << 30, -(1 << 30), 0x7fffffff, -0x7fffffff, 0};
    for (int i = 0; i < SIZES; i++) {
        struct piece piece;
        struct layout l = dense(MPI_DOUBLE, &piece);
        for (int r = 0; r < test.ranks; r++) counts[r] = (r + i) % 2 ? 0 : sizes[i] / 4 + 1;
        lay_out(GAPS, 0);
        for (int r = 0; r < test.ranks; r++)
            if (counts[r] == 0) displs[r] = wild[(r + i) % 5];
        gather_blocks(i % 2 ? &l : NULL, &l, counts, displs, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agv_displs");
    counts = malloc(sizeof *counts * (size_t)test.ranks);
    displs = malloc(sizeof *displs * (size_t)test.ranks);
    order = malloc(sizeof *order * (size_t)test.ranks);
    alike();
    each_its_own();
    places_change();
    empty_blocks_anywhere();
    free(counts);
    free(displs);
    free(order);
    return finish();
}
