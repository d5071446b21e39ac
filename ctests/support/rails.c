/* Preloaded behind Rondo: a host whose messages are matched in order, as MPI has it, and complete out of order, as on
 * several rails of which one is slow. Every PERIOD-th receive is complete only some time after its message has come,
 * as far as MPI_Test and MPI_Testany say.
 *
 *   rails_delay(seconds)   from now on; 0: none is late
 *   rails_late()           receives that were late
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD = 3, HELD = 64 };

static double delay;
static int receives, late, held;
static struct {
    MPI_Request request;
    double until; /* 0: its message has not come */
} slow[HELD];

void rails_delay(double seconds) { delay = seconds; }

int rails_late(void) { return late; }

#define NEXT(name, ...)                  \
    static int (*next)(__VA_ARGS__);     \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_" #name)

int PMPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r) {
    NEXT(Irecv, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int rc = next(b, n, t, from, tag, c, r);
    if (delay > 0 && held < HELD && receives++ % PERIOD == 0) {
        slow[held].request = *r;
        slow[held++].until = 0;
    }
    return rc;
}

/* Is this request one that is not to be complete yet? */
static int hidden(MPI_Request request) {
    for (int i = 0; i < held; i++) {
        if (slow[i].request != request) continue;
        int come = 0;
        MPI_Request_get_status(request, &come, MPI_STATUS_IGNORE);
        if (!come) return 0; /* if it is cancelled, this is seen at once */
        if (slow[i].until == 0) {
            MPI_Status status;
            int cancelled = 0;
            MPI_Request_get_status(request, &come, &status);
            MPI_Test_cancelled(&status, &cancelled);
            slow[i].until = MPI_Wtime() + (cancelled ? 0 : delay);
            late += !cancelled;
        }
        if (MPI_Wtime() < slow[i].until) return 1;
        slow[i] = slow[--held];
        return 0;
    }
    return 0;
}

int PMPI_Test(MPI_Request *r, int *done, MPI_Status *s) {
    NEXT(Test, MPI_Request *, int *, MPI_Status *);
    *done = 0;
    return hidden(*r) ? MPI_SUCCESS : next(r, done, s);
}

int PMPI_Testany(int n, MPI_Request *r, int *which, int *done, MPI_Status *s) {
    NEXT(Testany, int, MPI_Request *, int *, int *, MPI_Status *);
    MPI_Request *seen = malloc(sizeof *seen * (size_t)(n + 1));
    for (int i = 0; i < n; i++) seen[i] = hidden(r[i]) ? MPI_REQUEST_NULL : r[i];
    int rc = next(n, seen, which, done, s);
    if (*done && *which == MPI_UNDEFINED && n > 0) *done = 0; /* all are hidden */
    if (*done && *which != MPI_UNDEFINED) r[*which] = seen[*which];
    free(seen);
    return rc;
}
