/* Preloaded behind Rondo: when the MPI library is initialised, and Rondo does not know yet, the system begins to refuse
 * one process something. The program's first two arguments say what (refusal.h) and to which rank; a negative one
 * counts from the end.
 */
#include "refusal.h"

static int refuse_as_told(int code, char **argv) {
    int rank, ranks;
    if (code != MPI_SUCCESS || !argv || !argv[1] || !argv[2]) return code;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == (atoi(argv[2]) + ranks) % ranks && !refuse(argv[1])) {
        fprintf(stderr, "refusing: %s cannot be refused\n", argv[1]);
        abort();
    }
    return code;
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

#define INIT(name)                                                          \
    int name(int *argc, char ***argv) {                                     \
        int (*host)(int *, char ***);                                       \
        *(void **)&host = next(#name);                                      \
        return refuse_as_told(host(argc, argv), argv ? *argv : NULL);       \
    }
#define INIT_THREAD(name)                                                       \
    int name(int *argc, char ***argv, int wanted, int *got) {                   \
        int (*host)(int *, char ***, int, int *);                               \
        *(void **)&host = next(#name);                                          \
        return refuse_as_told(host(argc, argv, wanted, got), argv ? *argv : NULL); \
    }

INIT(MPI_Init)
INIT(PMPI_Init)
INIT_THREAD(MPI_Init_thread)
INIT_THREAD(PMPI_Init_thread)
