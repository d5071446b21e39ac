/* Communicators in a random order: overlapping and disjoint ones, alive at the same time and freed at different moments
 * on different ranks, so that numbers of some are those of others before them, or of others elsewhere; with calls on
 * them whose data say which call they are of.
 *
 *   numbers SEED STEPS    so many steps; all ranks draw the same ones
 *   numbers ahead CALLS   a root that is so many scatters ahead of a rank that sleeps at times
 */
#include "rondo_test.h"

enum { PLACES = 12, LONGEST = 400 };

static struct {
    MPI_Comm comm; /* MPI_COMM_NULL on ranks that are not in it */
    int calls;
} places[PLACES];

static unsigned long long state;

/* The same on all ranks. */
static unsigned draw(unsigned below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % below;
}

/* What rank `from` sends to rank `to` in a call. */
static int word(int place, int call, int from, int to) {
    return ((place * 1009 + call) * 131 + from) * 131 + to;
}

static void make(int place) {
    unsigned colors = 1 + draw(3), turn = draw(1000);
    int keys[] = {test.rank, -test.rank, (test.rank * 7 + (int)turn) % 5};
    MPI_Comm_split(MPI_COMM_WORLD, (int)((unsigned)test.rank * (turn | 1) / 3 % colors), keys[draw(3)],
                   &places[place].comm);
    places[place].calls = 0;
}

/* A call of each kind in turn. */
static void use(int place) {
    MPI_Comm comm = places[place].comm;
    int me, p, call = places[place].calls++, kind = (int)draw(6), n = 1 + (int)draw(LONGEST);
    unsigned lot = draw(1000);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    int root = (int)(lot % (unsigned)p), own[LONGEST], *all = malloc(sizeof *all * (size_t)p * LONGEST);
    if (kind == 0) {
        for (int i = 0; i < n; i++) own[i] = me == root ? word(place, call, root, i) : -1;
        MPI_Bcast(own, n, MPI_INT, root, comm);
        for (int i = 0; i < n; i++) CHECK_IN(own[i] == word(place, call, root, i), "broadcast %d of %d", call, place);
    } else if (kind == 1) {
        for (int i = 0; i < n; i++) own[i] = word(place, call, me, i);
        MPI_Allgather(own, n, MPI_INT, all, n, MPI_INT, comm);
        for (int r = 0; r < p; r++)
            for (int i = 0; i < n; i++)
                CHECK_IN(all[r * n + i] == word(place, call, r, i), "allgather %d of %d", call, place);
    } else if (kind == 2) {
        for (int r = 0; r < p; r++)
            for (int i = 0; i < n; i++) all[r * n + i] = word(place, call, root, r + i);
        MPI_Scatter(all, n, MPI_INT, own, n, MPI_INT, root, comm);
        for (int i = 0; i < n; i++)
            CHECK_IN(own[i] == word(place, call, root, me + i), "scatter %d of %d", call, place);
    } else if (kind == 3) {
        for (int i = 0; i < n; i++) own[i] = word(place, call, me, i);
        MPI_Gather(own, n, MPI_INT, all, n, MPI_INT, root, comm);
        for (int r = 0; r < p && me == root; r++)
            for (int i = 0; i < n; i++)
                CHECK_IN(all[r * n + i] == word(place, call, r, i), "gather %d of %d", call, place);
    } else if (kind == 4) {
        for (int i = 0; i < n; i++) own[i] = word(place, call, me, i) % 1000, all[i] = -1;
        MPI_Allreduce(own, all, n, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < n; i++) {
            int sum = 0;
            for (int r = 0; r < p; r++) sum += word(place, call, r, i) % 1000;
            CHECK_IN(all[i] == sum, "allreduce %d of %d", call, place);
        }
    } else {
        int *back = malloc(sizeof *back * (size_t)p);
        for (int r = 0; r < p; r++) all[r] = word(place, call, me, r);
        MPI_Alltoall(all, 1, MPI_INT, back, 1, MPI_INT, comm);
        for (int r = 0; r < p; r++) CHECK_IN(back[r] == word(place, call, r, me), "alltoall %d of %d", call, place);
        free(back);
    }
    free(all);
}

static void random_steps(long steps) {
    for (int place = 0; place < PLACES; place++) places[place].comm = MPI_COMM_NULL;
    for (long step = 0; step < steps; step++) {
        int place = (int)draw(PLACES);
        if (places[place].comm == MPI_COMM_NULL) {
            make(place);
            continue;
        }
        for (unsigned calls = 1 + draw(5); calls > 0; calls--) use(place);
        if (draw(3) > 0) continue;
        /* Some ranks free it now, others when a while has passed. */
        if ((unsigned)test.rank % 3 == draw(3)) usleep(1000);
        MPI_Comm_free(&places[place].comm);
    }
    for (int place = 0; place < PLACES; place++)
        if (places[place].comm != MPI_COMM_NULL) MPI_Comm_free(&places[place].comm);
}

static void run_ahead(long calls) {
    int *all = malloc(sizeof *all * (size_t)test.ranks), own;
    for (long call = 0; call < calls; call++) {
        for (int r = 0; r < test.ranks; r++) all[r] = word(0, (int)call, 0, r);
        if (test.rank == test.ranks - 1 && call % (calls / 4) == 0) usleep(200000);
        MPI_Scatter(all, 1, MPI_INT, &own, 1, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK_IN(own == word(0, (int)call, 0, test.rank), "scatter %ld", call);
    }
    free(all);
}

int main(int argc, char **argv) {
    start(&argc, &argv, "numbers");
    int ahead = argc > 2 && !strcmp(argv[1], "ahead");
    const char *counted = ahead ? "scatter" : "bcast";
    struct counts before = counts_of(counted);
    if (ahead) {
        run_ahead(atol(argv[2]));
    } else {
        state = argc > 1 ? (unsigned long long)atol(argv[1]) : 1;
        random_steps(argc > 2 ? atol(argv[2]) : 300);
    }
    CHECK(!test.expect || test.ranks < 3 || counts_of(counted).rondo > before.rondo);
    return finish();
}
