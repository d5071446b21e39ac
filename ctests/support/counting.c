/* Preloaded behind Rondo: counts the messages that Rondo starts, and its requests that are not complete. The program
 * calls MPI_ names, and Rondo PMPI_ names, so only Rondo's calls come through here. Among these are reductions of the
 * program's that Rondo hands to the host.
 *
 *   counting_of(what)               so far: "sends", "receives" and "reductions" that were started; or requests that
 *                                   are "open" now, or were at the "most"
 *   counting_forget()               the most is counted from now on
 *   counting_watch(rank, seconds)   for so long from now on, messages to this rank are also added up; and any number of
 *                                   them is complete at once in the standard mode, as with a host that has much room
 *                                   (Debian's Open MPI 4.1 has room for one of 1000 bytes)
 *   counting_left()                 their bytes, and what each takes besides where it lies (src/flow.rs)
 *   counting_end()                  waits until these messages are on their way
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SENDS, RECEIVES, REDUCTIONS, OPEN, MOST, KINDS, MESSAGE_BYTES = 256, TAKEN_MAX = 1 << 14 };

static _Atomic long counts[KINDS], left;
static int watched = -1;
static double until;

/* Messages that were taken for complete, of one thread. The first ones were handed on. */
static struct {
    void *copy;
    int n, to, tag;
    MPI_Datatype type;
    MPI_Comm comm;
} taken[TAKEN_MAX];
static MPI_Request handed[TAKEN_MAX];
static int takes, hands;

typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

long counting_of(const char *what) {
    static const char *const names[KINDS] = {"sends", "receives", "reductions", "open", "most"};
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(what, names[i])) return counts[i];
    abort();
}

void counting_forget(void) { counts[MOST] = counts[OPEN]; }

void counting_watch(int rank, double seconds) {
    left = 0;
    until = now() + seconds;
    watched = rank;
}

long counting_left(void) { return left; }

/* A message, or whatever else it is, is started by a request or without. */
static void started(int kind, int rc, int requests) {
    if (rc != MPI_SUCCESS) return;
    counts[kind]++;
    counts[OPEN] += requests;
    if (counts[OPEN] > counts[MOST]) counts[MOST] = counts[OPEN];
}

static void sent(int rc, int to, int n, MPI_Datatype type, int requests) {
    started(SENDS, rc, requests);
    if (rc != MPI_SUCCESS || to != watched || now() >= until) return;
    int bytes;
    MPI_Type_size(type, &bytes);
    left += (long)n * bytes + MESSAGE_BYTES;
}

/* So many of these requests are not complete. */
static int open_among(int n, const MPI_Request *requests) {
    int open = 0;
    for (int i = 0; i < n; i++) open += requests[i] != MPI_REQUEST_NULL;
    return open;
}

/* A function with its parameters and arguments, and what is to be noted behind it, where `rc` is its result. */
#define FUNCTION(name, parameters, arguments, then)                       \
    int PMPI_##name parameters {                                          \
        static int(*next) parameters;                                     \
        if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_" #name);     \
        int rc = next arguments;                                          \
        then;                                                             \
        return rc;                                                        \
    }

/* One that may complete some of `n` requests. */
#define COMPLETION(name, n, parameters, arguments)                        \
    int PMPI_##name parameters {                                          \
        static int(*next) parameters;                                     \
        if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_" #name);     \
        hand_on_in_time();                                                \
        int before = open_among(n, r), rc = next arguments;               \
        counts[OPEN] -= before - open_among(n, r);                        \
        return rc;                                                        \
    }

#define SEND(name)                                                                                        \
    FUNCTION(name, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),   \
             (b, n, t, to, tag, c, r), sent(rc, to, n, t, 1))

static send_fn host_send(void) {
    static send_fn next;
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
    return next;
}

/* Takes a message for complete: it is handed on when the time is over, or when a synchronous one follows. */
static void take(const void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    MPI_Aint low, extent;
    MPI_Type_get_extent(type, &low, &extent);
    if (takes == TAKEN_MAX) abort();
    void *copy = malloc((size_t)(n * extent) + 1);
    memcpy(copy, b, (size_t)(n * extent));
    taken[takes].copy = copy;
    taken[takes].n = n;
    taken[takes].to = to;
    taken[takes].tag = tag;
    taken[takes].type = type;
    taken[takes++].comm = comm;
}

