/* What the test programs share: checks, the proof of who carried a broadcast out, and the verdict.
 *
 * A program starts with start(), ends with finish(), and in between calls CHECK(condition) and, in place of
 * MPI_Bcast, bcast(), which also checks Rondo's counters. The same executable runs bare and with Rondo
 * preloaded, so Rondo's functions are looked up at run time. The environment says what to expect:
 *
 *   EXPECT_RONDO unset      bare: Rondo's symbols must be absent
 *   EXPECT_RONDO=circulant  (or any other algorithm): that algorithm carries out every broadcast of at least one
 *                           byte on an intra-communicator of at least three ranks; the host does the rest
 *   EXPECT_RONDO=any        Rondo or the host, as Rondo chooses; each call is counted once
 *   EXPECT_RONDO=host       Rondo counts each call and hands each to the host
 *   EXPECT_RONDO=off        Rondo is there and takes nothing
 *
 * The last line is "PASS name", written by rank 0 of MPI_COMM_WORLD, and the exit status is 0, if and only if
 * no check failed on any rank.
 */
#ifndef RONDO_TEST_H
#define RONDO_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAYBE_UNUSED __attribute__((unused))

typedef unsigned long long (*rondo_calls_fn)(const char *collective, const char *algorithm);

static struct {
    const char *name;
    const char *expect; /* EXPECT_RONDO, or NULL in a bare run */
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

/* ---- who carried it out ---- */

struct counts {
    unsigned long long named; /* by the algorithm that EXPECT_RONDO names, if it names one */
    unsigned long long rondo; /* by any algorithm of Rondo's */
    unsigned long long host;  /* handed to the host */
};

static MAYBE_UNUSED int names_algorithm(void) {
    return test.expect && strcmp(test.expect, "any") && strcmp(test.expect, "host") && strcmp(test.expect, "off");
}

static MAYBE_UNUSED struct counts counts_now(void) {
    struct counts c = {0, 0, 0};
    if (!test.expect) return c;
    c.rondo = test.calls("bcast", NULL);
    c.host = test.calls("bcast", "host");
    if (names_algorithm()) c.named = test.calls("bcast", test.expect);
    return c;
}

/* Checks that since `before` Rondo took `rondos` broadcasts and handed `hosts` to the host, were it forced. */
static MAYBE_UNUSED void check_counts(struct counts before, unsigned long long rondos, unsigned long long hosts) {
    if (!test.expect) return;
    struct counts now = counts_now();
    unsigned long long named = now.named - before.named, rondo = now.rondo - before.rondo, host = now.host - before.host;
    if (names_algorithm()) {
        CHECK_IN(named == rondos, "%s moved by %llu and not by %llu", test.expect, named, rondos);
        CHECK_IN(rondo == rondos, "all of Rondo's algorithms moved by %llu and not by %llu", rondo, rondos);
        CHECK_IN(host == hosts, "host moved by %llu and not by %llu", host, hosts);
    } else if (!strcmp(test.expect, "any")) {
        CHECK_IN(rondo + host == rondos + hosts, "%llu + %llu counted of %llu", rondo, host, rondos + hosts);
    } else if (!strcmp(test.expect, "host")) {
        CHECK_IN(rondo == 0 && host == rondos + hosts, "%llu by Rondo, %llu by the host", rondo, host);
    } else {
        CHECK_IN(rondo == 0, "%llu by Rondo, which is off", rondo);
    }
}

/* Is this broadcast one that a forced algorithm takes? */
static MAYBE_UNUSED int is_rondos(int count, MPI_Datatype type, MPI_Comm comm) {
    int inter, p, size;
    MPI_Comm_test_inter(comm, &inter);
    if (inter) return 0;
    MPI_Comm_size(comm, &p);
    MPI_Type_size(type, &size);
    return p >= 3 && count > 0 && size > 0;
}

/* MPI_Bcast that must succeed and must be carried out by whom we expect. */
static MAYBE_UNUSED void bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int rondos = is_rondos(count, type, comm);
    struct counts before = counts_now();
    int rc = MPI_Bcast(buffer, count, type, root, comm);
    CHECK(rc == MPI_SUCCESS);
    check_counts(before, (unsigned long long)rondos, (unsigned long long)!rondos);
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
