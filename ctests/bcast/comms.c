/* Communicators other than MPI_COMM_WORLD: every way to make one, any order of ranks, parents freed before children.
 *
 * Intra-communicators of three and more ranks are Rondo's, smaller ones and inter-communicators the host's.
 */
#include "rondo_test.h"

static const size_t sizes[] = {1, 100, 5000, 70001};

/* Every size from every root, or from three roots where there are many ranks. */
static void use(MPI_Comm comm) {
    int p;
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < 4; i++)
        for (int root = 0; root < p; root += p > 8 ? p / 3 : 1) bcast_bytes(sizes[i], root, comm);
}

static void halves(void) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &comm);
    use(comm);
    MPI_Comm_free(&comm);
}

static void reversed(void) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm);
    int me;
    MPI_Comm_rank(comm, &me);
    CHECK(me == test.ranks - 1 - test.rank);
    use(comm);
    MPI_Comm_free(&comm);
}

/* The last rank is in no communicator at all. */
static void undefined(void) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank == test.ranks - 1 ? MPI_UNDEFINED : 3, 0, &comm);
    if (comm != MPI_COMM_NULL) {
        use(comm);
        MPI_Comm_free(&comm);
    }
}

static void small(void) {
    for (int size = 1; size <= 3; size++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, test.rank / size, 0, &comm);
        use(comm);
        MPI_Comm_free(&comm);
    }
}

/* A duplicate shares no state with the communicator it came from, used before or not. */
static void dups(void) {
    MPI_Comm before, after, idup;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &before);
    MPI_Comm_dup(before, &after);
    use(before);
    use(after);
    MPI_Comm_free(&after);
    MPI_Comm_dup(before, &after);
    MPI_Comm_idup(before, &idup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&before);
    use(after);
    use(idup);
    MPI_Comm_free(&after);
    MPI_Comm_free(&idup);
}

/* Children outlive their parents; broadcasts on all of them alternate in between. */
static void nested(void) {
    MPI_Comm level[4];
    MPI_Comm_dup(MPI_COMM_WORLD, &level[0]);
    for (int i = 1; i < 4; i++) MPI_Comm_split(level[i - 1], 0, i % 2 ? -test.rank : test.rank, &level[i]);
    for (int i = 0; i < 4; i++) use(level[3 - i]);
    MPI_Comm_free(&level[1]);
    use(level[2]);
    MPI_Comm_free(&level[0]);
    use(level[3]);
    MPI_Comm_free(&level[2]);
    use(level[3]);
    MPI_Comm_free(&level[3]);
}

/* Only members call MPI_Comm_create_group, so nothing collective over the others may hide in our handshake. */
static void group(void) {
    MPI_Group world, part;
    MPI_Comm comm;
    int members = test.ranks - test.ranks / 3, *list = malloc(sizeof *list * (size_t)members);
    for (int i = 0; i < members; i++) list[i] = members - 1 - i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, members, list, &part);
    if (test.rank < members) {
        MPI_Comm_create_group(MPI_COMM_WORLD, part, 99, &comm);
        use(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_create(MPI_COMM_WORLD, part, &comm);
    if (comm != MPI_COMM_NULL) {
        use(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&part);
    MPI_Group_free(&world);
    free(list);
}

static void cartesian(void) {
    int dims[2] = {0, 0}, periodic[2] = {1, 0}, keep_rows[2] = {0, 1};
    MPI_Comm grid, row;
    MPI_Dims_create(test.ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 1, &grid);
    MPI_Cart_sub(grid, keep_rows, &row);
    use(grid);
    use(row);
    MPI_Comm_free(&grid);
    use(row);
    MPI_Comm_free(&row);
}

static void shared_memory(void) {
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    use(node);
    MPI_Comm_free(&node);
}

/* One broadcast over an inter-communicator: from rank `root` of the low group to all of the high group. */
static void across(MPI_Comm inter, int low, int me, int root, size_t bytes) {
    unsigned char *b = malloc(bytes);
    fill(b, bytes, low && me == root ? 3 : 4);
    bcast(b, (int)bytes, MPI_BYTE, low ? (me == root ? MPI_ROOT : MPI_PROC_NULL) : root, inter);
    CHECK(wrong(b, bytes, low && me != root ? 4 : 3) == 0);
    free(b);
}

static void inter(void) {
    if (test.ranks < 2) return;
    int low = test.rank < (test.ranks + 1) / 2, me, lows = (test.ranks + 1) / 2;
    MPI_Comm half, inter, merged;
    MPI_Comm_split(MPI_COMM_WORLD, low, test.rank, &half);
    MPI_Comm_rank(half, &me);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? lows : 0, 5, &inter);
    for (int i = 0; i < 4; i++)
        for (int root = 0; root < lows; root += lows > 8 ? 7 : 1) across(inter, low, me, root, sizes[i]);
    MPI_Intercomm_merge(inter, low, &merged);
    use(merged);
    use(half);
    MPI_Comm_free(&inter);
    use(merged);
    MPI_Comm_free(&half);
    MPI_Comm_free(&merged);
}

static void selves(void) {
    MPI_Comm self;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    use(self);
    use(MPI_COMM_SELF);
    MPI_Comm_free(&self);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "comms");
    halves();
    reversed();
    undefined();
    small();
    dups();
    nested();
    group();
    cartesian();
    shared_memory();
    inter();
    selves();
    use(MPI_COMM_WORLD);
    return finish();
}
