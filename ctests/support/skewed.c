/* Preloaded behind Rondo: a clock that is another one on each rank, as Rondo reads it. Ranks are months apart, and
 *
 *   rank 1, 5, ...   goes 1.5 times as fast as it should,
 *   rank 2, 6, ...   jumps forward by an hour once in a while,
 *   rank 3, 7, ...   stands still half of the time.
 *
 * It is only changed for Rondo, which is known by the place that a call returns to: MPI libraries have timeouts of
 * their own, and what these do is no matter here. Rondo asks for CLOCK_MONOTONIC, and PMPI_Wtime. The rank comes from
 * the launcher: OMPI_COMM_WORLD_RANK (Open MPI) or PMI_RANK (MPICH). No MPI here.
 *
 *   skewed_readings()   how often Rondo looked at the clock so far
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define SECOND 1000000000ULL

/* How far one rank is ahead of the one before it. */
#define AHEAD (10000000 * SECOND)

enum { JUMPS_EVERY = 61, STANDS_NS = 5000000 };

/* Where Rondo is in memory. Nowhere: it is not preloaded, or this library is not set up yet. */
static uintptr_t begin, end;
static int rank;
static _Atomic unsigned long long readings;

static int find_extent(struct dl_phdr_info *object, size_t size, void *inside) {
    uintptr_t first = UINTPTR_MAX, last = 0, place = (uintptr_t)inside;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
        uintptr_t at = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (at < first) first = at;
        if (at + object->dlpi_phdr[i].p_memsz > last) last = at + object->dlpi_phdr[i].p_memsz;
    }
    if (place < first || place >= last) return 0;
    begin = first;
    end = last;
    return 1;
}

__attribute__((constructor)) static void set_up(void) {
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    if (!number) number = getenv("PMI_RANK");
    rank = number ? atoi(number) : 0;
    void *rondo = dlsym(RTLD_DEFAULT, "rondo_version");
    if (rondo) dl_iterate_phdr(find_extent, rondo);
}

static int clock_of_machine(clockid_t clock, struct timespec *now) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    return next(clock, now);
}

/* What the clock of this rank shows, in nanoseconds. */
static unsigned long long reading(void) {
    struct timespec time;
    clock_of_machine(CLOCK_MONOTONIC, &time);
    unsigned long long now = (unsigned long long)time.tv_sec * SECOND + (unsigned long long)time.tv_nsec;
    unsigned long long number = ++readings;
    switch (rank % 4) {
    case 1: now += now / 2; break;
    case 2: now += number / JUMPS_EVERY * 3600 * SECOND; break;
    case 3: if (now / STANDS_NS % 2) now -= now % STANDS_NS; break;
    }
    return now + (unsigned)rank * AHEAD;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    uintptr_t asks = (uintptr_t)__builtin_return_address(0);
    if (clock != CLOCK_MONOTONIC || asks < begin || asks >= end) return clock_of_machine(clock, now);
    unsigned long long shown = reading();
    now->tv_sec = (time_t)(shown / SECOND);
    now->tv_nsec = (long)(shown % SECOND);
    return 0;
}

double PMPI_Wtime(void);
double PMPI_Wtime(void) { return (double)reading() * 1e-9; }

unsigned long long skewed_readings(void);
unsigned long long skewed_readings(void) { return readings; }
