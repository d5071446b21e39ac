/* MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw of bytes: of every length, in place, with blocks in any places and with
 * none, on several communicators, by large counts too.
 */
#include "blocks.h"
#include "exchanges.h"

static unsigned call;

/* Blocks of one size: two buffers, or one. */
static void regular(int n, int in_place, MPI_Comm comm) {
    int me, p = contributors(comm);
    MPI_Comm_rank(comm, &me);
    size_t bytes = (size_t)n;
    unsigned char *own = malloc(bytes * (size_t)p + 1), *got = malloc(bytes * (size_t)p + 1);
    call++;
    for (int r = 0; r < p; r++) {
        fill(own + bytes * (size_t)r, bytes, pair_seed(me, r, call));
        fill(got + bytes * (size_t)r, bytes, in_place ? pair_seed(me, r, call) : 5000);
    }
    got[bytes * (size_t)p] = 0x5a;
    if (in_place)
        alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, got, n, MPI_BYTE, comm);
    else
        alltoall(own, n, MPI_BYTE, got, n, MPI_BYTE, comm);
    for (int r = 0; r < p; r++) {
        CHECK_IN(wrong(got + bytes * (size_t)r, bytes, pair_seed(r, me, call)) == 0, "%d bytes from %d", n, r);
        CHECK(wrong(own + bytes * (size_t)r, bytes, pair_seed(me, r, call)) == 0);
    }
    CHECK(got[bytes * (size_t)p] == 0x5a);
    free(own);
    free(got);
}

/* Blocks of any sizes, in any places; displacements in elements, and in bytes. */
static void irregular(int most, int in_place, enum order kind, int each, MPI_Comm comm) {
    int me, p = contributors(comm);
    MPI_Comm_rank(comm, &me);
    size_t ints = sizeof(int) * (size_t)p;
    int *send_counts = malloc(ints), *send_displs = malloc(ints), *counts = malloc(ints), *displs = malloc(ints);
    MPI_Datatype *types = malloc(sizeof *types * (size_t)p);
    call++;
    for (int r = 0; r < p; r++) {
        send_counts[r] = pair_count(me, r, most, in_place, call);
        counts[r] = pair_count(r, me, most, in_place, call);
        types[r] = MPI_BYTE;
    }
    lay_out(kind, p, send_counts, call, send_displs);
    lay_out(kind, p, counts, call + 1, displs);
    struct piece piece;
    struct layout l = dense(MPI_BYTE, &piece);
    struct memory own = memory_of_blocks(&l, p, send_counts, send_displs);
    struct memory got = memory_of_blocks(&l, p, counts, displs), want = memory_of_blocks(&l, p, counts, displs);
    fill(own.base, own.bytes, 77);
    fill(got.base, got.bytes, 78);
    fill(want.base, want.bytes, 78);
    for (int r = 0; r < p; r++) {
        fill(own.origin + send_displs[r], (size_t)send_counts[r], pair_seed(me, r, call));
        if (in_place) fill(got.origin + displs[r], (size_t)counts[r], pair_seed(me, r, call));
        fill(want.origin + displs[r], (size_t)counts[r], pair_seed(r, me, call));
    }
    if (each) {
        if (in_place)
            alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, got.origin, counts, displs, types, comm);
        else
            alltoallw(own.origin, send_counts, send_displs, types, got.origin, counts, displs, types, comm);
    } else if (in_place) {
        alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, got.origin, counts, displs, MPI_BYTE, comm);
    } else {
        alltoallv(own.origin, send_counts, send_displs, MPI_BYTE, got.origin, counts, displs, MPI_BYTE, comm);
    }
    CHECK_IN(memcmp(got.base, want.base, got.bytes) == 0, "up to %d bytes, in place %d, w %d", most, in_place, each);
    free(own.base);
    free(got.base);
    free(want.base);
    free(send_counts);
    free(send_displs);
    free(counts);
    free(displs);
    free(types);
}

#if MPI_VERSION >= 4
static void large_counts(MPI_Comm comm) {
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    MPI_Count *counts = malloc(sizeof *counts * (size_t)p);
    MPI_Aint *displs = malloc(sizeof *displs * (size_t)p);
    MPI_Datatype *types = malloc(sizeof *types * (size_t)p);
    int *own = malloc(sizeof *own * (size_t)p), *got = malloc(sizeof *got * (size_t)p);
    for (int form = 0; form < 3; form++) {
        const char *names[] = {"alltoall", "alltoallv", "alltoallw"};
        int rc = MPI_SUCCESS;
        for (int r = 0; r < p; r++) {
            own[r] = 1000 * me + r;
            got[r] = -1;
            counts[r] = 1;
            displs[r] = form == 2 ? r * (MPI_Aint)sizeof(int) : r;
            types[r] = MPI_INT;
        }
        struct counts before = counts_of(names[form]);
        if (form == 0) rc = MPI_Alltoall_c(own, 1, MPI_INT, got, 1, MPI_INT, comm);
        if (form == 1) rc = MPI_Alltoallv_c(own, counts, displs, MPI_INT, got, counts, displs, MPI_INT, comm);
        if (form == 2) rc = MPI_Alltoallw_c(own, counts, displs, types, got, counts, displs, types, comm);
        check_taken(before, rc, is_rondos_comm(comm));
        for (int r = 0; r < p; r++) CHECK_IN(got[r] == 1000 * r + me, "from %d by form %d", r, form);
    }
    free(counts);
    free(displs);
    free(types);
    free(own);
    free(got);
}
#endif

static void everything(MPI_Comm comm) {
    const int lengths[] = {0, 1, 12, 1000, 70001};
    int inter;
    MPI_Comm_test_inter(comm, &inter);
    for (int i = 0; i < 5; i++)
        for (int in_place = 0; in_place < (inter ? 1 : 2); in_place++) {
            regular(lengths[i], in_place, comm);
            irregular(lengths[i], in_place, (enum order)(call % ORDERS), 0, comm);
            irregular(lengths[i], in_place, (enum order)(call % ORDERS), 1, comm);
        }
}

/* Between the ranks below the middle and the others. */
static void between_groups(void) {
    int half = test.ranks / 2, upper = test.rank >= half;
    MPI_Comm side, inter;
    MPI_Comm_split(MPI_COMM_WORLD, upper, test.rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, upper ? 0 : half, 3, &inter);
    regular(100, 0, inter);
    irregular(100, 0, GAPS, 0, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&side);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "a2a_basic");
    MPI_Comm comm;
    everything(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm);
    everything(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &comm);
    everything(comm);
    MPI_Comm_free(&comm);
    everything(MPI_COMM_SELF);
    if (test.ranks > 1) between_groups();
#if MPI_VERSION >= 4
    large_counts(MPI_COMM_WORLD);
#endif
    /* Many short ones, of which a rank that is late has several to come. */
    for (int i = 0; i < 300; i++) {
        regular(i % 9, i % 2, MPI_COMM_WORLD);
        irregular(i % 7, 0, CONTIGUOUS, i % 2, MPI_COMM_WORLD);
    }
    return finish();
}
