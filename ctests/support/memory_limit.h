/* A process that may not have much more memory. */
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include "rondo_test.h"
#include <sys/resource.h>

/* What this process may have, in bytes, becomes `bytes`; returns what it was. */
static rlim_t set_memory_limit(rlim_t bytes) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    return before;
}

/* Only so many more than it has now; returns what it was. */
static rlim_t limit_memory(rlim_t more) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld", &pages) == 1);
    fclose(f);
    return set_memory_limit((rlim_t)pages * 4096 + more);
}

#endif
