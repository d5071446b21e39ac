/* MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw of derived types: with gaps, with a negative lower bound or extent,
 * whose elements lie between each other, and other ones on each rank, and for each pair of ranks, for the same data.
 */
#include "blocks.h"
#include "exchanges.h"

static struct layout layouts[INTS_MAKERS];
static unsigned call;

/* Units of 12 ints that one rank has for another. */
static int units(int from, int to, int regular, int both) {
    return regular ? 3 : pair_count(from, to, 3, both, call);
}

/* The data that one rank has for another: at most 3 units. */
static unsigned char *data_of(int from, int to) {
    static unsigned char data[3 * UNIT_BYTES];
    fill(data, sizeof data, pair_seed(from, to, call));
    return data;
}

/* One side of a call: for each rank its count and its place, and the memory with all of them. */
struct side {
    int *counts, *displs;
    MPI_Datatype *types;
    struct memory memory;
};

/* `sends`: it is for what this rank has for others. `type`: that of all blocks; -1: another one for each rank, and each
 * block has memory of its own. */
static struct side new_side(int me, int p, int sends, int type, int regular, int both, int seed) {
    size_t ints = sizeof(int) * (size_t)p;
    struct side s = {malloc(ints), malloc(ints), malloc(sizeof(MPI_Datatype) * (size_t)p), {0}};
    long place = 0, room = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int r = 0; r < p; r++) {
            const struct layout *l = &layouts[type < 0 ? (me + 3 * r + seed) % INTS_MAKERS : type];
            int n = sends ? units(me, r, regular, both) : units(r, me, regular, both);
            s.counts[r] = n * per_unit(l);
            s.types[r] = l->type;
            if (type >= 0) {
                s.displs[r] = regular ? r * s.counts[0] : r * 3 * per_unit(l);
                continue;
            }
            struct memory m = memory_for(l, s.counts[r]);
            if (pass == 1) s.displs[r] = (int)(place + (m.origin - m.base));
            place += (long)(m.bytes + 15) / 16 * 16;
            free(m.base);
        }
        if (type >= 0) break;
        room = place;
        place = 0;
    }
    if (type >= 0) {
        s.memory = memory_of_blocks(&layouts[type], p, s.counts, s.displs);
    } else {
        s.memory.bytes = (size_t)room;
        s.memory.base = s.memory.origin = aligned_alloc(16, (size_t)room);
    }
    return s;
}

static unsigned char *block_at(const struct side *s, int r, int type) {
    long unit = type < 0 ? 1 : layouts[type].extent;
    return s->memory.origin + s->displs[r] * unit;
}

static const struct layout *layout_of(const struct side *s, int r) {
    for (int i = 0; i < INTS_MAKERS; i++)
        if (layouts[i].type == s->types[r]) return &layouts[i];
    return NULL;
}

static void put(const struct side *s, int me, int p, int type, int outgoing) {
    for (int r = 0; r < p; r++)
        place_message(layout_of(s, r), s->counts[r], block_at(s, r, type), outgoing ? data_of(me, r) : data_of(r, me));
}

static void drop_side(struct side *s) {
    free(s->counts);
    free(s->displs);
    free(s->types);
    free(s->memory.base);
}

