/* MPI_Gatherv_c, MPI_Scatterv_c, MPI_Gather_c and MPI_Scatter_c, and the same with PMPI_, where the host has them:
 * taken like the functions without _c, with counts of type MPI_Count and displacements of type MPI_Aint.
 */
#include "gsv.h"

static MPI_Comm world;
static int *counts, *displs;
static MPI_Count *wide_counts;
static MPI_Aint *wide_displs;

/* By which name the call goes. */
enum name { UPPER, LOWER, MIXED, NAMES };

static int call_v(const struct scene *s, const struct move *m, enum name name) {
    void *own = s->own_buffer, *all = s->all_buffer;
    const MPI_Count *wide = s->counts ? wide_counts : NULL;
    const MPI_Aint *far = s->displs ? wide_displs : NULL;
    if (name == MIXED && test.rank % 2)
        return m->way == GATHER ? MPI_Gatherv(own, s->own_count, s->own_type, all, s->counts, s->displs, s->all_type,
                                              m->root, world)
                                : MPI_Scatterv(all, s->counts, s->displs, s->all_type, own, s->own_count, s->own_type,
                                               m->root, world);
    if (m->way == GATHER)
        return (name == LOWER ? PMPI_Gatherv_c : MPI_Gatherv_c)(own, s->own_count, s->own_type, all, wide, far,
                                                                s->all_type, m->root, world);
    return (name == LOWER ? PMPI_Scatterv_c : MPI_Scatterv_c)(all, wide, far, s->all_type, own, s->own_count,
                                                              s->own_type, m->root, world);
}

static int call_regular(const struct scene *s, const struct move *m, enum name name) {
    void *own = s->own_buffer, *all = s->all_buffer;
    if (name == MIXED && test.rank % 2)
        return m->way == GATHER
                   ? MPI_Gather(own, s->own_count, s->own_type, all, s->each_count, s->all_type, m->root, world)
                   : MPI_Scatter(all, s->each_count, s->all_type, own, s->own_count, s->own_type, m->root, world);
    if (m->way == GATHER)
        return (name == LOWER ? PMPI_Gather_c : MPI_Gather_c)(own, s->own_count, s->own_type, all, s->each_count,
                                                              s->all_type, m->root, world);
    return (name == LOWER ? PMPI_Scatter_c : MPI_Scatter_c)(all, s->each_count, s->all_type, own, s->own_count,
                                                            s->own_type, m->root, world);
}

static void one(const struct move *m, enum name name) {
    const char *collectives[WAYS][2] = {{"gatherv", "gather"}, {"scatterv", "scatter"}};
    struct scene s = set_scene(m);
    struct counts before = counts_of(collectives[m->way][m->regular]);
    int code = m->regular ? call_regular(&s, m, name) : call_v(&s, m, name);
    check_taken(before, code, is_rondos_comm(world) && (!m->regular || m->counts[0] > 0));
    look(&s, m);
}

/* Blocks of zero, one or two times `units` units of 12 ints, in reverse order, or of `units` units each. */
static void every_name(const struct layout *own, const struct layout *all, int in_place) {
    const int units[] = {0, 1, 30, 700};
    for (int n = 0; n < 4 * WAYS * 2 * NAMES; n++) {
        int unit = units[n % 4] * per_unit(all), regular = n / 4 % 2;
        for (int r = 0; r < test.ranks; r++) counts[r] = (regular ? 1 : (r + n) % 3) * unit;
        lay_out(regular ? CONTIGUOUS : REVERSED, test.ranks, counts, 0, displs);
        for (int r = 0; r < test.ranks; r++) {
            wide_counts[r] = counts[r];
            wide_displs[r] = displs[r];
        }
        one(&(struct move){.way = (enum way)(n / 8 % WAYS),
                           .regular = regular,
                           .root = n % test.ranks,
                           .in_place = in_place,
                           .edition = (unsigned)n,
                           .own = own,
                           .all = all,
                           .counts = counts,
                           .displs = displs,
                           .comm = world},
            (enum name)(n / 16));
    }
}

static void errors(void) {
    int from[4] = {0}, *to = calloc((size_t)test.ranks * 4, sizeof *to), codes[4];
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int r = 0; r < test.ranks; r++) wide_counts[r] = 4;
    for (int r = 0; r < test.ranks; r++) wide_displs[r] = 4 * r;
    codes[0] = MPI_Gatherv_c(from, -1, MPI_INT, to, wide_counts, wide_displs, MPI_INT, 0, world);
    codes[1] = MPI_Scatterv_c(to, wide_counts, wide_displs, MPI_INT, from, -1, MPI_INT, 0, world);
    codes[2] = MPI_Gather_c(from, -1, MPI_INT, to, 4, MPI_INT, 0, world);
    codes[3] = MPI_Scatter_c(to, 4, MPI_INT, from, -1, MPI_INT, 0, world);
    for (int i = 0; i < 4; i++) {
        int class;
        MPI_Error_class(codes[i], &class);
        CHECK_IN(class == MPI_ERR_COUNT, "call %d", i);
    }
    free(to);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gsvc");
    size_t p = (size_t)test.ranks;
    world = MPI_COMM_WORLD;
    counts = malloc(sizeof *counts * p);
    displs = malloc(sizeof *displs * p);
    wide_counts = malloc(sizeof *wide_counts * p);
    wide_displs = malloc(sizeof *wide_displs * p);
    struct layout plain = ints_plain(), vector = ints_vector(), permuted = ints_permuted();
    struct layout large = ints_large_constructor();
    every_name(&plain, &plain, 0);
    every_name(&plain, &plain, 1);
    every_name(&vector, &permuted, 0);
    every_name(&plain, &large, 1);
    every_name(&large, &vector, 0);
    struct layout *all[] = {&plain, &vector, &permuted, &large};
    for (int i = 0; i < 4; i++) drop(all[i]);
    errors();
    free(counts);
    free(displs);
    free(wide_counts);
    free(wide_displs);
    return finish();
}
