/* Preloaded beside the library under test where an MPI library polls without giving the core away, or not for long.
 *
 * UCX, below MPICH, polls without giving the core away, so a waiting rank keeps the rank it waits for from running
 * until the scheduler's time slice ends. Here an empty poll yields. With YIELD_NAP_US in the environment, a rank that
 * waits sleeps so many microseconds after ten of them, which halves the time that several jobs at once take and is no
 * good for timing one.
 *
 * Intel MPI yields between polls. With SCHED_YIELD_NAP_US a rank sleeps so long after ten yields in a row: jobs take a
 * quarter of the processor time. (Not so those of Open MPI, where short messages would wait for sleepers.)
 *
 * This changes scheduling only; no MPI symbol is touched.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef unsigned (*progress_fn)(void *worker);

enum {
    PATIENCE = 10,
    /* Yields that follow each other faster have but an empty poll between them. */
    POLL_NS = 10000,
};

/* The number in the environment of this name, or 0. */
static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

/* Leaves the core to others, after so many polls in vain. */
static void leave(unsigned empty, long nap_us) {
    if (nap_us == 0 || empty <= PATIENCE)
        syscall(SYS_sched_yield);
    else
        nanosleep(&(struct timespec){.tv_nsec = nap_us * 1000}, NULL);
}

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
        nap_us = number("YIELD_NAP_US");
        progress = find_progress();
    }
    unsigned events = progress(worker);
    empty = events == 0 ? empty + 1 : 0;
    if (empty > 0) leave(empty, nap_us);
    return events;
}

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int sched_yield(void) {
    static long nap_us = -1;
    static _Thread_local unsigned yields;
    static _Thread_local long long last;
    if (nap_us < 0) nap_us = number("SCHED_YIELD_NAP_US");
    if (nap_us == 0) return (int)syscall(SYS_sched_yield);
    yields = now_ns() - last < POLL_NS ? yields + 1 : 0;
    leave(yields, nap_us);
    last = now_ns();
    return 0;
}