/* `form`: 0 for MPI_Alltoall, 1 for MPI_Alltoallv, 2 for MPI_Alltoallw. */
static void exchange(int form, int send_type, int type, int in_place, MPI_Comm comm) {
    int me, p, regular = form == 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    call++;
    if (form == 2) send_type = type = -1;
    struct side sent = new_side(me, p, 1, send_type, regular, in_place, 1);
    struct side got = new_side(me, p, 0, type, regular, in_place, 5);
    struct side want = new_side(me, p, 0, type, regular, in_place, 5);
    fill(sent.memory.base, sent.memory.bytes, 90);
    fill(got.memory.base, got.memory.bytes, 91);
    fill(want.memory.base, want.memory.bytes, 91);
    put(&sent, me, p, send_type, 1);
    if (in_place) put(&got, me, p, type, 1);
    put(&want, me, p, type, 0);
    const void *from = in_place ? MPI_IN_PLACE : (const void *)sent.memory.origin;
    void *to = got.memory.origin;
    if (form == 0)
        alltoall(from, sent.counts[0], sent.types[0], to, got.counts[0], got.types[0], comm);
    if (form == 1)
        alltoallv(from, sent.counts, sent.displs, sent.types[0], to, got.counts, got.displs, got.types[0], comm);
    if (form == 2) {
        /* Nobody looks at the types of empty blocks; but some hosts do. */
        for (int r = 0; r < p && is_algorithm(expected("alltoallw")) && is_rondos_comm(comm); r++) {
            if (!sent.counts[r]) sent.types[r] = MPI_DATATYPE_NULL;
            if (!got.counts[r]) got.types[r] = MPI_DATATYPE_NULL;
        }
        alltoallw(from, sent.counts, sent.displs, sent.types, to, got.counts, got.displs, got.types, comm);
    }
    CHECK_IN(memcmp(got.memory.base, want.memory.base, got.memory.bytes) == 0, "form %d, types %d and %d, in place %d",
             form, send_type, type, in_place);
    drop_side(&sent);
    drop_side(&got);
    drop_side(&want);
}

/* Types without a byte, and with an address of their own, relative to MPI_BOTTOM. */
static void oddities(MPI_Comm comm) {
    int me, p, none[1] = {0};
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    size_t ints = sizeof(int) * (size_t)p;
    int *own = malloc(ints), *got = malloc(ints), *ones = malloc(ints), *zeros = calloc(1, ints);
    MPI_Datatype empty, *from = malloc(sizeof *from * (size_t)p), *to = malloc(sizeof *to * (size_t)p);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    struct counts before = counts_of("alltoall");
    int rc = MPI_Alltoall(none, 3, empty, none + 1, 5, empty, comm);
    check_taken(before, rc, 0);
    for (int r = 0; r < p; r++) {
        MPI_Aint at;
        ones[r] = 1;
        own[r] = 100 * me + r;
        got[r] = -1;
        MPI_Get_address(own + r, &at);
        MPI_Type_create_hindexed(1, ones, &at, MPI_INT, from + r);
        MPI_Get_address(got + r, &at);
        MPI_Type_create_hindexed(1, ones, &at, MPI_INT, to + r);
        MPI_Type_commit(from + r);
        MPI_Type_commit(to + r);
    }
    alltoallw(MPI_BOTTOM, ones, zeros, from, MPI_BOTTOM, ones, zeros, to, comm);
    for (int r = 0; r < p; r++) {
        CHECK_IN(got[r] == 100 * r + me, "relative to MPI_BOTTOM, from %d", r);
        MPI_Type_free(from + r);
        MPI_Type_free(to + r);
    }
    MPI_Type_free(&empty);
    free(own);
    free(got);
    free(ones);
    free(zeros);
    free(from);
    free(to);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "a2a_types");
    for (int i = 0; i < INTS_MAKERS; i++) layouts[i] = ints_makers[i]();
    for (int i = 0; i < INTS_MAKERS; i++) {
        /* Another one on each rank: who sends must describe as many ints as who receives. */
        int own = (i + test.rank) % INTS_MAKERS, other = (i + 5 * test.rank + 3) % INTS_MAKERS;
        for (int in_place = 0; in_place < 2; in_place++) {
            exchange(0, i, other, in_place, MPI_COMM_WORLD);
            exchange(1, own, other, in_place, MPI_COMM_WORLD);
            exchange(2, 0, 0, in_place, MPI_COMM_WORLD);
        }
    }
    oddities(MPI_COMM_WORLD);
    for (int i = 0; i < INTS_MAKERS; i++) drop(&layouts[i]);
    return finish();
}
