/* Random legal programs: communicators split, duplicated and freed; all collectives with types, roots, counts, distributions and
 * in place; messages to wildcard receives and nonblocking collectives under way meanwhile. A program is decided by its seed, on all
 * ranks alike, and prints one number for all the memory of all ranks at its end, gaps and margins included. The runner compares
 * these with those of the bare run.
 *
 *   fuzz FIRST COUNT     seeds
 */
#include "rondo_test.h"
#include <stdint.h>

enum { COMMS = 5, OPS = 40, MARGIN = 64 };

static uint64_t state;

/* splitmix64: the same numbers on all ranks. */
static uint64_t draw(uint64_t below) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

static uint64_t hash;

static void add(const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
}

/* A type of some ints, of which MPI knows all. */
static MPI_Datatype a_type(void) {
    MPI_Datatype type, inner;
    switch (draw(8)) {
    case 0: MPI_Type_contiguous(3, MPI_INT, &type); break;
    case 1: MPI_Type_vector(3, 2, 4, MPI_INT, &type); break;
    case 2: MPI_Type_create_resized(MPI_INT, 0, 12, &type); break;
    case 3: MPI_Type_indexed(3, (int[]){2, 1, 3}, (int[]){0, 4, 7}, MPI_INT, &type); break;
    case 4:
        MPI_Type_vector(2, 1, 2, MPI_SHORT, &inner);
        MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, inner}, &type);
        MPI_Type_free(&inner);
        break;
    case 5: MPI_Type_create_hvector(2, 1, 20, MPI_DOUBLE, &type); break;
    default: MPI_Type_dup(draw(2) ? MPI_INT : MPI_BYTE, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

static unsigned char *memory(size_t bytes, int rank, int op) {
    unsigned char *b = malloc(bytes + MARGIN);
    for (size_t i = 0; i < bytes + MARGIN; i++) b[i] = (unsigned char)(i * 31 + (size_t)(rank * 7 + op * 13));
    return b;
}

/* Counts of the ranks: even, random, one alone, or none. */
static long distribution(int p, int *counts, int *displs) {
    int unit = (int)draw(draw(4) ? 40 : 4000), one = (int)draw((uint64_t)p), kind = (int)draw(4), gap = (int)draw(3);
    long at = 0;
    for (int r = 0; r < p; r++) {
        counts[r] = kind == 0 ? unit : kind == 1 ? (int)draw((uint64_t)unit + 1) : kind == 2 ? (r == one ? unit * 2 : 0) : unit * (r % 2);
        displs[r] = (int)at;
        at += counts[r] + gap;
    }
    return at;
}

static void collective(MPI_Comm comm, int op) {
    int p, me, counts[128], displs[128];
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    MPI_Datatype type = a_type();
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    int root = (int)draw((uint64_t)p), in_place = draw(3) == 0, which = (int)draw(7);
    long elements = distribution(p, counts, displs);
    int each = counts[0];
    size_t all_bytes = (size_t)(elements + (long)each * p + 1) * (size_t)extent, own_bytes = (size_t)(counts[me] + each + 1) * (size_t)extent;
    unsigned char *all = memory(all_bytes, me, op), *own = memory(own_bytes, me + 50, op);
    int here = in_place && me == root, every = in_place;
    switch (which) {
    case 0: MPI_Bcast(all, (int)elements, type, root, comm); break;
    case 1:
        MPI_Allgatherv(every ? MPI_IN_PLACE : own, every ? 0 : counts[me], type, all, counts, displs, type, comm);
        break;
    case 2: MPI_Allgather(every ? MPI_IN_PLACE : own, every ? 0 : each, type, all, each, type, comm); break;
    case 3: MPI_Gatherv(here ? MPI_IN_PLACE : own, here ? 0 : counts[me], type, all, counts, displs, type, root, comm); break;
    case 4: MPI_Gather(here ? MPI_IN_PLACE : own, here ? 0 : each, type, all, each, type, root, comm); break;
    case 5: MPI_Scatterv(all, counts, displs, type, here ? MPI_IN_PLACE : own, here ? 0 : counts[me], type, root, comm); break;
    default: MPI_Scatter(all, each, type, here ? MPI_IN_PLACE : own, here ? 0 : each, type, root, comm);
    }
    add(all, all_bytes + MARGIN);
    add(own, own_bytes + MARGIN);
    free(all);
    free(own);
    MPI_Type_free(&type);
}

/* Nonblocking collectives of the host, and receives of anything from anybody, which collectives must leave alone. */
struct pending {
    MPI_Request request;
    MPI_Comm comm; /* on which a message is to be sent to complete it; MPI_COMM_NULL: none is */
    int to, data[64], sent;
};

static void begin(struct pending *a, MPI_Comm comm, int number) {
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    for (int i = 0; i < 64; i++) a->data[i] = me * 100 + i + number;
    a->comm = MPI_COMM_NULL;
    switch (draw(3)) {
    case 0: MPI_Ibcast(a->data, 64, MPI_INT, (int)draw((uint64_t)p), comm, &a->request); break;
    case 1: MPI_Iallreduce(MPI_IN_PLACE, a->data, 64, MPI_INT, MPI_SUM, comm, &a->request); break;
    default:
        a->comm = comm;
        a->to = (me + 1) % p;
        a->sent = me * 1000 + number;
        MPI_Irecv(a->data, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &a->request);
    }
}

static void end(struct pending *a) {
    if (a->comm != MPI_COMM_NULL) MPI_Send(&a->sent, 1, MPI_INT, a->to, 5, a->comm);
    MPI_Wait(&a->request, MPI_STATUS_IGNORE);
    add((unsigned char *)a->data, sizeof a->data);
}

static void program(uint64_t seed) {
    state = seed * 1000003;
    hash = 0xcbf29ce484222325u;
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD};
    int many = 1;
    for (int op = 0; op < OPS; op++) {
        uint64_t what = draw(10);
        if (what == 0 && many < COMMS) {
            MPI_Comm of = comms[draw((uint64_t)many)];
            int me, color, parts = 1 + (int)draw(3), down = (int)draw(2);
            MPI_Comm_rank(of, &me);
            color = me % parts;
            if (draw(2))
                MPI_Comm_dup(of, &comms[many++]);
            else
                MPI_Comm_split(of, color, down ? -me : me, &comms[many++]);
        } else if (what == 1 && many > 1) {
            MPI_Comm_free(&comms[--many]);
        } else {
            struct pending under_way;
            MPI_Comm comm = comms[draw((uint64_t)many)], own = comms[draw((uint64_t)many)];
            int some = draw(3) > 0;
            /* What is drawn for a communicator depends on its size, which the parts of a split one may not have in common. */
            uint64_t after = draw(UINT64_MAX);
            if (some) begin(&under_way, own, op);
            collective(comm, op);
            if (some) end(&under_way);
            state = after;
        }
    }
    while (many > 1) MPI_Comm_free(&comms[--many]);
    uint64_t total = 0;
    MPI_Allreduce(&hash, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (test.rank == 0) printf("seed %llu: %016llx\n", (unsigned long long)seed, (unsigned long long)total);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "fuzz");
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
    for (uint64_t seed = first; seed < first + count; seed++) program(seed);
    return finish();
}
