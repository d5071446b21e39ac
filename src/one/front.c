/* The front of the library for every MPI: each name that it exports is a jump to the core that fits.
 *
 * A core is the whole library, built for one ABI, with names of its own: scripts/build one puts them together. The core
 * is chosen at the first call, when the process has its MPI library. Arguments are whole words in registers and on the
 * stack, whatever the ABI, and a jump leaves them there.
 *
 * names.h, which is made from what the cores export, has a line NAME(MPI_Bcast, 7) for each name, with its place in the
 * list. */

#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

#define NAME(name, place) \
    HIDDEN void openmpi_##name(void); \
    HIDDEN void mpich_##name(void); \
    HIDDEN void standard_##name(void);
#include "names.h"
#undef NAME

/* The functions of the cores, in the order of `Abi` in src/host/library/abi.rs. */
#define NAME(name, place) { openmpi_##name, mpich_##name, standard_##name },
static void (*const cores[][3])(void) = {
#include "names.h"
};
#undef NAME

/* What serves where there is no MPI library, until there is one: Rondo's own functions, and what says that it is
 * missing if a function of MPI is called. */
enum { COUNT = sizeof cores / sizeof cores[0], WITHOUT_MPI = 1 };

/* Where each name jumps to. At first that is a piece of code in entries.S which calls rondo_one_choose. */
extern HIDDEN void (*rondo_one_targets[COUNT])(void);

HIDDEN int openmpi_rondo_one_abi(void);
HIDDEN int openmpi_rondo_one_begin(void);
HIDDEN int mpich_rondo_one_begin(void);
HIDDEN int standard_rondo_one_begin(void);

/* MPI_Init has come back, by whatever core: the job begins in the one that fits. */
HIDDEN int rondo_front_begin(void)
{
    static int (*const begins[])(void) = { openmpi_rondo_one_begin, mpich_rondo_one_begin, standard_rondo_one_begin };
    int abi = openmpi_rondo_one_abi();
    return abi < 0 ? 0 : begins[abi]();
}

/* Rules that are given before there is an MPI library are for whichever core will be chosen. */
static int give(void (*core)(void), const char *json)
{
    return ((int (*)(const char *))core)(json);
}

static int rules_for_all(const char *json)
{
    int code = give(mpich_rondo_rules, json);
    if (code == 0) {
        give(openmpi_rondo_rules, json);
        give(standard_rondo_rules, json);
    }
    return code;
}

/* Chooses the core, and gives its function of this place in the list of names. Threads that come at the same time all
 * choose the same. */
HIDDEN void (*rondo_one_choose(size_t place))(void)
{
    int abi = openmpi_rondo_one_abi();
    if (abi < 0) {
        void (*without)(void) = cores[place][WITHOUT_MPI];
        return without == mpich_rondo_rules ? (void (*)(void))rules_for_all : without;
    }
    for (size_t i = 0; i < COUNT; i++)
        __atomic_store_n(&rondo_one_targets[i], cores[i][abi], __ATOMIC_RELAXED);
    return cores[place][abi];
}
