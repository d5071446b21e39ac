/* filecast: sends a file to all ranks with MPI_Bcast and checks it there.
 *
 *     mpicc -O2 filecast.c -o filecast
 *     mpirun -np 4 ./filecast FILE [REPEATS]
 *
 * Rank 0 reads FILE. Its length goes to all ranks as one number, then its content as bytes, in pieces where a file is
 * longer than one MPI count can say. Each rank computes the checksum of what it received, and rank 0 prints
 *
 *     FILE: 1234567 bytes to 4 ranks, checksum 0123456789abcdef, 1.234 ms (slowest rank, minimum of 5)
 *
 * The exit status is 0 if all ranks hold what rank 0 read. This is an ordinary MPI program; it knows of no library
 * between itself and MPI.
 */
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a, 64 bits. */
static uint64_t checksum(const unsigned char *data, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ data[i]) * 0x100000001b3ULL;
    return hash;
}

/* The content of a file of any length, pipes included; NULL with errno set if it cannot be read. */
static unsigned char *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t room = 1 << 16, used = 0, got;
    unsigned char *data = malloc(room);
    while (data && (got = fread(data + used, 1, room - used, file)) > 0) {
        used += got;
        if (used == room) {
            unsigned char *more = realloc(data, room *= 2);
            if (!more) free(data);
            data = more;
        }
    }
    int error = ferror(file) ? errno : 0;
    fclose(file);
    if (error) {
        free(data);
        data = NULL;
        errno = error;
    }
    *bytes = used;
    return data;
}

/* Sends `bytes` bytes from rank 0 to all. */
static void send_to_all(unsigned char *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        size_t piece = bytes - done < INT_MAX ? bytes - done : INT_MAX;
        MPI_Bcast(data + done, (int)piece, MPI_BYTE, 0, MPI_COMM_WORLD);
        done += piece;
    }
}

/* Does every rank agree that this went well? */
static int everywhere(int well) {
    int all;
    MPI_Allreduce(&well, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* Length and content, to all ranks. Returns the received data, NULL if the file or memory is missing somewhere. */
static unsigned char *distribute(const char *path, int rank, size_t *bytes) {
    unsigned char *data = NULL;
    uint64_t length = UINT64_MAX; /* no file */
    if (rank == 0) {
        data = read_file(path, bytes);
        if (data)
            length = *bytes;
        else
            fprintf(stderr, "filecast: cannot read %s: %s\n", path, strerror(errno));
    }
    MPI_Bcast(&length, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (length == UINT64_MAX) return NULL;
    *bytes = (size_t)length;
    if (rank != 0) data = malloc(*bytes + 1);
    if (!everywhere(data != NULL)) {
        if (rank == 0) fprintf(stderr, "filecast: not every rank has memory for %zu bytes\n", *bytes);
        free(data);
        return NULL;
    }
    send_to_all(data, *bytes);
    return data;
}

/* Milliseconds until the slowest rank has the content, the shortest of all repeats. Receivers clear their memory
 * before each, so that what is checked afterwards comes from the last one. */
static double measure(unsigned char *data, size_t bytes, int rank, int repeats) {
    double best = -1;
    for (int i = 0; i < repeats; i++) {
        if (rank != 0) memset(data, 0, bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        double mine = MPI_Wtime(), slowest;
        send_to_all(data, bytes);
        mine = (MPI_Wtime() - mine) * 1e3;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (best < 0 || slowest < best) best = slowest;
    }
    return best;
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    int repeats = argc > 2 ? atoi(argv[2]) : 5;
    if (argc < 2 || argc > 3 || repeats < 1) {
        if (rank == 0) fprintf(stderr, "usage: filecast FILE [REPEATS]\n");
        MPI_Finalize();
        return 2;
    }

    size_t bytes = 0;
    unsigned char *data = distribute(argv[1], rank, &bytes);
    if (!data) {
        MPI_Finalize();
        return 1;
    }
    double milliseconds = measure(data, bytes, rank, repeats);

    uint64_t sum = checksum(data, bytes), *sums = malloc(sizeof *sums * (size_t)ranks);
    MPI_Allgather(&sum, 1, MPI_UINT64_T, sums, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    int wrong = 0;
    for (int r = 0; r < ranks; r++) {
        if (sums[r] == sums[0]) continue;
        wrong++;
        if (rank == 0) fprintf(stderr, "filecast: rank %d has checksum %016llx\n", r, (unsigned long long)sums[r]);
    }
    if (rank == 0)
        printf("%s: %zu bytes to %d ranks, checksum %016llx, %.3f ms (slowest rank, minimum of %d)\n", argv[1], bytes,
               ranks, (unsigned long long)sums[0], milliseconds, repeats);
    free(sums);
    free(data);
    MPI_Finalize();
    return wrong ? 1 : 0;
}
