/* Preloaded behind Rondo: counts the calls of PMPI_Reduce_local that Rondo makes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

static long long calls;

long long reduce_local_calls(void) { return calls; }

int PMPI_Reduce_local(const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op) {
    int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Reduce_local");
    calls++;
    return next(in, inout, count, type, op);
}
