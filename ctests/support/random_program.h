/* A random program, on a communicator that it is told. */
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H

#include "random_exchanges.h"
#include "random_reductions.h"

enum { STEPS = 40 };

/* The communicators that it may not free come first. */
static int first_own(void) { return now.verbs & WORLD ? 2 : 1; }

static void calls(int step) {
    struct pending under_way;
    struct slot *slot = &now.slots[draw((uint64_t)now.slots_used)];
    MPI_Comm comm = slot->comm;
    MPI_Comm other = now.slots[draw((uint64_t)now.slots_used)].comm;
    int some = draw(3) > 0 && other != MPI_COMM_NULL;
    uint64_t after = draw(UINT64_MAX);
    if (some) begin(&under_way, other, step);
    now.state = after;
    if (comm != MPI_COMM_NULL) collective(comm);
    /* Rondo has no room for a private communicator there, and could not keep a promise (docs/design.md). */
    int has_room = !(slot->idup && host.open_mpi);
    if (comm != MPI_COMM_NULL && now.verbs & REDUCES && has_room) reduction(slot);
    if (comm != MPI_COMM_NULL && now.verbs & EXCHANGES) exchange(comm);
    if (some) end(&under_way);
}

static void one_step(int step) {
    struct slot *slot = &now.slots[draw((uint64_t)now.slots_used)];
    unsigned verbs = now.verbs;
    switch (draw(16)) {
    case 0:
    case 1:
        if (verbs & MAKES && now.slots_used < SLOTS) make_comm();
        break;
    case 2:
        if (now.slots_used > first_own()) free_comm(first_own() + draw_int(now.slots_used - first_own()));
        break;
    case 3:
    case 4:
    case 5:
        if (verbs & ATTRIBUTES) attribute(slot, step);
        break;
    case 6: set_handler(slot); break;
    case 7:
    case 8:
        if (verbs & ERRORS) errors(slot);
        break;
    case 9: /* not on Intel MPI, where only MPI_Comm_free could end such an attribute (see free_comm) */
        if (verbs & ATTRIBUTES && draw(4) == 0 && now.keyvals[1] != MPI_KEYVAL_INVALID && !host.intel) {
            /* It lives on in its attributes; those of the first one would have their callbacks in MPI_Finalize, too
             * late to talk. */
            delete_attribute(now.slots[0].comm, now.keyvals[1]);
            MPI_Comm_free_keyval(&now.keyvals[1]);
        }
        break;
    default: calls(step);
    }
}

/* The handlers must be there. Returns the number of all that the ranks saw. */
static uint64_t program(uint64_t seed, MPI_Comm comm, unsigned verbs) {
    memset(&now, 0, sizeof now);
    now.state = seed * 1000003;
    now.talks = MPI_COMM_NULL;
    now.verbs = verbs;
    MPI_Comm_rank(comm, &now.rank);
    now.slots[0] = (struct slot){comm, 1, 0};
    if (verbs & WORLD) now.slots[1] = (struct slot){MPI_COMM_SELF, 1, 0};
    now.slots_used = first_own();
    uint64_t pattern = draw(6), random = draw(UINT64_MAX);
    now.names = pattern == 0 ? 0x5555555555555555u : pattern == 1 ? 0xaaaaaaaaaaaaaaaau : pattern == 2 ? random : 0;
    make_keyvals();
    for (int step = 0; step < STEPS; step++) {
        uint64_t after = draw(UINT64_MAX);
        one_step(step);
        now.state = after;
    }
    while (now.slots_used > first_own()) free_comm(first_own());
    for (int i = 0; i < first_own(); i++) {
        MPI_Comm_set_errhandler(now.slots[i].comm, MPI_ERRORS_ARE_FATAL);
        for (int k = 0; k < KEYVALS; k++) delete_attribute(now.slots[i].comm, now.keyvals[k]);
    }
    free_keyvals();
    uint64_t total = 0;
    MPI_Allreduce(&now.hash, &total, 1, MPI_UINT64_T, MPI_SUM, comm);
    return total;
}

/* Under Rondo, were calls counted at all? */
static MAYBE_UNUSED void check_at_work(void) {
    if (!test.expect || !strcmp(test.expect, "off")) return;
    CHECK(test.calls("allgatherv", NULL) + test.calls("allgatherv", "host") > 0);
}

static MAYBE_UNUSED void show(const char *what, uint64_t seed, uint64_t number) {
    if (now.rank == 0) printf("%s %llu: %016llx\n", what, (unsigned long long)seed, (unsigned long long)number);
}

#endif
