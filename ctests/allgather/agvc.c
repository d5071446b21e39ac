/* MPI_Allgatherv_c and MPI_Allgather_c, and the same with PMPI_, where the host has them: taken like MPI_Allgatherv and
 * MPI_Allgather, with counts of type MPI_Count and displacements of type MPI_Aint.
 */
#include "agv.h"

static MPI_Comm world;
static int *counts, *displs;
static MPI_Count *wide_counts;
static MPI_Aint *wide_displs;

enum { UPPER, LOWER, MIXED, WAYS }; /* by which name the call goes */

/* Blocks of zero, one or two times `unit` units of 12 ints, in reverse order. */
static void irregular(const struct layout *send, const struct layout *recv, int unit, int way) {
    int at = 0;
    for (int r = test.ranks - 1; r >= 0; r--) {
        wide_counts[r] = counts[r] = (r + unit) % 3 * unit * per_unit(recv);
        wide_displs[r] = displs[r] = at;
        at += counts[r];
    }
    struct trial t = prepare(send, recv, counts, displs, world);
    struct counts before = counts_of("allgatherv");
    void *to = t.got.origin;
    int rc;
    if (way == MIXED && test.rank % 2)
        rc = MPI_Allgatherv(t.send, t.send_count, t.send_type, to, counts, displs, recv->type, world);
    else if (way == LOWER)
        rc = PMPI_Allgatherv_c(t.send, t.send_count, t.send_type, to, wide_counts, wide_displs, recv->type, world);
    else
        rc = MPI_Allgatherv_c(t.send, t.send_count, t.send_type, to, wide_counts, wide_displs, recv->type, world);
    check_call(before, rc, allgatherv_bytes(counts, recv->type, world), world);
    verify(&t, send, recv, counts, displs, world);
}

static void regular(const struct layout *send, const struct layout *recv, int units, int way) {
    int count = units * per_unit(recv);
    for (int r = 0; r < test.ranks; r++) {
        counts[r] = count;
        displs[r] = r * count;
    }
    struct trial t = prepare(send, recv, counts, displs, world);
    struct counts before = counts_of("allgather");
    void *to = t.got.origin;
    int rc;
    if (way == MIXED && test.rank % 2)
        rc = MPI_Allgather(t.send, t.send_count, t.send_type, to, count, recv->type, world);
    else if (way == LOWER)
        rc = PMPI_Allgather_c(t.send, t.send_count, t.send_type, to, count, recv->type, world);
    else
        rc = MPI_Allgather_c(t.send, t.send_count, t.send_type, to, count, recv->type, world);
    check_call(before, rc, allgatherv_bytes(counts, recv->type, world), world);
    verify(&t, send, recv, counts, displs, world);
}

static void both(const struct layout *send, const struct layout *recv) {
    const int units[] = {0, 1, 30, 700};
    for (int i = 0; i < 4; i++)
        for (int way = 0; way < WAYS; way++) {
            irregular(send, recv, units[i], way);
            regular(send, recv, units[i], way);
        }
}

static void errors(void) {
    int class, from[4] = {0}, *to = calloc((size_t)test.ranks * 4, sizeof *to);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int r = 0; r < test.ranks; r++) {
        wide_counts[r] = r == 0 ? -1 : 4;
        wide_displs[r] = 4 * r;
    }
    MPI_Error_class(MPI_Allgatherv_c(from, 4, MPI_INT, to, wide_counts, wide_displs, MPI_INT, world), &class);
    CHECK(class == MPI_ERR_COUNT);
    MPI_Error_class(MPI_Allgather_c(from, -1, MPI_INT, to, 4, MPI_INT, world), &class);
    CHECK(class == MPI_ERR_COUNT);
    free(to);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "agvc");
    size_t p = (size_t)test.ranks;
    world = MPI_COMM_WORLD;
    counts = malloc(sizeof *counts * p);
    displs = malloc(sizeof *displs * p);
    wide_counts = malloc(sizeof *wide_counts * p);
    wide_displs = malloc(sizeof *wide_displs * p);
    struct layout plain = ints_plain(), vector = ints_vector(), permuted = ints_permuted();
    struct layout large = ints_large_constructor();
    both(&plain, &plain);
    both(NULL, &plain);
    both(&vector, &permuted);
    both(NULL, &large);
    both(&large, &vector);
    struct layout *all[] = {&plain, &vector, &permuted, &large};
    for (int i = 0; i < 4; i++) drop(all[i]);
    errors();
    free(counts);
    free(displs);
    free(wide_counts);
    free(wide_displs);
    return finish();
}
