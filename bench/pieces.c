/* How should a message be sent that consists of pieces scattered in memory?
 *
 *     pieces [-i REPETITIONS] [-k K[,K...]] BYTES...
 *
 * The ranks form a ring; each sends BYTES to the right and receives as many from the left. At both ends they lie in K
 * equal pieces with gaps as wide as a piece (BYTES is rounded down to a multiple of K; rows with less than a byte for a
 * piece are left out). The ways:
 *     contiguous  for comparison: one message from and into a buffer without gaps
 *     packed      pieces copied into one buffer, one message, copied out at the receiver
 *     derived     one message of an MPI_Type_create_hindexed type, made, committed and freed for this message at both
 *                 ends, as in a schedule whose pieces are others in every message
 *     separate    K messages
 *
 * Each way takes its turn in every repetition, the order reversed from one to the next, with 20 exchanges after a
 * barrier. The time of a repetition is that of its slowest rank, the figure is the minimum over the repetitions.
 * Waiting ranks yield.
 * What arrived is checked after each turn, and that the gaps are as they were.
 *
 * Columns: bytes, pieces, bytes of a piece, microseconds per exchange of each way, the best of the last three.
 */
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXCHANGES = 20, MOST_KS = 32, GAP = 0xA5 };
enum { CONTIGUOUS, PACKED, DERIVED, SEPARATE, WAYS };
static const char *const NAMES[] = {"contiguous", "packed", "derived", "separate"};

static int rank, left, right;
static int pieces, piece;                  /* of the row: how many, and how long */
static unsigned char *from, *into;         /* pieces with gaps; without gaps for CONTIGUOUS */
static unsigned char *packed[2];           /* staging, kept as a library would keep it */
static int *lengths;
static MPI_Aint *places;
static MPI_Request *requests;

static size_t place(int way, int i) { return (size_t)i * piece * (way == CONTIGUOUS ? 1 : 2); }

static void wait_for(MPI_Request *request) {
    for (int done = 0;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done) return;
        sched_yield();
    }
}

static void one_message(void *in, void *out, int count, MPI_Datatype receive, MPI_Datatype send) {
    MPI_Irecv(in, count, receive, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, count, send, right, 0, MPI_COMM_WORLD, &requests[1]);
    wait_for(&requests[0]);
    wait_for(&requests[1]);
}

