/* SPDX-License-Identifier: MIT */
/*
 * Which card, or which slice of one, has so much memory. Their sizes are published ones, and other
 * versions of the driver leave up to 2 % less (a T4 14.56 of 14.75 GiB), so that much is not
 * counted on. It must not know what the memory is for.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_CARDS_H
#define GPUMEMTRACE_ANALYZER_WHATIF_CARDS_H

#include <stdint.h>

enum { CARD_USABLE_PERCENT = 98 };

struct card {
    const char *name; /* as `run --dry-run` has it */
    uint64_t bytes;
};

/* The smallest that surely has it; NULL: none of those known. */
const struct card *card_for(uint64_t bytes);
/* The largest that may not have it; NULL: all have. */
const struct card *card_below(uint64_t bytes);
/* "a100-1g.5gb" */
const struct card *mig_slice_for(uint64_t bytes);

#endif
