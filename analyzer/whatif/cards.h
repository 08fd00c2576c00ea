/* SPDX-License-Identifier: MIT */
/*
 * Finds the card, or the slice of a card, that has a given amount of memory. The sizes are
 * published ones. Some versions of the driver leave up to 2 % less (a T4 14.56 of 14.75 GiB), so
 * cards are credited with only 98 % of their size.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_CARDS_H
#define GPUMEMTRACE_ANALYZER_WHATIF_CARDS_H

#include <stdint.h>

struct card {
    const char *name; /* as `run --dry-run` names it */
    uint64_t bytes;
};

/* What the card surely has. */
uint64_t card_sure_bytes(const struct card *card);
/* The smallest card that surely has the bytes; NULL: no known card has. */
const struct card *card_for(uint64_t bytes);
/* The largest card that may not have the bytes; NULL: all have. */
const struct card *card_below(uint64_t bytes);
/* The smallest slice that surely has the bytes: "a100-1g.5gb"; NULL: none has. */
const struct card *mig_slice_for(uint64_t bytes);

#endif
