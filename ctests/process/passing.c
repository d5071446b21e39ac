/* Calls that Rondo passes on again and again, and then not: handles that come back with another meaning, ranks that
 * write the same data in different ways, and calls of several sizes in turn. Whoever remembers too much breaks here.
 * Arguments: if Rondo takes broadcasts of so many bytes and more, and no shorter ones, the number.
 */
#include "rondo_test.h"

enum { TIMES = 3000, LONG = 1 << 16 };

static unsigned char data[LONG];
static int least;

/* Since `before` there were so many broadcasts of so many bytes. */
static void check_broadcasts(struct counts before, int calls, int bytes) {
    const int forced = forced_takes(bytes, MPI_COMM_WORLD);
    check_counts(before, forced ? calls : 0, forced ? 0 : calls);
    if (least && test.expect) {
        const unsigned long long rondos = counts_now().rondo - before.rondo, wanted = bytes < least ? 0 : calls;
        CHECK_IN(rondos == wanted, "%llu of %d calls of %d bytes by Rondo", rondos, calls, bytes);
    }
}

/* The bytes of a call come from its datatype, whose handle the MPI library gives to the next one. */
static void types_come_back(void) {
    for (int i = 0; i < 40; i++) {
        const struct counts before = counts_now();
        const int bytes = i % 2 ? LONG : 8;
        MPI_Datatype type;
        MPI_Type_contiguous(bytes, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        for (int times = 0; times < 3; times++) {
            if (test.rank == i % test.ranks) fill(data, bytes, i + times);
            MPI_Bcast(data, 1, type, i % test.ranks, MPI_COMM_WORLD);
            CHECK(wrong(data, bytes, i + times) == 0);
        }
        MPI_Type_free(&type);
        check_broadcasts(before, 3, bytes);
    }
}

static void first(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((int *)inout)[i] = ((int *)in)[i];
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

/* What an operator does, and whether it keeps the order of ranks, comes from its handle, which is another's soon. */
static void operators_come_back(void) {
    const int sum = test.ranks * (test.ranks + 1) / 2;
    for (int i = 0; i < 40; i++) {
        MPI_Op op;
        MPI_Op_create(i % 2 ? first : add, i % 2 == 0, &op);
        for (int times = 0; times < 3; times++) {
            int mine = test.rank + 1, result = 0;
            MPI_Allreduce(&mine, &result, 1, MPI_INT, op, MPI_COMM_WORLD);
            CHECK(result == (i % 2 ? 1 : sum));
        }
        MPI_Op_free(&op);
    }
}

/* A communicator's handle is another one's soon, of other ranks. */
static void communicators_come_back(void) {
    for (int i = 0; i < 40; i++) {
        MPI_Comm comm;
        int ranks, sum;
        MPI_Comm_split(MPI_COMM_WORLD, test.rank % (i % 3 + 1), i % 2 ? test.rank : -test.rank, &comm);
        MPI_Comm_size(comm, &ranks);
        for (int times = 0; times < 5; times++) {
            const int one = 1;
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
            CHECK(sum == ranks);
            MPI_Barrier(comm);
        }
        if (i % 4) MPI_Comm_free(&comm);
        else MPI_Comm_disconnect(&comm);
    }
}

/* Eight bytes by rank: what one rank remembers, another one has not seen. All count alike all the same. */
static void ranks_write_differently(void) {
    const MPI_Datatype types[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_LONG_LONG, MPI_FLOAT, MPI_DOUBLE};
    const int counts[] = {8, 4, 2, 1, 2, 1};
    const struct counts before = counts_now();
    for (int i = 0; i < TIMES; i++) {
        const int which = test.rank % 2 ? i % 6 : 3;
        if (test.rank == 0) fill(data, 8, i);
        MPI_Bcast(data, counts[which], types[which], 0, MPI_COMM_WORLD);
        CHECK(wrong(data, 8, i) == 0);
    }
    check_broadcasts(before, TIMES, 8);
}

/* More kinds of calls than anybody remembers, some of one size class. */
static void sizes_take_turns(void) {
    for (int i = 0; i < TIMES; i++) {
        const int bytes = 1 + i * 7 % 61, root = i % test.ranks;
        int most, mine = i + test.rank;
        if (test.rank == root) fill(data, bytes, i);
        MPI_Bcast(data, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
        CHECK(wrong(data, bytes, i) == 0);
        MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(most == i + test.ranks - 1);
        if (i % 3 == 0) MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* One rank forgets what the others remember, because it frees communicators of its own meanwhile. Whether calls are to
 * be counted until something is measured, does not depend on it.
 */
static void one_rank_forgets(MPI_Comm comm) {
    for (int i = 0; i < 200; i++) {
        int most, mine = i + test.rank;
        if (test.rank == 1) {
            MPI_Comm own;
            MPI_Comm_dup(MPI_COMM_SELF, &own);
            MPI_Barrier(own);
            MPI_Comm_free(&own);
        }
        MPI_Barrier(comm);
        MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, comm);
        CHECK(most == i + test.ranks - 1);
    }
}

/* Before the network is measured: where rules give the MPI library calls that are Rondo's otherwise, and where not. */
static void calls_before_the_network_is_measured(void) {
    MPI_Comm comm;
    if (test.expect) {
        int (*give)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "rondo_rules");
        CHECK(give("{\"rules\": [{\"collective\": \"barrier\", \"algorithm\": \"host\"},"
                   "{\"collective\": \"allreduce\", \"algorithm\": \"host\"}]}") == 0);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        one_rank_forgets(comm);
        MPI_Comm_free(&comm);
        CHECK(give("{\"rules\": []}") == 0);
    }
    one_rank_forgets(MPI_COMM_WORLD);
}

/* Errors are the MPI library's to find, also where a valid call was passed on before. One with an invalid root is no
 * call on the other ranks.
 */
static void errors_are_found(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < TIMES; i++) {
        CHECK(MPI_Bcast(data, 1, MPI_BYTE, 0, comm) == MPI_SUCCESS);
        if (i % 100 == 3) {
            CHECK(MPI_Bcast(data, -1, MPI_BYTE, 0, comm) != MPI_SUCCESS);
            CHECK(MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, comm) != MPI_SUCCESS);
        }
        if (test.rank == 1 && i % 50 == 7) {
            const int root = i % 100 == 7 ? test.ranks : -100, sum = 1;
            int result;
            CHECK(MPI_Bcast(data, 1, MPI_BYTE, root, comm) != MPI_SUCCESS);
            CHECK(MPI_Reduce(&sum, &result, 1, MPI_INT, MPI_SUM, root, comm) != MPI_SUCCESS);
        }
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "passing");
    if (argc > 1) least = atoi(argv[1]);
    calls_before_the_network_is_measured();
    types_come_back();
    operators_come_back();
    communicators_come_back();
    ranks_write_differently();
    sizes_take_turns();
    errors_are_found();
    return finish();
}
