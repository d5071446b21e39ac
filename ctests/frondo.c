/* What Fortran test programs need of rondo_test.h, as functions with bind(C) interfaces. */
#include "rondo_test.h"

static struct counts before;

/* Looks for Rondo; the number of failures is 0 when it is there exactly if EXPECT_RONDO is set. */
int frondo_start(int rank, int ranks) {
    test.rank = rank;
    test.ranks = ranks;
    find_rondo("fortran");
    before = counts_now();
    return test.failures;
}

/* The number of failed checks if, since the last call, `rondos` broadcasts were Rondo's and `hosts` the host's. */
int frondo_moved(int rondos, int hosts) {
    int failures = test.failures;
    check_counts(before, (unsigned long long)rondos, (unsigned long long)hosts);
    before = counts_now();
    return test.failures - failures;
}
