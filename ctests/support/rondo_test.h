/* What the test programs share: checks, the proof of who carried a collective out, and the verdict.
 *
 * A program starts with start(), ends with finish(), and in between calls CHECK(condition) and, in place of
 * MPI_Bcast, MPI_Allgatherv, MPI_Gatherv and so on, bcast(), allgatherv(), gatherv() and so on, which also check
 * Rondo's counters. The same executable runs bare and with Rondo preloaded, so Rondo's functions are looked up at
 * run time. The environment says what to expect:
 *
 *   EXPECT_RONDO unset      bare: Rondo's symbols must be absent
 *   EXPECT_RONDO=circulant  (or any other algorithm): that algorithm carries out every collective of at least one
 *                           byte in all on an intra-communicator of at least three ranks, and MPI_Gatherv and
 *                           MPI_Scatterv there without a byte too, which only the root can know; the host does the rest
 *   EXPECT_RONDO=any        Rondo or the host, as Rondo chooses; each call is counted once
 *   EXPECT_RONDO=host       Rondo counts each call and hands each to the host
 *   EXPECT_RONDO=off        Rondo is there and takes nothing
 *
 * EXPECT_RONDO_BCAST, EXPECT_RONDO_GATHERV and so on, where one is set, say the same of one collective alone: not every
 * algorithm serves each.
 *
 * The last line is "PASS name", written by rank 0 of MPI_COMM_WORLD, and the exit status is 0, if and only if
 * no check failed on any rank.
 */
#ifndef RONDO_TEST_H
#define RONDO_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <ctype.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAYBE_UNUSED __attribute__((unused))

typedef unsigned long long (*rondo_calls_fn)(const char *collective, const char *algorithm);

static struct {
    const char *name;
    const char *expect; /* EXPECT_RONDO, or NULL in a bare run */
    int alike;          /* of all collectives, whatever the variables of single ones say */
    rondo_calls_fn calls;
    int rank, ranks;
    int failures; /* of this process */
} test;

/* Counts a failed check and goes on: one broken case must not hide the next, nor leave other ranks waiting. */
static MAYBE_UNUSED void failed(const char *file, int line, const char *what) {
    if (++test.failures <= 5) {
        fprintf(stderr, "rank %d: %s:%d: failed: %s\n", test.rank, file, line, what);
        fflush(stderr);
    }
}

#define CHECK(condition) ((condition) ? (void)0 : failed(__FILE__, __LINE__, #condition))

/* As CHECK, with the case at hand in the message: CHECK_IN(p == q, "root %d", root). */
#define CHECK_IN(condition, ...)                                                       \
    do {                                                                               \
        if (!(condition)) {                                                            \
            char where_[160];                                                          \
            int used_ = snprintf(where_, sizeof where_, "%s, where ", #condition);     \
            if (used_ < (int)sizeof where_)                                            \
                snprintf(where_ + used_, sizeof where_ - (size_t)used_, __VA_ARGS__);  \
            failed(__FILE__, __LINE__, where_);                                        \
        }                                                                              \
    } while (0)

/* Looks for Rondo's symbols; no MPI needed. */
static MAYBE_UNUSED void find_rondo(const char *name) {
    test.name = name;
    test.expect = getenv("EXPECT_RONDO");
    *(void **)&test.calls = dlsym(RTLD_DEFAULT, "rondo_calls");
    if (test.expect)
        CHECK(test.calls != NULL);
    else
        CHECK(test.calls == NULL);
    if (test.expect && test.calls == NULL) {
        fprintf(stderr, "%s: EXPECT_RONDO is set but Rondo is not loaded\n", name);
        exit(2);
    }
}

static MAYBE_UNUSED void start_threads(int *argc, char ***argv, const char *name, int level) {
    int provided;
    MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test.ranks);
    CHECK(provided >= level);
    find_rondo(name);
}

static MAYBE_UNUSED void start(int *argc, char ***argv, const char *name) {
    start_threads(argc, argv, name, MPI_THREAD_SINGLE);
}

