/* Sessions, by which a program uses MPI without MPI_Init, ends it, and uses it again.
 *
 * Whatever Rondo keeps at the MPI library, a keyval or a communicator, is gone with the last session, and the program's
 * own next keyval may have the same number. So the program makes keyvals for communicators and types and hangs small
 * numbers on both, which are no pointers, before it calls collectives. Without MPI_Init, all calls are the host's.
 *
 *   sessions rounds   sessions one after the other, in each a communicator and a derived type
 *   sessions kept     the same, and communicators and types are left to the end of the session
 *   sessions two      two sessions at a time
 *   sessions once     one session
 *   sessions inside   sessions within MPI_Init and MPI_Finalize
 *   sessions mixed    the same, and sessions after it
 */
#include "seven.h"

/* Open MPI 5 has them, though it calls itself 3.1. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

#ifdef I_MPI_VERSION
#define IS_INTEL 1
#else
#define IS_INTEL 0
#endif

enum { BYTES = 30000, ROUNDS = 4 };

/* Without MPI_Init all calls are the host's. Intel MPI says that MPI is initialised in a session too, and so Rondo may
 * take calls: there MPI ends once in a process, so that nothing that was kept can be mistaken. */
static int outside;

/* What a session has. */
struct used {
    MPI_Session session;
    MPI_Comm comm;
    int comm_key, type_key;
    struct layout layout;
};

static void open_session(struct used *u, const char *tag) {
    MPI_Group group;
    int initialised = 0;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &u->session) == MPI_SUCCESS);
    MPI_Initialized(&initialised);
    if (outside) expect_now(initialised && IS_INTEL ? "any" : "host");
    CHECK(MPI_Group_from_session_pset(u->session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &u->comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    MPI_Comm_rank(u->comm, &test.rank);
    MPI_Comm_size(u->comm, &test.ranks);
}

/* The program's own keyvals, with values on the communicator and on a type. */
static void hang_numbers(struct used *u) {
    MPI_Datatype type;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &u->comm_key, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &u->type_key, NULL);
    MPI_Type_vector(3, 2, 4, MPI_INT, &type);
    u->layout = new_layout("vector of 3 x 2 ints, stride 4", 40);
    for (int i = 0; i < 3; i++) add(&u->layout, 16 * i, 8);
    u->layout = commit(u->layout, type);
    MPI_Comm_set_attr(u->comm, u->comm_key, (void *)5);
    MPI_Type_set_attr(u->layout.type, u->type_key, (void *)7);
}

static void use(const struct used *u) {
    void *value;
    int found;
    for (int root = 0; root < test.ranks; root++) {
        bcast_bytes(BYTES, root, u->comm);
        bcast_layouts(&u->layout, 500, &u->layout, 500, root, u->comm);
        all_seven(700, root, u->comm);
    }
    MPI_Comm_get_attr(u->comm, u->comm_key, &value, &found);
    CHECK(found && value == (void *)5);
    MPI_Type_get_attr(u->layout.type, u->type_key, &value, &found);
    CHECK(found && value == (void *)7);
}

/* Ends a session; its communicator sums the failures up so far. */
static int close_session(struct used *u, int keep) {
    int all = 0;
    MPI_Allreduce(&test.failures, &all, 1, MPI_INT, MPI_SUM, u->comm);
    MPI_Comm_free_keyval(&u->comm_key);
    MPI_Type_free_keyval(&u->type_key);
    if (keep) {
        free(u->layout.piece);
    } else {
        drop(&u->layout);
        MPI_Comm_free(&u->comm);
    }
    CHECK(MPI_Session_finalize(&u->session) == MPI_SUCCESS);
    return all;
}

static int rounds(int number, int keep) {
    int all = 0;
    for (int round = 0; round < number; round++) {
        struct used u;
        open_session(&u, "rounds");
        hang_numbers(&u);
        use(&u);
        all = close_session(&u, keep);
    }
    return all;
}

static int two(void) {
    struct used a, b;
    open_session(&a, "first");
    hang_numbers(&a);
    use(&a);
    open_session(&b, "second");
    use(&a);
    hang_numbers(&b);
    use(&b);
    close_session(&a, 0);
    use(&b);
    open_session(&a, "third");
    hang_numbers(&a);
    use(&a);
    close_session(&b, 0);
    use(&a);
    return close_session(&a, 0);
}

/* The failures of all ranks, known to rank 0. */
static int inside(int *argc, char ***argv) {
    int all = 0;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
    bcast_bytes(BYTES, 0, MPI_COMM_WORLD);
    const char *before = expect_now("any"); /* the processes of a session are the world's, so it may be Rondo's */
    rounds(ROUNDS, 0);
    expect_again(before);
    for (int root = 0; root < test.ranks; root++) bcast_bytes(BYTES, root, MPI_COMM_WORLD);
    MPI_Allreduce(&test.failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all;
}

int main(int argc, char **argv) {
    const char *part = argc > 1 ? argv[1] : "rounds";
    int all = 0, mixed = !strcmp(part, "mixed");
    find_rondo("sessions");
    if (mixed || !strcmp(part, "inside")) all = inside(&argc, &argv);
    /* Outside of MPI_Init. */
    outside = 1;
    if (mixed || !strcmp(part, "rounds")) all += rounds(ROUNDS, 0);
    if (!strcmp(part, "kept")) all = rounds(ROUNDS, 1);
    if (!strcmp(part, "once")) all = rounds(1, 0);
    if (!strcmp(part, "two")) all = two();
    all += test.failures;
    if (test.rank == 0 && !all) printf("PASS sessions\n");
    return all != 0;
}

#else
int main(void) { return 2; } /* no sessions: no row for this MPI */
#endif
