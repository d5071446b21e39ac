/* Types by MPI_Type_create_f90_real, _complex and _integer: predefined without a name. MPI tells to free neither them
 * nor what MPI_Type_get_contents gives of them, but the types made of them are like any other. All are used again after
 * others were freed.
 *
 *   f90types [portable]   portable: MPI_Gather is left out where MPICH's own fails (structs of ints and complex
 *                         numbers)
 */
#include "seven.h"

enum { REAL, COMPLEX, INTEGER, KINDS };

static int portable;

static const char *const kinds[KINDS] = {"f90 real", "f90 complex", "f90 integer"};
static const long sizes[KINDS] = {8, 16, 4};

static MPI_Datatype element(int kind) {
    MPI_Datatype type;
    int size;
    if (kind == REAL)
        MPI_Type_create_f90_real(15, 307, &type);
    else if (kind == COMPLEX)
        MPI_Type_create_f90_complex(15, 307, &type);
    else
        MPI_Type_create_f90_integer(9, &type);
    MPI_Type_size(type, &size);
    CHECK_IN(size == sizes[kind], "%s of %d bytes", kinds[kind], size);
    return type;
}

static struct layout vector(int kind) {
    long size = sizes[kind];
    struct layout l = new_layout("vector of f90 types", 10 * size);
    MPI_Datatype t;
    MPI_Type_vector(3, 2, 4, element(kind), &t);
    for (int i = 0; i < 3; i++) add(&l, 4 * i * size, 2 * size);
    return commit(l, t);
}

static struct layout doubled(int kind) {
    struct layout l = new_layout("doubled of an f90 type", sizes[kind]);
    MPI_Datatype t;
    MPI_Type_dup(element(kind), &t);
    add(&l, 0, sizes[kind]);
    return commit(l, t);
}

/* An int and two elements. */
static struct layout structure(int kind) {
    struct layout l = new_layout("struct of an int and f90 types", 64);
    int lengths[] = {1, 2};
    MPI_Aint at[] = {0, 16};
    MPI_Datatype parts[] = {MPI_INT, element(kind)}, s, t;
    MPI_Type_create_struct(2, lengths, at, parts, &s);
    MPI_Type_create_resized(s, 0, 64, &t);
    MPI_Type_free(&s);
    add(&l, 0, 4);
    add(&l, 16, 2 * sizes[kind]);
    return commit(l, t);
}

/* A vector of the one kind, and an element of the next. */
static struct layout structure_of_vectors(int kind) {
    int next = (kind + 1) % KINDS, lengths[] = {1, 1};
    struct layout inner = vector(kind), l = new_layout("struct of a vector and an f90 type", 192);
    MPI_Aint at[] = {0, 160};
    MPI_Datatype parts[] = {inner.type, element(next)}, s, t;
    MPI_Type_create_struct(2, lengths, at, parts, &s);
    MPI_Type_create_resized(s, 0, 192, &t);
    MPI_Type_free(&s);
    for (int i = 0; i < inner.pieces; i++) add(&l, inner.piece[i].at, inner.piece[i].bytes);
    add(&l, 160, sizes[next]);
    drop(&inner);
    return commit(l, t);
}

static void use(const struct layout *l) {
    const int counts[] = {1, 3, 400};
    for (int i = 0; i < 3; i++) {
        int root = i % test.ranks;
        bcast_layouts(l, counts[i], l, counts[i], root, MPI_COMM_WORLD);
        allgather_regular(l, l, counts[i], MPI_COMM_WORLD);
        allgather_regular(NULL, l, counts[i], MPI_COMM_WORLD);
        int each[64];
        for (int r = 0; r < test.ranks; r++) each[r] = (r + i) % 3 * counts[i];
        for (int way = 0; way < WAYS; way++) {
            struct move m = {.way = (enum way)way, .root = root, .own = l, .all = l, .comm = MPI_COMM_WORLD};
            if (!portable || strncmp(l->name, "struct", 6)) check_regular(m, counts[i]);
            m.counts = each;
            check_dense(m);
        }
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "f90types");
    portable = argc > 1 && !strcmp(argv[1], "portable");
    struct layout (*const makers[])(int) = {vector, doubled, structure, structure_of_vectors};
    for (int round = 0; round < 3; round++)
        for (int kind = 0; kind < KINDS; kind++) {
            struct piece piece;
            struct layout plain = dense(element(kind), &piece);
            use(&plain);
            for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
                struct layout l = makers[i](kind);
                use(&l);
                drop(&l);
                use(&plain);
            }
        }
    return finish();
}
