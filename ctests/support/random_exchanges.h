/* Random exchanges of blocks between all ranks, whose results every rank knows: MPI_Alltoall, MPI_Alltoallv and
 * MPI_Alltoallw, with empty blocks, types with gaps on one side or both, other ones for each rank, and in place.
 */
#ifndef RANDOM_EXCHANGES_H
#define RANDOM_EXCHANGES_H

#include "random_comms.h"

enum { SAME_SIZE, ANY_SIZES, ANY_TYPES, EXCHANGES_KINDS };

static const char *const exchanges[] = {"alltoall", "alltoallv", "alltoallw"};

/* Integers of a block: one behind the other, or with a gap behind each. */
struct spaced {
    MPI_Datatype type;
    int stride; /* in integers */
};

static struct spaced spaced_by(int stride) {
    struct spaced s = {MPI_INT, stride};
    if (stride == 1) return s;
    MPI_Type_create_resized(MPI_INT, 0, stride * (MPI_Aint)sizeof(int), &s.type);
    MPI_Type_commit(&s.type);
    return s;
}

static void drop_spaced(struct spaced *s) {
    if (s->stride != 1) MPI_Type_free(&s->type);
}

/* Blocks for all ranks, or from them, behind each other in memory. */
struct side {
    int counts[128], displs[128], strides[128], total; /* displacements and the total in integers */
    MPI_Datatype types[128];
    int *memory;
};

static int element(uint64_t call, int from, int to, int i) {
    uint64_t state = call + (uint64_t)from * 1000003 + (uint64_t)to * 7919 + (uint64_t)i;
    return (int)(next_of(&state) >> 33);
}

/* `from` and `to` of the block of another rank, on the side of what is sent or received. */
static void fill_side(struct side *side, uint64_t call, int p, int me, int sends) {
    side->memory = malloc(sizeof(int) * (size_t)(side->total + 1));
    for (int i = 0; i <= side->total; i++) side->memory[i] = -1 - i;
    for (int r = 0; sends && r < p; r++)
        for (int i = 0; i < side->counts[r]; i++)
            side->memory[side->displs[r] + i * side->strides[r]] = element(call, me, r, i);
}

static void lay_out(struct side *side, int p, int gap) {
    side->total = 0;
    for (int r = 0; r < p; r++) {
        side->displs[r] = side->total;
        side->total += (side->counts[r] + gap) * side->strides[r];
    }
}

/* What was received, and nothing beside it. */
static long wrong_of(const struct side *side, uint64_t call, int p, int me) {
    long wrong = 0;
    int next = 0, r = 0, i = 0;
    for (int at = 0; at <= side->total; at++) {
        while (r < p && i == side->counts[r]) r++, i = 0;
        if (i == 0 && r < p) next = side->displs[r];
        if (r < p && at == next) {
            wrong += side->memory[at] != element(call, r, me, i);
            i++;
            next += side->strides[r];
        } else {
            wrong += side->memory[at] != -1 - at;
        }
    }
    return wrong;
}

static void exchange(MPI_Comm comm) {
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    int kind = draw_int(EXCHANGES_KINDS), in_place = draw(3) == 0, unit = draw_int(draw(4) ? 30 : 3000);
    int gap = draw_int(3), salt = draw_int(1000), empty = draw(2) == 0;
    int strides[2] = {1 + draw_int(2), 1 + draw_int(2)};
    uint64_t call = draw(UINT64_MAX);
    struct side out = {.total = 0}, in = {.total = 0};
    struct spaced types[4];
    for (int s = 0; s < 4; s++) types[s] = spaced_by(s < 2 ? strides[s] : s - 1);
    for (int r = 0; r < p; r++) {
        /* As much goes there as comes from there, so that it may be in place. */
        int pair = (me + r) * salt % 7, count = kind == SAME_SIZE ? unit : empty && pair < 3 ? 0 : unit * pair / 7;
        out.counts[r] = in.counts[r] = count;
        /* Types of their own for each rank, here and there; in place, blocks of both sides are the same. */
        int own = kind == ANY_TYPES ? 2 + (me * 3 + r) % 2 : 1;
        out.strides[r] = types[kind == ANY_TYPES ? 2 + (r + salt) % 2 : 0].stride;
        out.types[r] = types[kind == ANY_TYPES ? 2 + (r + salt) % 2 : 0].type;
        in.strides[r] = types[own].stride;
        in.types[r] = types[own].type;
    }
    lay_out(&out, p, kind == SAME_SIZE ? 0 : gap);
    lay_out(&in, p, kind == SAME_SIZE ? 0 : gap);
    fill_side(&out, call, p, me, 1);
    fill_side(&in, call, p, me, in_place);
    int out_displs[128], in_displs[128];
    for (int r = 0; r < p; r++) {
        int bytes = kind == ANY_TYPES ? (int)sizeof(int) : 1;
        /* Displacements of MPI_Alltoallv are in extents. */
        out_displs[r] = kind == ANY_SIZES ? out.displs[r] / strides[0] : out.displs[r] * bytes;
        in_displs[r] = kind == ANY_SIZES ? in.displs[r] / strides[1] : in.displs[r] * bytes;
    }
    const void *from = in_place ? MPI_IN_PLACE : (const void *)out.memory;
    int rc;
    switch (kind) {
    case SAME_SIZE:
        rc = CALL(Alltoall, from, unit, types[0].type, in.memory, unit, types[1].type, comm);
        break;
    case ANY_SIZES:
        rc = CALL(Alltoallv, from, out.counts, out_displs, types[0].type, in.memory, in.counts, in_displs,
                  types[1].type, comm);
        break;
    default:
        rc = CALL(Alltoallw, from, out.counts, out_displs, out.types, in.memory, in.counts, in_displs, in.types, comm);
    }
    add_code(rc);
    long wrong = wrong_of(&in, call, p, me);
    CHECK_IN(wrong == 0, "%ld of %d wrong: %s of %d among %d ranks%s", wrong, in.total, exchanges[kind], unit, p,
             in_place ? ", in place" : "");
    add(in.memory, sizeof(int) * (size_t)in.total);
    for (int s = 0; s < 4; s++) drop_spaced(&types[s]);
    free(out.memory);
    free(in.memory);
}

/* Has Rondo carried out some of each, where it must? */
static MAYBE_UNUSED void check_exchanges(void) {
    for (int kind = 0; test.expect && is_algorithm(test.expect) && kind < EXCHANGES_KINDS && test.ranks >= 3; kind++)
        CHECK_IN(test.calls(exchanges[kind], NULL) > 0, "%s", exchanges[kind]);
}

#endif
