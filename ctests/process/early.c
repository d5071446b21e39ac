/* A thread that asks whether MPI is there, and calls a collective as soon as it is, while another one may still be in
 * MPI_Init_thread: there the ranks have not agreed yet. On every other rank it comes later, when they have.
 */
#include "rondo_test.h"
#include <pthread.h>

static int broadcast(void) {
    unsigned char buffer[5000];
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    memset(buffer, me == 0 ? 7 : 0, sizeof buffer);
    MPI_Bcast(buffer, sizeof buffer, MPI_BYTE, 0, MPI_COMM_WORLD);
    return buffer[0] == 7 && buffer[sizeof buffer - 1] == 7;
}

static void *call(void *right) {
    int up = 0, level = 0, me;
    while (!up) MPI_Initialized(&up);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Query_thread(&level);
    if (me % 2) usleep(300000);
    *(int *)right = level < MPI_THREAD_MULTIPLE || broadcast();
    return NULL;
}

int main(int argc, char **argv) {
    int got, right = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, call, &right);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
    pthread_join(thread, NULL);
    find_rondo("early");
    MPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test.ranks);
    CHECK_IN(right, "%s", "before MPI_Init_thread came back");
    struct counts before = counts_of("bcast");
    CHECK_IN(broadcast(), "%s", "after it");
    if (test.expect) check_counts(before, 1, 0);
    return finish();
}
