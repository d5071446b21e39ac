/* Random programs: numbers that are the same on all ranks, memory with gaps and margins, and one number for all that a
 * run saw.
 *
 * A program (random_program.h) is decided by its seed. Each of its steps starts with its own number of the stream, so
 * that ranks that draw more than others in a step, for their communicators differ, agree again in the next.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include "rondo_test.h"
#include <stdint.h>

enum { MARGIN = 64, SLOTS = 7, KEYVALS = 3 };

/* A communicator of a program. */
struct slot {
    MPI_Comm comm; /* MPI_COMM_NULL on ranks that are not in it */
    int complete;  /* is every rank of the program in it, or in its like? */
    int idup;      /* was MPI_Comm_idup called on it? */
};

/* Of each thread its own: threads run programs of their own. */
static _Thread_local struct {
    uint64_t state; /* alike on all ranks */
    uint64_t own;   /* of this rank alone */
    uint64_t hash;
    uint64_t names; /* bit r: rank r calls collectives by their PMPI_ names */
    int rank;       /* in the communicator that the program is of */
    unsigned verbs;
    struct slot slots[SLOTS];
    int slots_used;
    int keyvals[KEYVALS];
    MPI_Comm talks; /* on this one error handlers communicate */
} now;

/* splitmix64 */
static uint64_t next_of(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t draw(uint64_t below) { return next_of(&now.state) % below; }

/* What ranks may have each their own of. */
static uint64_t draw_own(uint64_t below) { return next_of(&now.own) % below; }

static int draw_int(long below) { return (int)draw((uint64_t)below); }

/* The words of the memory, and its last bytes one by one. */
static void add(const void *memory, size_t bytes) {
    const unsigned char *b = memory;
    for (; bytes >= 8; b += 8, bytes -= 8) {
        uint64_t word;
        memcpy(&word, b, 8);
        now.hash = (now.hash ^ word) * 0x9e3779b97f4a7c15u;
        now.hash ^= now.hash >> 29;
    }
    for (; bytes > 0; b++, bytes--) now.hash = (now.hash ^ *b) * 0x100000001b3u;
}

static void add_number(long long number) { add(&number, sizeof number); }

/* As the standard has it: a code's class is what can be compared. */
static void add_code(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    add_number(class);
}

/* A collective by the name that this rank uses. */
#define CALL(function, ...) \
    (now.names >> (now.rank % 64) & 1 ? PMPI_##function(__VA_ARGS__) : MPI_##function(__VA_ARGS__))

/* Memory for elements of a type, with a margin at both ends. */
struct area {
    unsigned char *base;
    size_t bytes;
    unsigned char *at; /* the buffer as MPI wants it */
};

static struct area area_of(MPI_Datatype type, long elements) {
    MPI_Aint lb, extent, true_lb, true_extent, low = 0, high = 0;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    if (elements > 0) {
        low = true_lb < 0 ? true_lb : 0;
        high = true_lb + true_extent + (elements - 1) * extent;
        if (high < 0) high = 0;
    }
    struct area a;
    a.bytes = (size_t)(high - low) + 2 * MARGIN;
    a.base = malloc(a.bytes);
    a.at = a.base + MARGIN - low;
    uint64_t first = draw_own(256);
    for (size_t i = 0; i < a.bytes; i++) a.base[i] = (unsigned char)(i * 31 + first + (i >> 8) * 7);
    return a;
}

static void add_area(struct area *a) {
    add(a->base, a->bytes);
    free(a->base);
}

/* Which host it is: what one cannot do by itself is left out of the programs, where each says so; and what all of a
 * run leave out. */
static struct {
    int open_mpi, open_mpi_4, mpich, mpich_4, intel;
    int mute_handlers; /* error handlers do not communicate */
    int plain_types;   /* all types are named ones of C */
} host;

static MAYBE_UNUSED void find_host(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, major = 0;
    MPI_Get_library_version(version, &length);
    host.open_mpi = strstr(version, "Open MPI") != NULL;
    host.open_mpi_4 = strstr(version, "Open MPI v4") != NULL;
    host.mpich = strstr(version, "MPICH") != NULL;
    host.mpich_4 = sscanf(version, "MPICH Version: %d", &major) == 1 && major == 4;
    host.intel = strstr(version, "Intel") != NULL;
}

#endif
