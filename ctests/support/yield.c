/* Preloaded beside the library under test where MPICH over UCX has more ranks than cores.
 *
 * UCX polls without giving the core away, so a waiting rank keeps the rank it waits for from running until the
 * scheduler's time slice ends. Here an empty poll yields. With YIELD_NAP_US in the environment, a rank that waits
 * sleeps so many microseconds after ten of them, which halves the time that several jobs at once take and is no good
 * for timing one. This changes scheduling only; no MPI symbol is touched.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

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
    static long nap_us;
    static _Thread_local unsigned empty;
    if (!progress) {
        const char *nap = getenv("YIELD_NAP_US");
        nap_us = nap ? atol(nap) : 0;
        progress = find_progress();
    }
    unsigned events = progress(worker);
    if (events != 0)
        empty = 0;
    else if (nap_us == 0 || ++empty <= 10)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = nap_us * 1000}, NULL);
    return events;
}
