/* What Rondo sends for short broadcasts: each block to each rank once, and nothing beside it.
 *
 *   counted CALLS BYTES BLOCKS MEMBERS AGREEMENTS
 *
 * In CALLS broadcasts of BYTES bytes, from each rank in turn, BLOCKS blocks go to all of MEMBERS: the nodes where these
 * have leaders and memory, or else the ranks (0: all of them). In these calls the ranks agree AGREEMENTS times on what
 * they have seen of the network, and on nothing else. -20: they find out who is faster, so some calls are the host's,
 * and they agree up to 20 times. The host is asked for no reduction.
 */
#include "counting.h"

/* Calls in which things are made that stay. */
enum { BEFORE = 10, BYTES_MAX = 1 << 16 };

static void broadcast(long call, int bytes) {
    static unsigned char buffer[BYTES_MAX];
    int root = (int)(call % test.ranks);
    memset(buffer, test.rank == root ? (int)(call % 251) : 255, (size_t)bytes);
    CHECK_IN(MPI_Bcast(buffer, bytes, MPI_BYTE, root, MPI_COMM_WORLD) == MPI_SUCCESS, "call %ld", call);
    CHECK_IN(buffer[0] == call % 251 && buffer[bytes - 1] == call % 251, "call %ld", call);
}

enum { SENDS, RECEIVES, REDUCTIONS, KINDS };

static void count(long *now) {
    now[SENDS] = counting.of("sends");
    now[RECEIVES] = counting.of("receives");
    now[REDUCTIONS] = counting.of("reductions");
}

int main(int argc, char **argv) {
    start(&argc, &argv, "counted");
    find_counting();
    CHECK(argc == 6);
    long calls = atol(argv[1]), blocks = atol(argv[3]), members = atol(argv[4]), agreements = atol(argv[5]);
    int bytes = atoi(argv[2]);
    CHECK_IN(bytes > 0 && bytes <= BYTES_MAX, "%d bytes", bytes);
    if (!members) members = test.ranks;
    for (long i = 0; i < BEFORE; i++) broadcast(i, bytes);
    long before[KINDS], own[KINDS], all[KINDS];
    struct counts counts = counts_now();
    count(before);
    for (long i = BEFORE; i < BEFORE + calls; i++) broadcast(i, bytes);
    count(own);
    long rondos = (long)(counts_now().rondo - counts.rondo);
    check_counts(counts, (unsigned long long)calls, 0);
    for (int i = 0; i < KINDS; i++) own[i] -= before[i];

    MPI_Allreduce(own, all, KINDS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (test.rank == 0)
        fprintf(stderr, "%ld of %ld calls: %ld messages, %ld receives\n", rondos, calls, all[SENDS], all[RECEIVES]);
    long needed = rondos * blocks * (members - 1), more = all[SENDS] - needed, once = messages_of_an_agreement();
    CHECK_IN(rondos == calls || agreements < 0, "%ld of %ld calls are Rondo's", rondos, calls);
    CHECK_IN(all[RECEIVES] == all[SENDS], "%ld receives of %ld messages", all[RECEIVES], all[SENDS]);
    CHECK_IN(agreements < 0 || more == agreements * once, "%ld messages, and not %ld", all[SENDS], needed);
    CHECK_IN(more >= 0 && more % once == 0 && more <= labs(agreements) * once, "%ld messages more", more);
    CHECK_IN(all[REDUCTIONS] == 0, "%ld reductions", all[REDUCTIONS]);
    return finish();
}
