/* SPDX-License-Identifier: MIT */
/*
 * Finds the card, or the slice of a card, that has a given amount of memory. The sizes are the
 * published ones. With some versions of the driver, a card has up to 2 % less (a T4 has 14.56 of
 * 14.75 GiB), so only 98 % of a card's size are counted as sure.
 */
#pragma once

#include <stdint.h>

struct card {
    const char *name; /* as `run --dry-run` names it */
    uint64_t bytes;
};

/* Returns the bytes that the card surely has. */
uint64_t card_sure_bytes(const struct card *card);
/* Returns the smallest card that surely has the bytes; NULL: no known card has them. */
const struct card *card_for(uint64_t bytes);
/* Returns the largest card that may not have the bytes; NULL: all known cards have them. */
const struct card *card_below(uint64_t bytes);
/* Returns the smallest slice that surely has the bytes, as "a100-1g.5gb"; NULL: none has them. */
const struct card *mig_slice_for(uint64_t bytes);
