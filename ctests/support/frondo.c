/* What Fortran test programs need of rondo_test.h, as functions with bind(C) interfaces. */
#include "rondo_test.h"

/* The counters of each collective when it was last asked about. */
static struct counts before[] = {{.collective = "bcast"},   {.collective = "allgatherv"}, {.collective = "allgather"},
                                 {.collective = "gatherv"}, {.collective = "scatterv"},   {.collective = "gather"},
                                 {.collective = "scatter"},
                                 {.collective = "allreduce"},
                                 {.collective = "reduce"},
                                 {.collective = "reduce_scatter"},
                                 {.collective = "reduce_scatter_block"},
                                 {.collective = "scan"},
                                 {.collective = "exscan"},
                                 {.collective = "barrier"},
                                 {.collective = "alltoall"},
                                 {.collective = "alltoallv"},
                                 {.collective = "alltoallw"}};

enum { KNOWN = sizeof before / sizeof *before };

/* Looks for Rondo; the number of failures is 0 when it is there exactly if EXPECT_RONDO is set. */
int frondo_start(int rank, int ranks) {
    test.rank = rank;
    test.ranks = ranks;
    find_rondo("fortran");
    for (int i = 0; i < KNOWN; i++) before[i] = counts_of(before[i].collective);
    return test.failures;
}

/* The number of failed checks if, since the last question about this collective, `rondos` calls of it were Rondo's and
 * `hosts` the host's. What is counted under the wrong name is missing here and too much in the next answer there. */
int frondo_counted(const char *collective, int rondos, int hosts) {
    int failures = test.failures;
    for (int i = 0; i < KNOWN; i++) {
        if (strcmp(before[i].collective, collective)) continue;
        check_counts(before[i], (unsigned long long)rondos, (unsigned long long)hosts);
        before[i] = counts_of(before[i].collective); /* the caller's name may be a temporary */
        return test.failures - failures;
    }
    failed(__FILE__, __LINE__, "a known collective");
    return 1;
}

/* The same of calls that not every algorithm can carry out, so that it may be another one of Rondo's than the expected
 * one. */
int frondo_ordered(const char *collective, int rondos, int hosts) {
    const char *expect = expected(collective);
    if (!is_algorithm(expect)) return frondo_counted(collective, rondos, hosts);
    int failures = test.failures;
    for (int i = 0; i < KNOWN; i++) {
        if (strcmp(before[i].collective, collective)) continue;
        struct counts now = counts_of(before[i].collective);
        CHECK_IN(now.rondo - before[i].rondo == (unsigned long long)rondos, "%s by Rondo", collective);
        CHECK_IN(now.host - before[i].host == (unsigned long long)hosts, "%s by the host", collective);
        before[i] = now;
        return test.failures - failures;
    }
    failed(__FILE__, __LINE__, "a known collective");
    return 1;
}

/* Counts a failed check of the program's own, and says which: 1, or 0 if it held. */
int frondo_check(int holds, const char *what) {
    if (!holds) failed(test.name, 0, what);
    return !holds;
}
