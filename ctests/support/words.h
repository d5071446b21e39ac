/* Gigabytes of test data: as in rondo_test.h, and cheap enough.
 */
#ifndef WORDS_H
#define WORDS_H

#include "rondo_test.h"
#include <stdint.h>

/* One word of data by owner and position. */
static MAYBE_UNUSED uint32_t word(int owner, size_t i) {
    return (uint32_t)(i * 2654435761u + (i >> 25) + (unsigned)owner * 40503u);
}

static MAYBE_UNUSED void fill_words(uint32_t *to, size_t words, int owner) {
    for (size_t i = 0; i < words; i++) to[i] = word(owner, i);
}

/* The number of words that are not those of `owner`. */
static MAYBE_UNUSED size_t wrong_words(const uint32_t *is, size_t words, int owner) {
    size_t n = 0;
    for (size_t i = 0; i < words; i++) n += is[i] != word(owner, i);
    return n;
}

#endif
