/* A process that has the driver of a GPU loaded may pass buffers that no processor can read: Rondo stays away, on all
 * ranks.
 *
 *   gpu before DRIVER DIRECTORY   the last rank loads it before its first call: all calls of communicators with that
 *                                 rank are the host's on all of them
 *   gpu late DRIVER DIRECTORY     it loads it after calls that Rondo carried out: some calls later, all are the host's,
 *                                 on all ranks from the same call on, and no result is wrong meanwhile
 *   gpu off DRIVER DIRECTORY      Rondo is told not to mind: all is as without
 *   gpu hint DRIVER DIRECTORY     programs say what memory they pass: where it is the processor's, all is as without,
 *                                 unless RONDO_GPU=host
 */
#include "seven.h"
#include <unistd.h>

/* The ranks ask each other in their 1024th call and in their 2048th. Between them Rondo carries calls out while a rank
 * has the driver. */
enum { CALLS = 3000, SOON = 2000, KINDS = 10, WARM_UP = 105 * KINDS };

/* Loads the file `driver`, as rank `rank`, by the name of a GPU's: by its own if that is one. It is a file of its own,
 * which nobody else has loaded. */
static void load(const char *driver, const char *directory, int rank) {
    if (test.rank != rank) return;
    char path[4000], name[4096];
    const char *file = strrchr(driver, '/') ? strrchr(driver, '/') + 1 : driver;
    snprintf(path, sizeof path, "%s/gpu.XXXXXX", directory);
    CHECK(mkdtemp(path) != NULL);
    snprintf(name, sizeof name, "%s/%s", path, strncmp(file, "lib", 3) ? "libcuda.so.1" : file);
    FILE *from = fopen(driver, "rb"), *to = fopen(name, "wb");
    CHECK(from && to);
    for (int c; from && to && (c = getc(from)) != EOF;) putc(c, to);
    if (from) fclose(from);
    if (to) fclose(to);
    CHECK(dlopen(name, RTLD_NOW | RTLD_GLOBAL) != NULL);
    unlink(name);
    rmdir(path);
}

static void before(void) {
    MPI_Comm other;
    expect_now("host");
    for (int root = 0; root < test.ranks; root++) all_seven(3000, root, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int root = 0; root < test.ranks; root++) all_seven(30, root, other);
    MPI_Comm_free(&other);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &other);
    for (int root = 0; root < test.ranks; root++) all_seven(3000, root, other);
    MPI_Comm_free(&other);
    /* Without that rank it may be Rondo's. */
    MPI_Comm_split(MPI_COMM_WORLD, test.rank == test.ranks - 1, 0, &other);
    expect_now(test.rank == test.ranks - 1 ? "host" : "any");
    all_seven(3000, 0, other);
    MPI_Comm_free(&other);
}

