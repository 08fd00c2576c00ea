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

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/err.h"
#include "hash.h"

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

/* Where the key's probes begin. Device addresses differ in few, high bits. */
static inline size_t address_map_home(const struct address_map *map, uint32_t space,
                                      uint64_t address)
{
    const uint64_t hash = hash_mix((address ^ map->seed) + space * 0x9e3779b97f4a7c15u);

    return (size_t)hash & (map->capacity - 1);
}

/* The slot that holds the key, or the empty one where it would go. Needs a capacity. */
static inline struct address_slot *address_map_slot(const struct address_map *map, uint32_t space,
                                                    uint64_t address)
{
    size_t i = address_map_home(map, space, address);

    while (map->slots[i].value != ADDRESS_MAP_NONE &&
           (map->slots[i].address != address || map->slots[i].space != space))
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

/* Several times an event: a call would take as long as the look. */
static inline uint32_t address_map_get(const struct address_map *map, uint32_t space,
                                       uint64_t address)
{
    return map->count ? address_map_slot(map, space, address)->value : ADDRESS_MAP_NONE;
}

/* Fetches the entry into the cache, for somebody who will ask for it soon. */
static inline void address_map_prefetch(const struct address_map *map, uint32_t space,
                                        uint64_t address)
{
    if (map->capacity)
        GMT_PREFETCH(&map->slots[address_map_home(map, space, address)]);
}

/* Adds or replaces. */
int address_map_put(struct address_map *map, uint32_t space, uint64_t address, uint32_t value,
                    struct err *err);
/* Returns the number that was removed, or ADDRESS_MAP_NONE. */
uint32_t address_map_remove(struct address_map *map, uint32_t space, uint64_t address);

#endif
