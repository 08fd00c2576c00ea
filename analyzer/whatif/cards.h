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

/* The smallest that surely has it, as `run --dry-run` names cards; NULL: none of those known. */
const char *card_for(uint64_t bytes);
/* "a100-1g.5gb" */
const char *mig_slice_for(uint64_t bytes);

#endif
