/* Preloaded beside the library under test where MPICH over UCX has more ranks than cores.
 *
 * UCX polls without giving the core away, so a waiting rank keeps the rank it waits for from running until the
 * scheduler's time slice ends. Here an empty poll yields. This changes scheduling only; no MPI symbol is touched.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

typedef unsigned (*progress_fn)(void *worker);

/* The real function, also where MPI and with it UCX came by dlopen and are not in the global scope. */
static progress_fn find_progress(void) {
    progress_fn found;
    *(void **)&found = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (!found) *(void **)&found = dlsym(dlopen("libucp.so.0", RTLD_NOLOAD | RTLD_LAZY), "ucp_worker_progress");
    return found;
}

unsigned ucp_worker_progress(void *worker) {
    static progress_fn progress;
    if (!progress) progress = find_progress();
    unsigned events = progress(worker);
    if (events == 0) sched_yield();
    return events;
}
