/* All seven collectives on a communicator, with irregular and regular blocks, and whom to expect there.
 */
#ifndef SEVEN_H
#define SEVEN_H

#include "agv.h"
#include "gsv.h"

/* One call each, all checked; `unit` is about the number of bytes of a block. */
static MAYBE_UNUSED void all_seven(int unit, int root, MPI_Comm comm) {
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    bcast_bytes((size_t)(10 * unit), root, comm);
    allgather_bytes(unit, comm);
    allgather_regular(&byte, &byte, unit, comm);
    both_ways(unit, root, comm);
    both_ways_regular(unit, root, comm);
}

/* From here on these are at work ("host", "any", or NULL: nobody asks), whatever the mode says, unless Rondo is off or
 * not there at all. Returns what was expected before, for expect_again(). */
static MAYBE_UNUSED const char *expect_now(const char *whom) {
    const char *before = test.expect;
    if (before && strcmp(before, "off")) {
        test.expect = whom;
        test.alike = 1;
    }
    return before;
}

static MAYBE_UNUSED void expect_again(const char *before) {
    test.expect = before;
    test.alike = 0;
}

#endif
