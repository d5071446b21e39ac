/* The API of include/rondo.h: its answers, and that it answers bad questions. */
#include "rondo_test.h"
#include "../../include/rondo.h"

int main(int argc, char **argv) {
    start(&argc, &argv, "api");
    if (!test.expect) return finish(); /* bare: start() has seen that there is no such symbol */

    const char *(*version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "rondo_version");
    unsigned long long (*calls)(const char *, const char *) = test.calls;
    int (*schedule)(int, int, int *, int *, int *) =
        (int (*)(int, int, int *, int *, int *))dlsym(RTLD_DEFAULT, "rondo_schedule");
    /* The header declares them with these types. */
    if (0) version = rondo_version, calls = rondo_calls, schedule = rondo_schedule;

    CHECK(version() && version()[0] >= '0' && version()[0] <= '9');

    unsigned long long before = calls("bcast", "circulant");
    bcast_bytes(5000, 0, MPI_COMM_WORLD);
    unsigned long long mine = test.ranks >= 3;
    CHECK(calls("bcast", "circulant") == before + mine);
    CHECK(calls("MPI_Bcast", "Circulant") == before + mine);
    CHECK(calls("bcast", NULL) == before + mine);
    CHECK(calls("bcast", "no such") == 0 && calls("no such", NULL) == 0 && calls(NULL, NULL) == 0);

    /* Rank 4 of 9, from the table of the paper. */
    int skips[5] = {0}, recv[4] = {0}, send[4] = {0};
    CHECK(schedule(9, 4, skips, recv, send) == 4);
    const int want_skips[] = {1, 2, 3, 5, 9}, want_recv[] = {-2, -3, 0, -1}, want_send[] = {-4, -2, -2, -4};
    CHECK(!memcmp(skips, want_skips, sizeof skips));
    CHECK(!memcmp(recv, want_recv, sizeof recv));
    CHECK(!memcmp(send, want_send, sizeof send));
    CHECK(schedule(9, 4, NULL, NULL, NULL) == 4);
    CHECK(schedule(1, 0, skips, recv, send) == 0 && skips[0] == 1);
    CHECK(schedule(0, 0, skips, recv, send) == -1);
    CHECK(schedule(9, 9, skips, recv, send) == -1 && schedule(9, -1, skips, recv, send) == -1);
    CHECK(schedule(2147483647, 2147483646, NULL, NULL, NULL) == 31);
    return finish();
}