/* Sums on all ranks, in place in every second call. */
static void sum(int count, int in_place) {
    static int own[1000], result[1000];
    for (int i = 0; i < count; i++) {
        own[i] = test.rank + i;
        result[i] = in_place ? own[i] : -1;
    }
    CHECK(MPI_Allreduce(in_place ? MPI_IN_PLACE : own, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    int p = test.ranks, wrong = 0;
    for (int i = 0; i < count; i++) wrong += result[i] != p * (p - 1) / 2 + p * i;
    CHECK_IN(wrong == 0, "%d of %d sums are wrong", wrong, count);
}

/* A block of each rank for each rank. */
static void exchange(int count) {
    static int sent[64 * 100], received[64 * 100];
    int p = test.ranks, wrong = 0;
    for (int i = 0; i < p * count; i++) {
        sent[i] = test.rank + 1000 * i;
        received[i] = -1;
    }
    CHECK(MPI_Alltoall(sent, count, MPI_INT, received, count, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int i = 0; i < p * count; i++)
        wrong += received[i] != i / count + 1000 * (test.rank * count + i % count);
    CHECK_IN(wrong == 0, "%d of %d numbers are wrong", wrong, p * count);
}

/* One collective of the kind i, with data on every rank. */
static void call(int i, const struct layout *vector) {
    struct piece piece;
    struct layout byte = dense(MPI_BYTE, &piece);
    int root = i % test.ranks, each = 1 + i * 37 % 900, counts[64];
    for (int r = 0; r < test.ranks; r++) counts[r] = 1 + (r + i) % 3 * each;
    const struct layout *l = i / KINDS % 2 ? vector : &byte;
    struct move m = {.root = root, .edition = (unsigned)i % 7, .own = l, .all = l, .counts = counts};
    m.comm = MPI_COMM_WORLD;
    m.way = i % 2 ? GATHER : SCATTER;
    switch (i % KINDS) {
    case 0:
    case 1: bcast_layouts(l, each, l, each, root, MPI_COMM_WORLD); break;
    case 2: allgather_counts(l, l, counts, MPI_COMM_WORLD); break;
    case 3: allgather_regular(l, l, each, MPI_COMM_WORLD); break;
    case 4:
    case 5: check_dense(m); break;
    case 8: sum(each, i / KINDS % 2); break;
    case 9: exchange(1 + each % 100); break;
    default: check_regular(m, each); break;
    }
}

/* Calls that Rondo carried out, of all collectives. */
static unsigned long long rondos(void) {
    static const char *const names[] = {"bcast",    "allgatherv", "allgather", "gatherv",  "gather",
                                        "scatterv", "scatter",    "allreduce", "alltoall"};
    unsigned long long sum = 0;
    for (size_t i = 0; test.calls && i < sizeof names / sizeof *names; i++) sum += test.calls(names[i], NULL);
    return sum;
}

static struct layout vector(void) {
    struct layout l = new_layout("vector of 3 x 2 ints, stride 4", 40);
    MPI_Datatype t;
    MPI_Type_vector(3, 2, 4, MPI_INT, &t);
    for (int i = 0; i < 3; i++) add(&l, 16 * i, 8);
    return commit(l, t);
}

static void late(const char *driver, const char *directory) {
    struct layout l = vector();
    int forced = names_algorithm(), last = 0;
    for (int i = 0; i < WARM_UP; i++) call(i, &l);
    CHECK(!forced || rondos() == WARM_UP);
    load(driver, directory, test.ranks - 1);
    expect_now("any");
    for (int i = 0; i < CALLS; i++) {
        unsigned long long so_far = rondos();
        call(i, &l);
        if (rondos() != so_far) last = i + 1;
    }
    int most = 0, least = 0;
    MPI_Allreduce(&last, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&last, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    CHECK_IN(most == least, "%d to %d calls were Rondo's", least, most);
    CHECK_IN(most <= SOON, "%d calls were Rondo's", most);
    CHECK_IN(!forced || least >= SOON / 3, "%d calls were Rondo's", least);
    drop(&l);
}

/* Calls on a communicator of which all ranks say that they pass these kinds of memory. */
static void asserted(const char *kinds, const char *whom) {
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", kinds);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    const char *before = whom ? expect_now(whom) : test.expect;
    for (int i = 0; i < 30; i++) all_seven(300, i % test.ranks, comm);
    if (whom) expect_again(before);
    MPI_Comm_free(&comm);
}

static void hint(void) {
    const char *option = getenv("RONDO_GPU");
    asserted("system,mpi:alloc_mem:win_allocate", option && !strcmp(option, "host") ? "host" : NULL);
    asserted("system,mpi,cuda:device", "host");
    asserted("systems", "host");
}

int main(int argc, char **argv) {
    start(&argc, &argv, "gpu");
    const char *part = argc > 3 ? argv[1] : "";
    if (!strcmp(part, "before")) {
        load(argv[2], argv[3], test.ranks - 1);
        before();
    } else if (!strcmp(part, "late")) {
        late(argv[2], argv[3]);
    } else if (!strcmp(part, "off")) {
        struct layout l = vector();
        load(argv[2], argv[3], test.ranks - 1);
        for (int i = 0; i < CALLS / 10; i++) call(i, &l);
        drop(&l);
    } else if (!strcmp(part, "hint")) {
        load(argv[2], argv[3], test.ranks - 1);
        hint();
    } else {
        CHECK(!"unknown part");
    }
    return finish();
}
