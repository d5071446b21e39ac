/* Processes of several worlds: jobs that are started by MPI_Comm_spawn, and halves of a job that find each other by a
 * port.
 *
 * A launcher may start children without the environment of their parents, so that Rondo is not there: what concerns
 * processes of different worlds is the host's on all of them. Once they have parted, the parents' MPI_COMM_WORLD is
 * Rondo's as before.
 *
 *   spawned children [order]   two children, and communicators of both worlds, the children first or last
 *   spawned ports              two halves of one job, which are one world all the time
 */
#include "seven.h"

enum { CHILDREN = 2 };

static void use(MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < 6; i++) all_seven(i % 2 ? 3000 : 7, i % p, comm);
}

/* The communicator, a duplicate, and parts in another order: of all, and of every second rank. Whoever is at work where
 * all processes are of one world. */
static void use_all(MPI_Comm comm, const char *whom) {
    MPI_Comm other;
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    const char *before = expect_now(whom);
    use(comm);
    MPI_Comm_dup(comm, &other);
    use(other);
    MPI_Comm_free(&other);
    MPI_Comm_split(comm, 0, -me, &other);
    use(other);
    MPI_Comm_free(&other);
    expect_now("any");
    MPI_Comm_split(comm, me % 2, me, &other);
    use(other);
    MPI_Comm_free(&other);
    expect_again(before);
}

/* Of all processes of an inter-communicator, this side's before the others' or behind them. */
static void use_merged(MPI_Comm inter, int high, const char *whom) {
    MPI_Comm merged;
    CHECK(MPI_Intercomm_merge(inter, high, &merged) == MPI_SUCCESS);
    use_all(merged, whom);
    MPI_Comm_free(&merged);
}

/* The failures of the other side. */
static int sum(MPI_Comm inter) {
    int theirs = 0;
    MPI_Allreduce(&test.failures, &theirs, 1, MPI_INT, MPI_SUM, inter);
    return theirs;
}

static void with_children(const char *program, int high) {
    MPI_Comm inter;
    char *arguments[] = {"children", high ? "1" : "0", NULL};
    int codes[CHILDREN];
    bcast_bytes(30000, 0, MPI_COMM_WORLD);
    MPI_Comm_spawn(program, arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    use_merged(inter, high, "host");
    use_merged(inter, !high, "host");
    CHECK(sum(inter) == 0);
    MPI_Comm_disconnect(&inter);
    for (int root = 0; root < test.ranks; root++) all_seven(3000, root, MPI_COMM_WORLD);
}

static int child(MPI_Comm parents, int high) {
    use_merged(parents, !high, "host");
    use_merged(parents, high, "host");
    sum(parents);
    MPI_Comm_disconnect(&parents);
    MPI_Finalize();
    return 0;
}

/* The lower half opens a port, the upper one connects to it. */
static void by_ports(void) {
    MPI_Comm half, inter;
    char port[MPI_MAX_PORT_NAME] = "";
    int upper = test.rank >= test.ranks / 2;
    bcast_bytes(30000, 0, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, upper, test.rank, &half);
    if (test.rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
    if (test.rank == 0) MPI_Send(port, sizeof port, MPI_CHAR, test.ranks / 2, 0, MPI_COMM_WORLD);
    if (test.rank == test.ranks / 2)
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (upper)
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
    else
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
    use_merged(inter, upper, "any");
    use_merged(inter, !upper, "any");
    MPI_Comm_disconnect(&inter);
    if (test.rank == 0) MPI_Close_port(port);
    MPI_Comm_free(&half);
    for (int root = 0; root < test.ranks; root++) all_seven(3000, root, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Comm parents;
    start(&argc, &argv, "spawned");
    MPI_Comm_get_parent(&parents);
    const char *part = argc > 1 ? argv[1] : "children";
    int high = argc > 2 ? atoi(argv[2]) : 0;
    if (parents != MPI_COMM_NULL) return child(parents, high);
    if (!strcmp(part, "ports"))
        by_ports();
    else
        with_children(argv[0], high);
    return finish();
}
