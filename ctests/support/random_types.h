/* Random types, and other types with the same signature. */
#ifndef RANDOM_TYPES_H
#define RANDOM_TYPES_H

#include "random.h"

/* A type with whether it is ours to free: named types are not, and those of MPI_Type_create_f90_... are named. */
struct typed {
    MPI_Datatype type;
    int ours;
    int rigid; /* no other extent: elements lie between each other, and one further apart would be upon another */
};

static void drop(struct typed *t) {
    if (t->ours) MPI_Type_free(&t->type);
}

static struct typed ours(MPI_Datatype type) {
    MPI_Type_commit(&type);
    return (struct typed){type, 1, 0};
}

/* The type by precision and range that a Fortran program has. */
static struct typed f90_type(void) {
    MPI_Datatype type;
    switch (draw(4)) {
    case 0: MPI_Type_create_f90_real(6, 30, &type); break;
    case 1: MPI_Type_create_f90_real(15, MPI_UNDEFINED, &type); break;
    case 2: MPI_Type_create_f90_complex(6, 30, &type); break;
    default: MPI_Type_create_f90_integer(9, &type);
    }
    return (struct typed){type, 0, 0};
}

/* MPICH's MPI_Gather and MPI_Scatter take long messages of elements of different lengths for truncated, or for
 * others. */
static int may_mix(long room) { return !(host.mpich || host.intel) || room <= 250; }

static struct typed named_type(long room) {
    MPI_Datatype types[] = {MPI_INT,  MPI_BYTE,   MPI_DOUBLE, MPI_SHORT,  MPI_CHAR,
                            MPI_2INT, MPI_PACKED, MPI_FLOAT,  MPI_DOUBLE_INT, MPI_UINT64_T};
    if (draw(3) == 0 && !host.plain_types) return f90_type();
    MPI_Datatype type = types[draw(sizeof types / sizeof *types)];
    if (host.plain_types) type = types[draw(5)];
    /* Open MPI takes it for contiguous where it is resized. */
    if (type == MPI_PACKED && host.open_mpi) type = MPI_BYTE;
    if (type == MPI_DOUBLE_INT && !may_mix(room)) type = MPI_DOUBLE;
    return (struct typed){type, 0, 0};
}

/* A type of some elements, or of none; `room` is how many of the type the memory is to hold. */
static struct typed a_type(long room, int may_be_empty) {
    struct typed e = named_type(room), result;
    MPI_Aint lb, extent;
    MPI_Datatype type, inner;
    MPI_Type_get_extent(e.type, &lb, &extent);
    uint64_t kind = draw(16);
    if (host.plain_types) return e;
    if ((kind == 7 || kind == 12) && !may_mix(room)) kind = 1;
    if (kind == 13 && !may_be_empty) kind = 0;
    /* Intel MPI's own gathers mix up blocks whose bytes are interleaved. */
    if (kind == 15 && host.intel) kind = 14;
    switch (kind) {
    case 0: MPI_Type_contiguous(3, e.type, &type); break;
    case 1: MPI_Type_vector(3, 2, 4, e.type, &type); break;
    case 2: MPI_Type_create_resized(e.type, 0, 3 * extent, &type); break;
    case 3: MPI_Type_create_resized(e.type, -2 * extent, 4 * extent, &type); break;
    case 4: MPI_Type_indexed(3, (int[]){2, 1, 3}, (int[]){0, 4, 7}, e.type, &type); break;
    case 5: MPI_Type_create_indexed_block(2, 2, (int[]){5, 1}, e.type, &type); break;
    case 6:
        MPI_Type_create_hindexed_block(3, 1, (MPI_Aint[]){0, 2 * extent, 5 * extent}, e.type, &type);
        break;
    case 7:
        MPI_Type_vector(2, 1, 2, MPI_SHORT, &inner);
        MPI_Type_create_struct(3, (int[]){1, 2, 2}, (MPI_Aint[]){0, 16, 32},
                               (MPI_Datatype[]){MPI_DOUBLE, inner, e.type}, &type);
        MPI_Type_free(&inner);
        break;
    case 8: MPI_Type_create_hvector(2, 1, 20 * extent, e.type, &type); break;
    case 9: {
        int order = draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        MPI_Type_create_subarray(2, (int[]){3, 5}, (int[]){2, 3}, (int[]){1, 1}, order, e.type, &type);
        break;
    }
    case 10: MPI_Type_dup(e.type, &type); break;
    case 11:
        MPI_Type_vector(2, 1, 3, e.type, &inner);
        MPI_Type_dup(inner, &type);
        MPI_Type_free(&inner);
        break;
    case 12: {
        struct typed other = f90_type();
        MPI_Type_create_struct(2, (int[]){2, 3}, (MPI_Aint[]){48, 0}, (MPI_Datatype[]){other.type, e.type}, &type);
        break;
    }
    case 13: /* no bytes */
        if (draw(2))
            MPI_Type_contiguous(0, e.type, &type);
        else
            MPI_Type_vector(0, 3, 5, e.type, &type);
        break;
    case 14: return e;
    default: /* the columns of a matrix with so many and one more */
        MPI_Type_vector(3, 1, (int)room + 1, e.type, &inner);
        MPI_Type_create_resized(inner, 0, extent, &type);
        MPI_Type_free(&inner);
        result = ours(type);
        result.rigid = 1;
        return result;
    }
    return ours(type);
}

/* A type with the same elements, which may be elsewhere. Each rank may have its own. */
static struct typed like(struct typed of) {
    MPI_Aint lb, extent;
    MPI_Datatype type;
    struct typed result;
    if (host.plain_types) return (struct typed){of.type, 0, 0};
    MPI_Type_get_extent(of.type, &lb, &extent);
    switch (of.rigid ? draw_own(2) : draw_own(6)) {
    case 0: MPI_Type_dup(of.type, &type); break;
    case 1: MPI_Type_contiguous(1, of.type, &type); break;
    case 2: MPI_Type_create_resized(of.type, lb, extent + 8, &type); break;
    case 3: MPI_Type_create_resized(of.type, lb - 16, extent + 16, &type); break;
    case 4: MPI_Type_create_struct(1, (int[]){1}, (MPI_Aint[]){16}, &of.type, &type); break;
    default: return (struct typed){of.type, 0, 0};
    }
    result = ours(type);
    result.rigid = of.rigid;
    return result;
}

/* A type and a count with the elements of so many of this type: `*elements` becomes the count. */
static struct typed bundle(struct typed of, int *elements) {
    MPI_Datatype type;
    int n = *elements;
    switch (n > 0 && !host.plain_types ? draw_own(4) : 0) {
    case 1:
        MPI_Type_contiguous(n, of.type, &type);
        *elements = 1;
        return ours(type);
    case 2:
        if (n % 2) return like(of);
        MPI_Type_contiguous(2, of.type, &type);
        *elements = n / 2;
        return ours(type);
    case 3:
        MPI_Type_vector(n, 1, of.rigid ? 1 : 2, of.type, &type);
        *elements = 1;
        return ours(type);
    default: return like(of);
    }
}

#endif
