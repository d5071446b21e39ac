/* Many communicators, with one of four parts chosen by the first argument.
 *
 * churn    Several thousand communicators are made, used and freed one after the other. Memory stays flat, and
 *          the host's supply of communicators (2045 in MPICH) is not used up.
 * handles  1000 are made, used in several ways and freed one after the other. The process then has as many open files
 *          and as many mappings of memory as before.
 * hold     300 are alive at once and all work, in any order and after some of them were freed.
 * exhaust  The program itself makes communicators until the host has no more (or 3000 of them are alive). The
 *          failure is the host's error, and broadcasts on all that exist still work.
 */
#include "agv.h"
#include "gsv.h"
#include "nodes.h"
#include <dirent.h>
#include <limits.h>

static long resident_kib(void) {
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
    if (f) fclose(f);
    return kib;
}

static void churn_once(int i) {
    MPI_Comm comm;
    if (i % 3 == 0)
        MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    bcast_bytes((size_t)(1 + i % 5 * 700), i % test.ranks, comm);
    MPI_Comm_free(&comm);
}

static void churn(void) {
    enum { WARM_UP = 600, REST = 2400, LEAK_KIB = 2048 };
    for (int i = 0; i < WARM_UP; i++) churn_once(i);
    /* Once more if it grew: Intel MPI maps 2 MiB at some time, once. A leak would show both times. */
    long more = LONG_MAX;
    for (int time = 0; time < 2; time++) {
        long before = resident_kib(), most;
        for (int i = 0; i < REST; i++) churn_once(i);
        CHECK(before > 0);
        more = resident_kib() - before;
        MPI_Allreduce(&more, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        if (most < LEAK_KIB) break;
    }
    /* Less than one KiB for each communicator: its state, its schedules or its handle would show. */
    CHECK_IN(more < LEAK_KIB, "%ld KiB more", more);
}

/* Mappings of this process. The system may show one in several lines; those that go on where the line above ends count
 * as one. */
static long mappings_now(void) {
    FILE *f = fopen("/proc/self/maps", "r");
    long n = 0;
    unsigned long start, end, offset, inode, last_end = 0, last_file_end = 0, last_inode = 0;
    while (f && fscanf(f, "%lx-%lx %*s %lx %*s %lu%*[^\n]", &start, &end, &offset, &inode) == 4) {
        int goes_on = start == last_end && inode == last_inode && (inode == 0 || offset == last_file_end);
        n += !goes_on;
        last_end = end, last_inode = inode, last_file_end = offset + (end - start);
    }
    if (f) fclose(f);
    return n;
}

static long open_files(void) {
    long files = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory)) files++;
    if (directory) closedir(directory);
    return files;
}

static void handles_once(int i, MPI_Comm parent) {
    int p;
    MPI_Comm comm;
    MPI_Comm_dup(parent, &comm);
    MPI_Comm_size(comm, &p);
    bcast_bytes((size_t)(1 + i % 5 * 700), i % p, comm);
    allgather_bytes(10 + i % 3 * 300, comm);
    both_ways(10 + i % 5 * 100, (i + 1) % p, comm);
    MPI_Comm_free(&comm);
}

static void handles(void) {
    enum { WARM_UP = 250, REST = 750, MORE_FILES = 2, MORE_MAPPINGS = 30 };
    MPI_Comm reverse, node = node_comm(), across = across_comm();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &reverse);
    const MPI_Comm parents[] = {MPI_COMM_WORLD, node, across, reverse};
    for (int i = 0; i < WARM_UP; i++) handles_once(i, parents[i % 4]);
    long files = open_files(), mappings = mappings_now();
    for (int i = 0; i < REST; i++) handles_once(i, parents[i % 4]);
    long more_files = open_files() - files, more_mappings = mappings_now() - mappings;
    /* The host and malloc may have a few more; one in twenty-five communicators that kept one of its own would show. */
    CHECK(files > 3 && mappings > 20);
    CHECK_IN(more_files <= MORE_FILES, "%ld and then %ld more", files, more_files);
    CHECK_IN(more_mappings <= MORE_MAPPINGS, "%ld and then %ld more", mappings, more_mappings);
    MPI_Comm_free(&node);
    MPI_Comm_free(&across);
    MPI_Comm_free(&reverse);
}

/* Broadcasts of at most this many bytes need not be Rondo's where its budget of communicators is spent. */
static void use_any(MPI_Comm comm, int root) {
    unsigned char b[3000];
    int me;
    MPI_Comm_rank(comm, &me);
    fill(b, sizeof b, me == root ? 31 : 32);
    CHECK(MPI_Bcast(b, sizeof b, MPI_BYTE, root, comm) == MPI_SUCCESS);
    CHECK(wrong(b, sizeof b, 31) == 0);
}

static void hold(void) {
    enum { HELD = 300 };
    MPI_Comm comm[HELD];
    struct counts before = counts_now();
    for (int i = 0; i < HELD; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        use_any(comm[i], i % test.ranks);
    }
    for (int i = 0; i < HELD; i++) use_any(comm[(i * 7) % HELD], i % test.ranks);
    for (int i = 0; i < HELD; i += 2) MPI_Comm_free(&comm[i]);
    for (int i = 1; i < HELD; i += 2) use_any(comm[i], 0);
    for (int i = 0; i < HELD; i += 2) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm[i]);
        use_any(comm[i], test.ranks - 1);
    }
    for (int i = HELD - 1; i >= 0; i--) MPI_Comm_free(&comm[i]);
    if (test.expect && strcmp(test.expect, "off")) {
        struct counts now = counts_now();
        CHECK(now.rondo + now.host - before.rondo - before.host == 3 * HELD);
        if (names_algorithm() && test.ranks >= 3) CHECK(now.rondo > before.rondo);
    }
}

static void exhaust(void) {
    enum { MOST = 3000 };
    static MPI_Comm comm[MOST];
    int made = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (made < MOST && MPI_Comm_dup(MPI_COMM_WORLD, &comm[made]) == MPI_SUCCESS) made++;
    CHECK(made > 100);
    for (int i = made - 1; i >= 0; i -= i > made - 20 ? 1 : 97) use_any(comm[i], i % test.ranks);
    use_any(MPI_COMM_WORLD, 0);
    /* With room again, all goes on as before. */
    for (int i = 0; i < made; i++) MPI_Comm_free(&comm[i]);
    for (int i = 0; i < 20; i++) {
        MPI_Comm again;
        CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &again) == MPI_SUCCESS);
        use_any(again, i % test.ranks);
        MPI_Comm_free(&again);
    }
}

int main(int argc, char **argv) {
    start(&argc, &argv, "manycomms");
    const char *part = argc > 1 ? argv[1] : "hold";
    if (!strcmp(part, "churn"))
        churn();
    else if (!strcmp(part, "handles"))
        handles();
    else if (!strcmp(part, "hold"))
        hold();
    else if (!strcmp(part, "exhaust"))
        exhaust();
    else
        CHECK(!"unknown part");
    return finish();
}
