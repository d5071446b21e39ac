/* Named types in contiguous buffers, every root, from one element to some hundred thousand.
 *
 * - Every rank holds the root's data afterwards, and nothing behind the buffer's end was written.
 * - Count 0 touches nothing and returns success, with a NULL buffer too.
 * - On MPI_COMM_SELF and on communicators of at most two ranks the host carries the call out.
 */
#include "rondo_test.h"

/* Sizes around powers of two, odd ones, and ones that no block count divides. */
static const int counts[] = {1,   2,   3,    5,    7,    8,    9,    16,   31,    63,    64,    65,     100,
                             255, 256, 257, 1000, 1023, 1024, 4099, 9999, 16384, 40001, 65536, 100003, 131072};
enum { COUNTS = sizeof counts / sizeof *counts };

static void one(int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int size, me;
    MPI_Type_size(type, &size);
    MPI_Comm_rank(comm, &me);
    size_t bytes = (size_t)count * (size_t)size;
    unsigned char *b = malloc(bytes + 8);
    fill(b, bytes, me == root ? 1 : 2);
    memset(b + bytes, 0xa5, 8);
    bcast(b, count, type, root, comm);
    CHECK_IN(wrong(b, bytes, 1) == 0, "%d elements of %d bytes from root %d", count, size, root);
    for (int i = 0; i < 8; i++) CHECK(b[bytes + (size_t)i] == 0xa5);
    free(b);
}

static void every_root_and_count(void) {
    for (int i = 0; i < COUNTS; i++)
        for (int root = 0; root < test.ranks; root++) {
            /* On many ranks every count still meets three roots and every root some of the counts. */
            if (test.ranks > 8 && (root + test.ranks - i) % test.ranks > 2) continue;
            one(counts[i], MPI_BYTE, root, MPI_COMM_WORLD);
        }
}

static void named_types(void) {
    const MPI_Datatype types[] = {MPI_CHAR,     MPI_SHORT,       MPI_INT,      MPI_LONG_LONG, MPI_FLOAT, MPI_DOUBLE,
                                  MPI_UNSIGNED, MPI_LONG_DOUBLE, MPI_UINT16_T, MPI_C_BOOL,    MPI_WCHAR,
                                  MPI_C_DOUBLE_COMPLEX, MPI_AINT};
    const int some[] = {1, 13, 1000, 20011};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int i = 0; i < 4; i++) one(some[i], types[t], (int)(t + (size_t)i) % test.ranks, MPI_COMM_WORLD);
}

static void nothing(void) {
    int kept = 4711 + test.rank;
    for (int root = 0; root < test.ranks; root++) {
        bcast(&kept, 0, MPI_INT, root, MPI_COMM_WORLD);
        bcast(NULL, 0, MPI_DOUBLE, root, MPI_COMM_WORLD);
    }
    CHECK(kept == 4711 + test.rank);
}

static void alone(void) {
    for (int i = 0; i < COUNTS; i += 5) one(counts[i], MPI_INT, 0, MPI_COMM_SELF);
    bcast(NULL, 0, MPI_INT, 0, MPI_COMM_SELF);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "basic");
    every_root_and_count();
    named_types();
    nothing();
    alone();
    return finish();
}
