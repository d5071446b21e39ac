/* MPI is initialised past Rondo, as by a runtime that was there before it: by the function of the library itself. Calls
 * are the library's until the first one on MPI_COMM_WORLD, and Rondo's from there on.
 *
 *   unseen           one thread
 *   unseen threads   MPI_THREAD_MULTIPLE: all calls stay the library's
 *   unseen one       the same on one rank alone
 */
#include "rondo_test.h"

static void *of_library(const char *name) {
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, "PMPI_Initialized");
    if (!address || !dladdr(address, &info)) return NULL;
    void *library = dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    return library ? dlsym(library, name) : NULL;
}

/* A broadcast that is Rondo's, or the library's. */
static void broadcast(MPI_Comm comm, int rondos, const char *which) {
    static unsigned char buffer[5000];
    int me;
    MPI_Comm_rank(comm, &me);
    memset(buffer, me == 0 ? 7 : 0, sizeof buffer);
    struct counts before = counts_of("bcast");
    MPI_Bcast(buffer, sizeof buffer, MPI_BYTE, 0, comm);
    CHECK_IN(buffer[0] == 7 && buffer[sizeof buffer - 1] == 7, "%s", which);
    if (test.expect) check_counts(before, rondos ? 1 : 0, rondos ? 0 : 1);
}

int main(int argc, char **argv) {
    int (*init)(int *, char ***, int, int *), got, threads = argc > 1;
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK");
    int multiple = threads && (!strcmp(argv[1], "threads") || (rank && atoi(rank) == 1));
    *(void **)&init = of_library("PMPI_Init_thread");
    if (!init) return 2;
    init(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &got);
    find_rondo("unseen");
    MPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test.ranks);
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    broadcast(other, 0, "before");
    broadcast(MPI_COMM_WORLD, !threads, "on the world");
    broadcast(other, !threads, "after");
    MPI_Comm_free(&other);
    return finish();
}
