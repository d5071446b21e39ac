/* MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw that must succeed and must be carried out by whom we expect, and the
 * data that travel in them.
 */
#ifndef EXCHANGES_H
#define EXCHANGES_H

#include "rondo_test.h"

static MAYBE_UNUSED void alltoall(const void *send, int send_count, MPI_Datatype send_type, void *recv, int count,
                                  MPI_Datatype type, MPI_Comm comm) {
    int size;
    MPI_Type_size(type, &size);
    struct counts before = counts_of("alltoall");
    int rc = MPI_Alltoall(send, send_count, send_type, recv, count, type, comm);
    check_call(before, rc, (long long)count * size, comm);
}

/* Only the two ends of a block know that it is empty, so Rondo takes such calls as well. */
static MAYBE_UNUSED void alltoallv(const void *send, const int *send_counts, const int *send_displs,
                                   MPI_Datatype send_type, void *recv, const int *counts, const int *displs,
                                   MPI_Datatype type, MPI_Comm comm) {
    struct counts before = counts_of("alltoallv");
    int rc = MPI_Alltoallv(send, send_counts, send_displs, send_type, recv, counts, displs, type, comm);
    check_taken(before, rc, is_rondos_comm(comm));
}

static MAYBE_UNUSED void alltoallw(const void *send, const int *send_counts, const int *send_displs,
                                   const MPI_Datatype *send_types, void *recv, const int *counts, const int *displs,
                                   const MPI_Datatype *types, MPI_Comm comm) {
    struct counts before = counts_of("alltoallw");
    int rc = MPI_Alltoallw(send, send_counts, send_displs, send_types, recv, counts, displs, types, comm);
    check_taken(before, rc, is_rondos_comm(comm));
}

/* The seed of what one rank has for another. */
static MAYBE_UNUSED unsigned pair_seed(int from, int to, unsigned call) {
    return (unsigned)from * 1009u + (unsigned)to * 31u + call * 7u + 1;
}

/* How many elements one rank has for another: anything, often nothing; the same both ways if `both` says so. */
static MAYBE_UNUSED int pair_count(int from, int to, int most, int both, unsigned call) {
    if (both && from > to) {
        int kept = from;
        from = to;
        to = kept;
    }
    unsigned mixed = ((unsigned)from * 7u + (unsigned)to * 13u + call) * 2654435761u >> 16;
    return mixed % 3 ? (int)(mixed % (unsigned)(most + 1)) : 0;
}

#endif
