/* For programs that run with counting.c behind Rondo. It is there in bare runs too, where it counts nothing. */
#ifndef COUNTING_H
#define COUNTING_H

#include "rondo_test.h"

static MAYBE_UNUSED struct {
    long (*of)(const char *what);
    void (*forget)(void);
    void (*watch)(int rank, double seconds);
    long (*left)(void);
    void (*end)(void);
} counting;

static MAYBE_UNUSED void find_counting(void) {
    *(void **)&counting.of = dlsym(RTLD_DEFAULT, "counting_of");
    *(void **)&counting.forget = dlsym(RTLD_DEFAULT, "counting_forget");
    *(void **)&counting.watch = dlsym(RTLD_DEFAULT, "counting_watch");
    *(void **)&counting.left = dlsym(RTLD_DEFAULT, "counting_left");
    *(void **)&counting.end = dlsym(RTLD_DEFAULT, "counting_end");
    if (counting.of && counting.forget && counting.watch && counting.left && counting.end) return;
    fprintf(stderr, "%s: counting.so is not loaded\n", test.name);
    exit(2);
}

/* Messages of all ranks by which they agree on something once. */
static MAYBE_UNUSED long messages_of_an_agreement(void) {
    long rounds = 0;
    while (1 << rounds < test.ranks) rounds++;
    return rounds * test.ranks;
}

#endif
