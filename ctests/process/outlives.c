/* Ranks that MPICH's own variable tells to go on without processes that fail: all of them, or the last one alone, as
 * where a launcher does not forward the environment. Rondo stays away on all ranks. Told the contrary by the name that
 * counts, it does not.
 */
#include "rondo_test.h"

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "", *rank = getenv("PMI_RANK"), *ranks = getenv("PMI_SIZE");
    int is_last = rank && ranks && atoi(rank) + 1 == atoi(ranks);
    /* MPICH reads them when it is initialised. */
    if (!strcmp(how, "all")) setenv("MPIR_CVAR_ENABLE_FT", "1", 1);
    if (!strcmp(how, "last") && is_last) setenv("MPIR_CVAR_ENABLE_FT", "yes", 1);
    if (!strcmp(how, "none")) setenv("MPIR_PARAM_ENABLE_FT", "true", 1), setenv("MPIR_CVAR_ENABLE_FT", "off", 1);
    int stays_away = strcmp(how, "none") != 0;
    start(&argc, &argv, "outlives");
    CHECK(rank && ranks && test.ranks == atoi(ranks));

    MPI_Comm reverse;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &reverse);
    unsigned long long rondos = test.expect ? test.calls("bcast", NULL) : 0;
    unsigned long long hosts = test.expect ? test.calls("bcast", "host") : 0;
    for (int root = 0; root < test.ranks; root++) {
        unsigned char b[5000];
        for (int i = 0; i < 2; i++) {
            fill(b, sizeof b, test.rank == (i ? test.ranks - 1 - root : root) ? 3 : 4);
            CHECK(!MPI_Bcast(b, sizeof b, MPI_BYTE, root, i ? reverse : MPI_COMM_WORLD));
            CHECK(wrong(b, sizeof b, 3) == 0);
        }
    }
    if (test.expect) {
        unsigned calls = 2 * (unsigned)test.ranks;
        rondos = test.calls("bcast", NULL) - rondos, hosts = test.calls("bcast", "host") - hosts;
        CHECK_IN(rondos == (stays_away ? 0 : calls), "%llu", rondos);
        CHECK_IN(hosts == (stays_away ? calls : 0), "%llu", hosts);
    }
    MPI_Comm_free(&reverse);
    return finish();
}
