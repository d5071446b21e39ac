/* One collective, called by different names: MPI_X on even ranks, PMPI_X on odd ones, as where only some ranks have a
 * profiler, and on Open MPI also mpi_bcast_, Fortran's, where its library is there. All are the same call.
 *
 *   names [one]   one: RONDO_PMPI=off is in the environment of rank 0 alone
 */
#include "rondo_test.h"

static int odd, has_fortran;

/* The call by this rank's name. */
#define BY_NAME(function, ...) (odd ? P##function(__VA_ARGS__) : function(__VA_ARGS__))

#ifdef OMPI_MAJOR_VERSION
static void (*fortran_bcast)(void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);

static int find_fortran(void) {
    void *library = dlopen("libmpi_mpifh.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (library) *(void **)&fortran_bcast = dlsym(library, "mpi_bcast_");
    return fortran_bcast != NULL;
}

static int by_fortran(void *buffer, int bytes, int root, MPI_Comm comm) {
    MPI_Fint count = bytes, type = MPI_Type_c2f(MPI_BYTE), from = root, on = MPI_Comm_c2f(comm), error = -1;
    fortran_bcast(buffer, &count, &type, &from, &on, &error);
    return error;
}
#else
static int find_fortran(void) { return 0; }

static int by_fortran(void *buffer, int bytes, int root, MPI_Comm comm) {
    return MPI_Bcast(buffer, bytes, MPI_BYTE, root, comm);
}
#endif

static void check(struct counts before, int code) { check_taken(before, code, is_rondos_comm(MPI_COMM_WORLD)); }

static void call_all(int each, int root) {
    int p = test.ranks, me = test.rank, counts[64], displs[64];
    size_t bytes = (size_t)each, all_bytes = bytes * (size_t)p;
    unsigned char *own = malloc(bytes), *all = malloc(all_bytes);
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int r = 0; r < p; r++) counts[r] = each, displs[r] = r * each;

    for (int fortran = 0; fortran <= has_fortran; fortran++) {
        fill(all, all_bytes, me == root ? 1 : 2);
        struct counts before = counts_of("bcast");
        if (fortran && me % 3 == 2)
            check(before, by_fortran(all, (int)all_bytes, root, comm));
        else
            check(before, BY_NAME(MPI_Bcast, all, (int)all_bytes, MPI_BYTE, root, comm));
        CHECK(wrong(all, all_bytes, 1) == 0);
    }
    for (int regular = 0; regular < 2; regular++) {
        fill(own, bytes, 10 + (unsigned)me);
        memset(all, 0, all_bytes);
        struct counts before = counts_of(regular ? "allgather" : "allgatherv");
        if (regular)
            check(before, BY_NAME(MPI_Allgather, own, each, MPI_BYTE, all, each, MPI_BYTE, comm));
        else
            check(before, BY_NAME(MPI_Allgatherv, own, each, MPI_BYTE, all, counts, displs, MPI_BYTE, comm));
        for (int r = 0; r < p; r++) CHECK(wrong(all + r * each, bytes, 10 + (unsigned)r) == 0);

        memset(all, 0, all_bytes);
        before = counts_of(regular ? "gather" : "gatherv");
        if (regular)
            check(before, BY_NAME(MPI_Gather, own, each, MPI_BYTE, all, each, MPI_BYTE, root, comm));
        else
            check(before, BY_NAME(MPI_Gatherv, own, each, MPI_BYTE, all, counts, displs, MPI_BYTE, root, comm));
        for (int r = 0; r < p && me == root; r++) CHECK(wrong(all + r * each, bytes, 10 + (unsigned)r) == 0);

        for (int r = 0; r < p; r++) fill(all + r * each, bytes, 30 + (unsigned)r);
        before = counts_of(regular ? "scatter" : "scatterv");
        if (regular)
            check(before, BY_NAME(MPI_Scatter, all, each, MPI_BYTE, own, each, MPI_BYTE, root, comm));
        else
            check(before, BY_NAME(MPI_Scatterv, all, counts, displs, MPI_BYTE, own, each, MPI_BYTE, root, comm));
        CHECK(wrong(own, bytes, 30 + (unsigned)me) == 0);
    }
    free(own);
    free(all);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "names");
    /* Rondo reads the environment at the first call that it intercepts. */
    if (argc > 1 && !strcmp(argv[1], "one") && test.rank == 0) setenv("RONDO_PMPI", "off", 1);
    has_fortran = find_fortran();
    odd = test.rank % 2;
    for (int i = 0; i < 12; i++) call_all(i % 3 == 0 ? 8 : i % 3 == 1 ? 3000 : 40000, i % test.ranks);
    return finish();
}
