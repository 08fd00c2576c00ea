/* SPDX-License-Identifier: MIT */
/*
 * A map from (space, address) to a number: open addressing with linear probing. A removal shifts
 * the following keys back and leaves no tombstone, so the map stays fast while millions of blocks
 * come and go. It must not know what the numbers mean.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_ADDRESS_MAP_H
#define GPUMEMTRACE_ANALYZER_UTIL_ADDRESS_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

#define ADDRESS_MAP_NONE UINT32_MAX /* no such entry; cannot be stored */

struct address_slot {
    uint64_t address;
    uint32_t space;
    uint32_t value; /* ADDRESS_MAP_NONE: the slot is empty */
};

/* A zeroed map is empty and ready for use. */
struct address_map {
    struct address_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    uint64_t seed;
};

void address_map_release(struct address_map *map);
uint32_t address_map_get(const struct address_map *map, uint32_t space, uint64_t address);
/* Fetches the entry into the cache, for somebody who will ask for it soon. */
void address_map_prefetch(const struct address_map *map, uint32_t space, uint64_t address);
/* Adds or replaces. */
int address_map_put(struct address_map *map, uint32_t space, uint64_t address, uint32_t value,
                    struct err *err);
/* Returns the number that was removed, or ADDRESS_MAP_NONE. */
uint32_t address_map_remove(struct address_map *map, uint32_t space, uint64_t address);

#endif
