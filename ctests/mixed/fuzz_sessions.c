/* Random programs on communicators of sessions.
 *
 *   fuzz_sessions FIRST COUNT HOW     seeds
 *
 *   beside     beside MPI_COMM_WORLD
 *   held       without MPI_Init, in a session that stays open
 *   rounds     without MPI_Init: MPI ends with each session and starts again with the next, in which keyvals and
 *              handlers are made anew. MPICH 5.0 ends in an assertion at the first type that a program makes in a
 *              second round, so there are none here.
 */
#include "random_program.h"

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)

/* A communicator of all processes, and of what session. */
static MPI_Comm open_session(MPI_Session *session, const char *tag) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
    MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

/* One program, or two in two sessions, the one that came first ending first or last. */
static void one(uint64_t seed) {
    MPI_Session first, second;
    MPI_Comm comm = open_session(&first, "one"), other;
    int two = seed % 3 == 0;
    if (two) other = open_session(&second, "two");
    make_handlers();
    show("seed", seed, program(seed, comm, MAKES | ATTRIBUTES | ERRORS));
    if (two) {
        MPI_Comm_free(&comm);
        if (seed % 2) MPI_Session_finalize(&first);
        show("other", seed, program(seed + 5000, other, MAKES | ATTRIBUTES | ERRORS));
        comm = other;
    }
    free_handlers();
    MPI_Comm_free(&comm);
    if (two) MPI_Session_finalize(&second);
    if (!two || seed % 2 == 0) MPI_Session_finalize(&first);
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 3;
    const char *how = argc > 3 ? argv[3] : "beside";
    int beside = !strcmp(how, "beside"), held = !strcmp(how, "held");
    MPI_Session session;
    if (beside)
        start(&argc, &argv, "fuzz_sessions");
    else
        find_rondo("fuzz_sessions");
    if (held) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    find_host();
    host.mute_handlers = host.mpich_4; /* It calls the handlers of such communicators with its lock held. */
    host.plain_types = !beside && !held;
    for (uint64_t seed = first; seed < first + count; seed++) {
        one(seed);
        if (!beside) continue;
        make_handlers();
        show("world", seed, program(seed + 9000, MPI_COMM_WORLD, MAKES | WORLD | ATTRIBUTES | ERRORS));
        free_handlers();
    }
    if (beside) return finish();
    if (held) MPI_Session_finalize(&session);
    if (now.rank == 0 && !test.failures) printf("PASS fuzz_sessions\n");
    return test.failures != 0;
}

#else

int main(int argc, char **argv) {
    start(&argc, &argv, "fuzz_sessions");
    find_host();
    CHECK(!"sessions came with MPI 4");
    (void)program;
    (void)show;
    return finish();
}

#endif
