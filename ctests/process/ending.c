/* The end of the job, where some ranks met Rondo earlier than others.
 *
 * All ranks but the last broadcast among themselves; then every rank hangs an attribute on MPI_COMM_SELF, whose delete
 * callback MPI_Finalize calls; then all ranks broadcast. Were Rondo's own end such a callback as well, it would come
 * before the user's on some ranks and after it on others, and each has calls that all ranks make together.
 *
 *   ending order    the callback waits for all ranks and broadcasts
 *   ending reduce   it only reduces, as the report of Rondo's statistics does
 *   ending pmpi     as order, and every second rank ends MPI by PMPI_Finalize
 *   ending kept     it makes all collective calls on communicators that were never freed, and on a new one
 *   ending first    its calls are the first ones on MPI_COMM_WORLD, and rank 0 alone met Rondo before
 *   ending leaks    no callback, and a communicator that was never freed: Open MPI, asked to tell of handles that
 *                   somebody still holds at the end, has none to tell of
 *
 * A profiler that has MPI_Finalize, if there is one, is called once.
 */
#include "seven.h"
#include <unistd.h>

enum { BYTES = 30000, COMMS = 3 };

static const char *part;
static int callbacks;
static MPI_Comm kept[COMMS];

static int is(const char *name) { return !strcmp(part, name); }

static void reduce(void) {
    int one = 1 + test.rank, sum = 0, all = test.ranks * (test.ranks + 1) / 2;
    for (int i = 0; i < 3; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_IN(sum == all, "sum %d", sum);
        sum = 0;
        MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, i % test.ranks, MPI_COMM_WORLD);
        CHECK_IN(sum == (test.rank == i % test.ranks ? all : 0), "sum %d", sum);
    }
}

static void use_kept(void) {
    MPI_Comm fresh;
    for (int i = 0; i < COMMS; i++)
        if (kept[i] != MPI_COMM_NULL) all_seven(BYTES / 10, i % 2, kept[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    all_seven(BYTES / 10, test.ranks - 1, fresh);
    MPI_Comm_free(&fresh);
}

static int at_the_end(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    expect_now(NULL); /* Rondo may have ended by now */
    callbacks++;
    if (is("reduce")) {
        reduce();
    } else if (is("kept")) {
        use_kept();
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int root = 0; root < test.ranks; root++) bcast_bytes(BYTES, root, MPI_COMM_WORLD);
    }
    return MPI_SUCCESS;
}

static void hook(void) {
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    MPI_Comm_free_keyval(&keyval);
}

/* Ends MPI, and counts the handles that are told of meanwhile. */
static int complaints(void) {
    FILE *log = tmpfile();
    int own = dup(2), lines = 0;
    char line[1000];
    dup2(fileno(log), 2);
    MPI_Finalize();
    fflush(stderr);
    dup2(own, 2);
    close(own);
    rewind(log);
    while (fgets(line, sizeof line, log)) lines += strstr(line, "still allocated") != NULL;
    fclose(log);
    return lines;
}

int main(int argc, char **argv) {
    start(&argc, &argv, "ending");
    part = argc > 1 ? argv[1] : "order";
    int last = test.rank == test.ranks - 1;
    int early = !last && !is("first");
    if (is("first") && test.rank == 0) MPI_Barrier(MPI_COMM_SELF);
    MPI_Comm_split(MPI_COMM_WORLD, early ? 0 : MPI_UNDEFINED, 0, &kept[0]);
    if (early) bcast_bytes(BYTES + BYTES / (size_t)(test.ranks - 1), 0, kept[0]);
    if (!is("leaks")) hook();
    if (!is("first")) bcast_bytes(BYTES, 0, MPI_COMM_WORLD);
    for (int i = 1; i < COMMS; i++) {
        kept[i] = MPI_COMM_NULL;
        if (is("order") || is("reduce") || is("first")) continue;
        MPI_Comm_dup(MPI_COMM_WORLD, &kept[i]);
        all_seven(BYTES / 10, i, kept[i]);
    }
    if (kept[0] != MPI_COMM_NULL && !is("kept")) MPI_Comm_free(&kept[0]);
    if (is("leaks")) {
        int lines = complaints();
        CHECK_IN(lines == 0, "%d handles", lines);
    } else if (is("pmpi") && test.rank % 2) {
        PMPI_Finalize();
    } else {
        MPI_Finalize();
    }
    CHECK_IN(callbacks == !is("leaks"), "%d", callbacks);
    unsigned long (*profiler)(const char *);
    *(void **)&profiler = dlsym(RTLD_DEFAULT, "profiler_calls");
    if (profiler) CHECK_IN(profiler("MPI_Finalize") == 1, "%lu", profiler("MPI_Finalize"));
    /* No communication is left to sum failures up: each rank's exit status speaks for itself. */
    if (test.rank == 0 && !test.failures) printf("PASS ending\n");
    return test.failures != 0;
}