static void hand_on(void) {
    for (; hands < takes; hands++)
        host_send()(taken[hands].copy, taken[hands].n, taken[hands].type, taken[hands].to, taken[hands].tag,
                    taken[hands].comm, &handed[hands]);
}

static void hand_on_in_time(void) {
    if (hands < takes && now() >= until) hand_on();
}

void counting_end(void) {
    static int (*wait)(int, MPI_Request *, MPI_Status *);
    if (!wait) *(void **)&wait = dlsym(RTLD_NEXT, "PMPI_Waitall");
    hand_on();
    wait(hands, handed, MPI_STATUSES_IGNORE);
    while (takes > 0) free(taken[--takes].copy);
    hands = 0;
}

int PMPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) {
    int takes_it = to == watched && now() < until;
    if (to == watched && !takes_it) hand_on();
    if (takes_it) take(b, n, t, to, tag, c);
    /* What goes to nobody is complete. */
    int rc = host_send()(b, n, t, takes_it ? MPI_PROC_NULL : to, tag, c, r);
    sent(rc, to, n, t, 1);
    return rc;
}

int PMPI_Issend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) {
    static send_fn next;
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Issend");
    if (to == watched) hand_on();
    int rc = next(b, n, t, to, tag, c, r);
    sent(rc, to, n, t, 1);
    return rc;
}

#define BLOCKING_SEND(name)                                                             \
    FUNCTION(name, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), \
             (b, n, t, to, tag, c), sent(rc, to, n, t, 0))

FUNCTION(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),
         (b, n, t, from, tag, c, r), started(RECEIVES, rc, 1))
FUNCTION(Sendrecv,
         (const void *a, int n, MPI_Datatype t, int to, int tag, void *b, int m, MPI_Datatype u, int from, int tag2,
          MPI_Comm c, MPI_Status *s),
         (a, n, t, to, tag, b, m, u, from, tag2, c, s), (sent(rc, to, n, t, 0), started(RECEIVES, rc, 0)))
FUNCTION(Allreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c),
         started(REDUCTIONS, rc, 0))
FUNCTION(Iallreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *r),
         (a, b, n, t, o, c, r), started(REDUCTIONS, rc, 1))
FUNCTION(Reduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
         (a, b, n, t, o, root, c), started(REDUCTIONS, rc, 0))
COMPLETION(Test, 1, (MPI_Request * r, int *done, MPI_Status *s), (r, done, s))
COMPLETION(Testany, n, (int n, MPI_Request *r, int *which, int *done, MPI_Status *s), (n, r, which, done, s))
COMPLETION(Waitany, n, (int n, MPI_Request *r, int *which, MPI_Status *s), (n, r, which, s))

/* A rank that waits for others of its node lets the host go on by this. */
int PMPI_Iprobe(int from, int tag, MPI_Comm c, int *found, MPI_Status *s) {
    static int (*next)(int, int, MPI_Comm, int *, MPI_Status *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Iprobe");
    hand_on_in_time();
    return next(from, tag, c, found, s);
}

/* What Rondo does not call today. */
SEND(Irsend)
SEND(Ibsend)
BLOCKING_SEND(Send)
BLOCKING_SEND(Ssend)
BLOCKING_SEND(Rsend)
BLOCKING_SEND(Bsend)
FUNCTION(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),
         (b, n, t, from, tag, c, s), started(RECEIVES, rc, 0))
COMPLETION(Wait, 1, (MPI_Request * r, MPI_Status *s), (r, s))
COMPLETION(Waitall, n, (int n, MPI_Request *r, MPI_Status *s), (n, r, s))
COMPLETION(Testall, n, (int n, MPI_Request *r, int *done, MPI_Status *s), (n, r, done, s))
COMPLETION(Waitsome, n, (int n, MPI_Request *r, int *many, int *which, MPI_Status *s), (n, r, many, which, s))
COMPLETION(Testsome, n, (int n, MPI_Request *r, int *many, int *which, MPI_Status *s), (n, r, many, which, s))
COMPLETION(Request_free, 1, (MPI_Request * r), (r))