static MPI_Datatype scattered(void) {
    MPI_Datatype type;
    for (int i = 0; i < pieces; i++) {
        lengths[i] = piece;
        places[i] = (MPI_Aint)place(DERIVED, i);
    }
    MPI_Type_create_hindexed(pieces, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void exchange(int way) {
    switch (way) {
    case CONTIGUOUS: one_message(into, from, pieces * piece, MPI_BYTE, MPI_BYTE); break;
    case PACKED:
        for (int i = 0; i < pieces; i++) memcpy(packed[0] + (size_t)i * piece, from + place(way, i), piece);
        one_message(packed[1], packed[0], pieces * piece, MPI_BYTE, MPI_BYTE);
        for (int i = 0; i < pieces; i++) memcpy(into + place(way, i), packed[1] + (size_t)i * piece, piece);
        break;
    case DERIVED: {
        MPI_Datatype receive = scattered(), send = scattered();
        one_message(into, from, 1, receive, send);
        MPI_Type_free(&receive);
        MPI_Type_free(&send);
        break;
    }
    case SEPARATE:
        for (int i = 0; i < pieces; i++)
            MPI_Irecv(into + place(way, i), piece, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < pieces; i++)
            MPI_Isend(from + place(way, i), piece, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[pieces + i]);
        for (int i = 0; i < 2 * pieces; i++) wait_for(&requests[i]);
        break;
    }
}

static unsigned char expected(int sender, int i, int seed) {
    return (unsigned char)(((unsigned)i + 977u * (unsigned)seed + 65537u * (unsigned)sender) * 2654435761u >> 24);
}

/* A turn of one way; microseconds per exchange on the slowest rank. */
static double once(int way, int seed) {
    size_t room = 2 * (size_t)pieces * piece;
    memset(from, GAP, room);
    memset(into, GAP, room);
    for (int i = 0; i < pieces; i++) {
        for (int j = 0; j < piece; j++) {
            from[place(way, i) + j] = expected(rank, i * piece + j, seed);
            into[place(way, i) + j] = (unsigned char)~expected(left, i * piece + j, seed);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < EXCHANGES; i++) exchange(way);
    double mine = (MPI_Wtime() - start) / EXCHANGES * 1e6, slowest;
    int wrong = 0;
    for (int i = 0; i < pieces; i++) {
        for (int j = 0; j < piece; j++) {
            wrong |= into[place(way, i) + j] != expected(left, i * piece + j, seed);
            if (way != CONTIGUOUS) wrong |= into[place(way, i) + piece + j] != GAP;
        }
    }
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (wrong) {
        fprintf(stderr, "pieces: wrong data: %s, %d pieces of %d bytes\n", NAMES[way], pieces, piece);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return slowest;
}

/* One row: the buffers, the repetitions, the minima. */
static void measure(int repetitions) {
    size_t bytes = (size_t)pieces * piece;
    from = malloc(2 * bytes);
    into = malloc(2 * bytes);
    for (int i = 0; i < 2; i++) packed[i] = malloc(bytes);
    lengths = malloc(sizeof(int) * pieces);
    places = malloc(sizeof(MPI_Aint) * pieces);
    requests = malloc(sizeof(MPI_Request) * 2 * pieces);
    double least[WAYS];
    for (int i = -1; i < repetitions; i++) { /* -1: connections, page faults */
        for (int j = 0; j < WAYS; j++) {
            int way = i & 1 ? WAYS - 1 - j : j;
            double t = once(way, (i + 1) * WAYS + j);
            if (i <= 0 || t < least[way]) least[way] = t;
        }
    }
    int best = PACKED;
    for (int way = PACKED; way < WAYS; way++)
        if (least[way] < least[best]) best = way;
    if (rank == 0)
        printf("%10zu %6d %9d %11.2f %11.2f %11.2f %11.2f  %s\n", bytes, pieces, piece, least[CONTIGUOUS],
               least[PACKED], least[DERIVED], least[SEPARATE], NAMES[best]);
    fflush(stdout);
    free(from), free(into), free(packed[0]), free(packed[1]), free(lengths), free(places), free(requests);
}

/* A number from 1 to `most`, or 0. */
static int number(const char *text, int most) {
    char *end;
    long long value = strtoll(text, &end, 10);
    return *end || value < 1 || value > most ? 0 : (int)value;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int ranks, repetitions = 10, ks[MOST_KS] = {2, 8, 64, 512}, nks = 4, fine = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    opterr = 0;
    for (int option; (option = getopt(argc, argv, "+i:k:")) != -1;) {
        if (option == 'i') repetitions = atoi(optarg);
        else if (option == 'k') {
            nks = 0;
            for (char *k = strtok(optarg, ","); k; k = strtok(NULL, ",")) {
                fine = fine && nks < MOST_KS && number(k, INT_MAX / 2);
                if (fine) ks[nks++] = number(k, INT_MAX / 2);
            }
        } else fine = 0;
    }
    for (int i = optind; i < argc; i++) fine = fine && number(argv[i], INT_MAX);
    if (!fine || repetitions < 1 || nks < 1 || optind >= argc) {
        if (rank == 0) fprintf(stderr, "usage: pieces [-i N] [-k K[,K...]] BYTES...\n");
        MPI_Finalize();
        return 2;
    }
    if (rank == 0)
        printf("%10s %6s %9s %11s %11s %11s %11s  %s\n", "bytes", "pieces", "piece", "contiguous", "packed", "derived",
               "separate", "best");
    for (; optind < argc; optind++) {
        for (int i = 0; i < nks; i++) {
            pieces = ks[i];
            piece = number(argv[optind], INT_MAX) / pieces;
            if (piece) measure(repetitions);
        }
    }
    MPI_Finalize();
    return 0;
}
