/* What only the root looks at may be anything on other ranks: addresses of memory that is not there, negative counts,
 * types that were freed or never existed. So may what the root says of its own block where that is in place.
 */
#include "gsv.h"
#include <limits.h>
#include <sys/mman.h>

enum { VARIANTS = 5 };

static void *forbidden; /* memory that ends a program that reads it */
static int *negative;
static MPI_Datatype freed, uncommitted;

static MPI_Datatype no_type(int variant) {
    MPI_Datatype all[VARIANTS] = {MPI_DATATYPE_NULL, freed, (MPI_Datatype)(size_t)0x8c001234, uncommitted, MPI_INT};
    return all[variant];
}

static void *no_memory(int variant) {
    void *all[VARIANTS] = {NULL, (void *)8, forbidden, negative, (char *)forbidden + 4};
    return all[variant];
}

static int no_count(int variant) {
    const int all[VARIANTS] = {0, -1, INT_MIN, INT_MAX, -7};
    return all[variant];
}

/* One call, in which whatever this rank must ignore is of this variant. */
static void use(struct move m, int variant) {
    int me;
    MPI_Comm_rank(m.comm, &me);
    struct scene s = set_scene(&m);
    if (me != m.root) {
        s.all_buffer = no_memory(variant);
        s.counts = no_memory((variant + 1) % VARIANTS);
        s.displs = no_memory((variant + 2) % VARIANTS);
        s.each_count = no_count(variant);
        s.all_type = no_type(variant);
    } else if (m.in_place) {
        s.own_count = no_count(variant);
        s.own_type = no_type(variant);
    }
    carry_out(&s, &m);
    look(&s, &m);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gsv_garbage");
    int p = test.ranks, *counts = malloc(sizeof *counts * (size_t)p), *displs = malloc(sizeof *displs * (size_t)p);
    forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(forbidden != MAP_FAILED);
    negative = malloc(sizeof *negative * (size_t)p);
    for (int r = 0; r < p; r++) negative[r] = -1 - r;
    MPI_Datatype type;
    MPI_Type_vector(3, 1, 2, MPI_INT, &uncommitted);
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    freed = type;
    MPI_Type_free(&type);

    struct piece piece;
    struct layout l = dense(MPI_INT, &piece);
    const int units[] = {0, 3, 2500};
    for (int i = 0; i < 3; i++)
        for (int root = 0; root < p; root++)
            for (int n = 0; n < 4 * VARIANTS; n++) {
                int regular = n & 1, variant = n / 4;
                for (int r = 0; r < p; r++) counts[r] = (regular ? 1 : r % 3) * units[i];
                lay_out(CONTIGUOUS, p, counts, 0, displs);
                for (int way = 0; way < WAYS; way++)
                    use((struct move){.way = (enum way)way,
                                      .regular = regular,
                                      .root = root,
                                      .in_place = n & 2,
                                      .edition = (unsigned)n,
                                      .own = &l,
                                      .all = &l,
                                      .counts = counts,
                                      .displs = displs,
                                      .comm = MPI_COMM_WORLD},
                        /* Each rank has garbage of its own. */
                        (variant + test.rank) % VARIANTS);
            }
    MPI_Type_free(&uncommitted);
    munmap(forbidden, 4096);
    free(negative);
    free(counts);
    free(displs);
    return finish();
}