/* The verdict over all ranks; returns the exit status. */
static MAYBE_UNUSED int finish(void) {
    int all = 0;
    MPI_Allreduce(&test.failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (test.rank == 0 && all) fprintf(stderr, "%s: %d checks failed\n", test.name, all);
    MPI_Finalize();
    if (test.rank == 0 && !all) printf("PASS %s\n", test.name);
    fflush(stdout);
    return all != 0;
}

/* The end of a program whose ranks disagree about a call, which gave this rank `code`. `call` is its name. A rank that
 * got an error aborts the job. If all ranks return success the program says so and ends with status 0, which is the
 * failure: nobody was told. */
static MAYBE_UNUSED int end_of_mismatch(int code, const char *call) {
    if (code != MPI_SUCCESS) {
        int kind;
        MPI_Error_class(code, &kind);
        fprintf(stderr, "rank %d: %s returned error class %d\n", test.rank, call, kind);
        fflush(stderr);
        usleep(100000); /* launchers drop what a rank said just before it aborted */
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (test.rank == 0) printf("SILENT: every rank returned success\n");
    MPI_Finalize();
    return 0;
}

/* ---- who carried it out ---- */

/* Calls of one collective on this rank since the start of the program. */
struct counts {
    const char *collective;   /* as rondo_calls knows it */
    unsigned long long named; /* by the algorithm that we expect, if we expect a certain one */
    unsigned long long rondo; /* by any algorithm of Rondo's */
    unsigned long long host;  /* handed to the host */
};

/* Whom we expect to carry this collective out, as the head of this file says, or NULL in a bare run. */
static MAYBE_UNUSED const char *expected(const char *collective) {
    char variable[40] = "EXPECT_RONDO_";
    size_t at = strlen(variable);
    for (const char *c = collective; *c; c++) variable[at++] = (char)toupper((unsigned char)*c);
    const char *own = getenv(variable);
    return test.expect && own && !test.alike ? own : test.expect;
}

static MAYBE_UNUSED int is_algorithm(const char *expect) {
    return expect && strcmp(expect, "any") && strcmp(expect, "host") && strcmp(expect, "off");
}

/* Are all broadcasts with data on three or more ranks to be a certain algorithm's of Rondo's? */
static MAYBE_UNUSED int names_algorithm(void) { return is_algorithm(expected("bcast")); }

static MAYBE_UNUSED struct counts counts_of(const char *collective) {
    struct counts c = {collective, 0, 0, 0};
    const char *expect = expected(collective);
    if (!expect) return c;
    c.rondo = test.calls(collective, NULL);
    c.host = test.calls(collective, "host");
    if (is_algorithm(expect)) c.named = test.calls(collective, expect);
    return c;
}

static MAYBE_UNUSED struct counts counts_now(void) { return counts_of("bcast"); }

/* Checks that since `before` Rondo took `rondos` calls of its collective and handed `hosts` to the host, were it
 * forced. */
static MAYBE_UNUSED void check_counts(struct counts before, unsigned long long rondos, unsigned long long hosts) {
    const char *name = before.collective, *expect = expected(name);
    if (!expect) return;
    struct counts now = counts_of(name);
    unsigned long long named = now.named - before.named, rondo = now.rondo - before.rondo;
    unsigned long long host = now.host - before.host;
    if (is_algorithm(expect)) {
        CHECK_IN(named == rondos, "%s by %s moved by %llu and not by %llu", name, expect, named, rondos);
        CHECK_IN(rondo == rondos, "%s by all of Rondo's moved by %llu and not by %llu", name, rondo, rondos);
        CHECK_IN(host == hosts, "%s by the host moved by %llu and not by %llu", name, host, hosts);
    } else if (!strcmp(expect, "any")) {
        CHECK_IN(rondo + host == rondos + hosts, "%s: %llu + %llu counted of %llu", name, rondo, host, rondos + hosts);
    } else if (!strcmp(expect, "host")) {
        CHECK_IN(rondo == 0 && host == rondos + hosts, "%s: %llu by Rondo, %llu by the host", name, rondo, host);
    } else {
        CHECK_IN(rondo == 0, "%s: %llu by Rondo, which is off", name, rondo);
    }
}

/* Is this a communicator on which a forced algorithm takes calls? */
static MAYBE_UNUSED int is_rondos_comm(MPI_Comm comm) {
    int inter, p;
    MPI_Comm_test_inter(comm, &inter);
    if (inter) return 0;
    MPI_Comm_size(comm, &p);
    return p >= 3;
}

/* Is a collective that moves `bytes` bytes in all on this communicator one that a forced algorithm takes? */
static MAYBE_UNUSED int forced_takes(long long bytes, MPI_Comm comm) { return bytes > 0 && is_rondos_comm(comm); }

/* Is this broadcast one that a forced algorithm takes? */
static MAYBE_UNUSED int is_rondos(int count, MPI_Datatype type, MPI_Comm comm) {
    int size;
    MPI_Type_size(type, &size);
    return forced_takes((long long)count * size, comm);
}

/* Checks that one call since `before` succeeded and was carried out by Rondo, if forced, or else by the host. */
static MAYBE_UNUSED void check_taken(struct counts before, int code, int rondos) {
    CHECK_IN(code == MPI_SUCCESS, "%s returned %d", before.collective, code);
    check_counts(before, (unsigned long long)rondos, (unsigned long long)!rondos);
}

/* The same for a call that moves `bytes` bytes in all. */
static MAYBE_UNUSED void check_call(struct counts before, int code, long long bytes, MPI_Comm comm) {
    check_taken(before, code, forced_takes(bytes, comm));
}

/* MPI_Bcast that must succeed and must be carried out by whom we expect. */
static MAYBE_UNUSED void bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int size;
    MPI_Type_size(type, &size);
    struct counts before = counts_now();
    int rc = MPI_Bcast(buffer, count, type, root, comm);
    check_call(before, rc, (long long)count * size, comm);
}

/* The number of ranks whose data come to each rank: on an inter-communicator, the remote group. */
static MAYBE_UNUSED int contributors(MPI_Comm comm) {
    int inter, ranks;
    MPI_Comm_test_inter(comm, &inter);
    if (inter)
        MPI_Comm_remote_size(comm, &ranks);
    else
        MPI_Comm_size(comm, &ranks);
    return ranks;
}

/* The bytes that an MPI_Allgatherv leaves on each rank. */
static MAYBE_UNUSED long long allgatherv_bytes(const int *counts, MPI_Datatype type, MPI_Comm comm) {
    int size;
    long long elements = 0;
    MPI_Type_size(type, &size);
    for (int r = 0; r < contributors(comm); r++) elements += counts[r];
    return elements * size;
}

/* MPI_Allgatherv that must succeed and must be carried out by whom we expect. */
static MAYBE_UNUSED void allgatherv(const void *send, int send_count, MPI_Datatype send_type, void *recv,
                                    const int *counts, const int *displs, MPI_Datatype recv_type, MPI_Comm comm) {
    struct counts before = counts_of("allgatherv");
    int rc = MPI_Allgatherv(send, send_count, send_type, recv, counts, displs, recv_type, comm);
    check_call(before, rc, allgatherv_bytes(counts, recv_type, comm), comm);
}

/* MPI_Allgather that must succeed and must be carried out by whom we expect. */
static MAYBE_UNUSED void allgather(const void *send, int send_count, MPI_Datatype send_type, void *recv, int count,
                                   MPI_Datatype recv_type, MPI_Comm comm) {
    int size;
    MPI_Type_size(recv_type, &size);
    struct counts before = counts_of("allgather");
    int rc = MPI_Allgather(send, send_count, send_type, recv, count, recv_type, comm);
    check_call(before, rc, (long long)contributors(comm) * count * size, comm);
}

/* The bytes of a block of an MPI_Gather or MPI_Scatter, as this rank says it: the root by what it has of all ranks, the
 * others by what they have themselves. */
static MAYBE_UNUSED long long block_bytes(int own, MPI_Datatype own_type, int each, MPI_Datatype each_type, int root,
                                          MPI_Comm comm) {
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Type_size(me == root ? each_type : own_type, &size);
    return (long long)(me == root ? each : own) * size;
}

/* MPI_Gatherv that must succeed and must be carried out by whom we expect. */
static MAYBE_UNUSED void gatherv(const void *send, int send_count, MPI_Datatype send_type, void *recv,
                                 const int *counts, const int *displs, MPI_Datatype recv_type, int root,
                                 MPI_Comm comm) {
    struct counts before = counts_of("gatherv");
    int rc = MPI_Gatherv(send, send_count, send_type, recv, counts, displs, recv_type, root, comm);
    check_taken(before, rc, is_rondos_comm(comm));
}

/* MPI_Scatterv that must succeed and must be carried out by whom we expect. */
static MAYBE_UNUSED void scatterv(const void *send, const int *counts, const int *displs, MPI_Datatype send_type,
                                  void *recv, int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
    struct counts before = counts_of("scatterv");
    int rc = MPI_Scatterv(send, counts, displs, send_type, recv, recv_count, recv_type, root, comm);
    check_taken(before, rc, is_rondos_comm(comm));
}

/* MPI_Gather that must succeed and must be carried out by whom we expect. */
static MAYBE_UNUSED void gather(const void *send, int send_count, MPI_Datatype send_type, void *recv, int count,
                                MPI_Datatype recv_type, int root, MPI_Comm comm) {
    int rondos = is_rondos_comm(comm) && block_bytes(send_count, send_type, count, recv_type, root, comm) > 0;
    struct counts before = counts_of("gather");
    int rc = MPI_Gather(send, send_count, send_type, recv, count, recv_type, root, comm);
    check_taken(before, rc, rondos);
}

/* MPI_Scatter that must succeed and must be carried out by whom we expect. */
static MAYBE_UNUSED void scatter(const void *send, int count, MPI_Datatype send_type, void *recv, int recv_count,
                                 MPI_Datatype recv_type, int root, MPI_Comm comm) {
    int rondos = is_rondos_comm(comm) && block_bytes(recv_count, recv_type, count, send_type, root, comm) > 0;
    struct counts before = counts_of("scatter");
    int rc = MPI_Scatter(send, count, send_type, recv, recv_count, recv_type, root, comm);
    check_taken(before, rc, rondos);
}

/* ---- data ---- */

/* Byte `i` of the test data named by `seed`. It differs from its neighbours, from the byte a block further, and
 * between seeds, so that a lost, doubled, shifted or swapped block shows. */
static MAYBE_UNUSED unsigned char data_byte(unsigned seed, size_t i) {
    unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ULL + seed * 0xd1b54a32d192ed03ULL;
    return (unsigned char)((x ^ (x >> 29)) >> 16);
}

static MAYBE_UNUSED void fill(void *buffer, size_t bytes, unsigned seed) {
    unsigned char *b = buffer;
    for (size_t i = 0; i < bytes; i++) b[i] = data_byte(seed, i);
}

/* The number of bytes that are not those of `seed`. */
static MAYBE_UNUSED size_t wrong(const void *buffer, size_t bytes, unsigned seed) {
    const unsigned char *b = buffer;
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += b[i] != data_byte(seed, i);
    return n;
}

/* Broadcasts `bytes` bytes of data from `root` over an intra-communicator and checks them everywhere. */
static MAYBE_UNUSED void bcast_bytes(size_t bytes, int root, MPI_Comm comm) {
    static unsigned seed;
    unsigned char *b = malloc(bytes + 1);
    int me;
    MPI_Comm_rank(comm, &me);
    fill(b, bytes, me == root ? 7 : 1000 + seed);
    b[bytes] = 0x5a;
    seed++;
    bcast(b, (int)bytes, MPI_BYTE, root, comm);
    CHECK_IN(wrong(b, bytes, 7) == 0, "%zu bytes from root %d", bytes, root);
    CHECK(b[bytes] == 0x5a);
    free(b);
}

#endif
