/* A file of rules for automatic choices. Every process writes one of its own and names it in its environment: that of
 * rank 0 of a communicator counts, so the others' may be wrong. Argument: good, bad (a key that does not exist) or
 * missing; or given, where the rules are given by rondo_rules() in place of a bad file.
 */
#define _DEFAULT_SOURCE /* setenv */
#include "agv.h"
#include "gsv.h"
#include "../../include/rondo.h"
#include <unistd.h>

static const char *good =
    "{\"made\": \"for a test\", \"rules\": [\n"
    "  {\"collective\": \"bcast\", \"algorithm\": \"binomial\", \"msg_size_max\": 999},\n"
    "  {\"collective\": \"bcast\", \"algorithm\": \"host\", \"msg_size_min\": 100000},\n"
    "  {\"collective\": \"bcast\", \"algorithm\": \"circulant\", \"block_bytes\": 1000},\n"
    "  {\"collective\": \"allgatherv\", \"algorithm\": \"ring\"},\n"
    "  {\"collective\": \"gatherv\", \"algorithm\": \"linear\", \"comm_size_min\": 4},\n"
    "  {\"collective\": \"gather\", \"algorithm\": \"adaptive\"}\n"
    "]}\n";
static const char *bad = "{\"rules\": [\n  {\"collective\": \"bcast\", \"algoritm\": \"host\"}\n]}\n";

static unsigned long long calls(const char *collective, const char *algorithm) {
    return test.calls ? test.calls(collective, algorithm) : 0;
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "good";
    char path[64];
    snprintf(path, sizeof path, "/tmp/rondo-rules-%d.json", (int)getpid());
    FILE *file = strcmp(which, "missing") ? fopen(path, "w") : NULL;
    if (file) {
        fputs(!strcmp(which, "good") ? good : bad, file);
        fclose(file);
    }
    setenv("RONDO_RULES", path, 1);
    start(&argc, &argv, "rules");
    int rules = !strcmp(which, "good") && test.expect;
    if (!strcmp(which, "given") && test.expect) {
        int (*give)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "rondo_rules");
        if (0) give = rondo_rules;
        CHECK(give(good) == 0);
        CHECK(give(bad) == -1 && give(NULL) == -1);
        rules = 1;
    }
    MPI_Comm odd;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &odd);
    int p, half;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_size(odd, &half);
    for (int i = 0; i < 5; i++) {
        bcast_bytes(500, i % p, MPI_COMM_WORLD);
        bcast_bytes(50000, i % p, MPI_COMM_WORLD);
        bcast_bytes(200000, i % p, MPI_COMM_WORLD);
        bcast_bytes(500, 0, odd);
        allgather_bytes(100, MPI_COMM_WORLD);
        both_ways(10, 0, MPI_COMM_WORLD);
        both_ways(10, 0, odd);
        both_ways_regular(10, 0, MPI_COMM_WORLD);
    }
    int both = half >= 3 ? 2 : 1; /* communicators that are large enough for Rondo */
    if (test.expect) {
        CHECK((calls("bcast", "binomial") == 5ull * both) == rules);
        /* These may be chosen without rules too. */
        CHECK(!rules || calls("bcast", "circulant") == 5);
        CHECK(!rules || calls("allgatherv", "ring") == 5);
        CHECK(!rules || calls("gatherv", "linear") == (half >= 4 ? 10 : 5));
        CHECK(!rules || calls("gather", "adaptive") == 5);
    }
    MPI_Comm_free(&odd);
    if (file) unlink(path);
    return finish();
}
