/* The first collectives of a program, by a thread with a stack of 24 KiB, as libraries of light threads give: what
 * Rondo needs for them has to fit beside what the MPI library needs.
 */
#include "rondo_test.h"
#include <pthread.h>

enum { STACK_BYTES = 24 << 10, BYTES = 64 << 10 };

static unsigned char data[BYTES];
static int sum;

static void *work(void *unused) {
    int one = 1;
    MPI_Bcast(data, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return unused;
}

int main(int argc, char **argv) {
    pthread_attr_t small;
    pthread_t thread;
    start_threads(&argc, &argv, "small_stack", MPI_THREAD_SERIALIZED);
    const struct counts before = counts_now();
    if (test.rank == 0) fill(data, BYTES, 7);
    pthread_attr_init(&small);
    CHECK(pthread_attr_setstacksize(&small, STACK_BYTES) == 0);
    CHECK(pthread_create(&thread, &small, work, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK(wrong(data, BYTES, 7) == 0);
    CHECK(sum == test.ranks);
    check_counts(before, 1, 0);
    return finish();
}
