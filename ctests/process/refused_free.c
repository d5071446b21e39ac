/* Communicators that are not freed though the program asks for it, or later than that: their collectives go on as
 * before, on all ranks, whenever each of them set an attribute of its own or met Rondo first.
 *
 *   refused_free veto       a delete callback refuses once, and MPI_Comm_free returns the error
 *   refused_free jump       the same, and the communicator's error handler leaves by longjmp
 *   refused_free world      one rank frees MPI_COMM_WORLD, and its error handler broadcasts on it
 *   refused_free worldjump  the same, and it leaves by longjmp
 *   refused_free pending    a collective is under way meanwhile, and delete callbacks broadcast, and look at the
 *                           communicator
 *   refused_free looks      a delete callback hangs attributes on something else, and looks at the communicator
 */
#include "rondo_test.h"
#include <setjmp.h>

enum { BYTES = 60000, COMMS = 5 };

static jmp_buf back;
static const char *part;
static int refusals, handled, way, looked;
static MPI_Comm other;
static unsigned char data[BYTES];

static void broadcasts(MPI_Comm comm, int calls) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int k = 0; k < calls; k++) {
        memset(data, rank == k % ranks ? k + 1 : 99, BYTES);
        MPI_Bcast(data, BYTES, MPI_BYTE, k % ranks, comm);
        CHECK_IN(data[0] == k + 1 && data[BYTES - 1] == k + 1, "broadcast %d", k);
    }
}

static int refuse(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    return refusals-- > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void check_attribute(MPI_Comm comm, int key, void *value) {
    void *found = NULL;
    int flag = 0;
    MPI_Comm_get_attr(comm, key, &found, &flag);
    CHECK_IN(flag && found == value, "way %d: %d", way, flag);
    looked++;
}

static int talk(MPI_Comm comm, int key, void *value, void *extra) {
    (void)extra;
    broadcasts(comm, 3);
    check_attribute(comm, key, value);
    return MPI_SUCCESS;
}

/* What is hung on something else may take the room of what Rondo had on the communicator. */
static int look(MPI_Comm comm, int key, void *value, void *extra) {
    (void)extra;
    if (comm == other) return MPI_SUCCESS;
    if (way == 0) MPI_Comm_set_attr(other, key, &other);
    if (way == 1) broadcasts(other, 1); /* the first collective on it */
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    int of_type;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_type, NULL);
    if (way == 2) MPI_Type_set_attr(type, of_type, &other);
    check_attribute(comm, key, value);
    int size, period, place;
    CHECK(MPI_Cart_get(comm, 1, &size, &period, &place) == MPI_SUCCESS && size == test.ranks && place == test.rank);
    MPI_Type_free_keyval(&of_type);
    MPI_Type_free(&type);
    return MPI_SUCCESS;
}

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
    if (strstr(part, "jump")) longjmp(back, 1);
    if (!strcmp(part, "world")) broadcasts(MPI_COMM_WORLD, 1);
}

/* A communicator that odd ranks give the attribute before its first collective, and even ones behind it. */
static MPI_Comm with_attribute(int key) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (test.rank % 2) MPI_Comm_set_attr(comm, key, &key);
    broadcasts(comm, 5);
    if (test.rank % 2 == 0) MPI_Comm_set_attr(comm, key, &key);
    return comm;
}

static void vetoed(MPI_Errhandler errhandler) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, NULL);
    MPI_Comm comm = with_attribute(key);
    MPI_Comm_set_errhandler(comm, strcmp(part, "jump") ? MPI_ERRORS_RETURN : errhandler);
    refusals = 1;
    volatile int code = MPI_ERR_OTHER;
    if (!setjmp(back)) code = MPI_Comm_free(&comm);
    CHECK(code != MPI_SUCCESS && comm != MPI_COMM_NULL);
    broadcasts(comm, 5);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    MPI_Comm_free_keyval(&key);
}

static void world_refused(MPI_Errhandler errhandler) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    MPI_Comm copy = MPI_COMM_WORLD;
    if (test.rank == 0) {
        if (!setjmp(back)) MPI_Comm_free(&copy);
        CHECK(handled == 1);
    } else if (!strcmp(part, "world")) {
        broadcasts(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    broadcasts(MPI_COMM_WORLD, 5);
}

static void freed_while_pending(void) {
    int key;
    MPI_Request request;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, talk, &key, NULL);
    MPI_Comm comm = with_attribute(key);
    MPI_Ibarrier(comm, &request);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(looked == 1);
    MPI_Comm_free_keyval(&key);
}

static void looked_at(void) {
    int key, none = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, look, &key, NULL);
    for (way = 0; way < 3; way++) {
        for (int calls = 0; calls < 6; calls += 5) {
            MPI_Comm_dup(MPI_COMM_WORLD, &other);
            MPI_Comm comm;
            MPI_Cart_create(MPI_COMM_WORLD, 1, &test.ranks, &none, 0, &comm);
            MPI_Comm_set_attr(comm, key, &none);
            broadcasts(comm, calls);
            looked = 0;
            MPI_Comm_free(&comm);
            CHECK(looked == 1);
            MPI_Comm_free(&other);
        }
    }
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "refused_free");
    part = argc > 1 ? argv[1] : "veto";
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(handler, &errhandler);
    if (!strncmp(part, "world", 5))
        world_refused(errhandler);
    else if (!strcmp(part, "pending"))
        freed_while_pending();
    else if (!strcmp(part, "looks"))
        looked_at();
    else
        vetoed(errhandler);
    /* Their handles are those of the one that is gone, and their ranks have another order. */
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm other;
        MPI_Comm_split(MPI_COMM_WORLD, 0, test.ranks - test.rank, &other);
        broadcasts(other, 5);
        MPI_Comm_free(&other);
    }
    MPI_Errhandler_free(&errhandler);
    return finish();
}
