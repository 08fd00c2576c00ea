/* SPDX-License-Identifier: MIT */
/*
 * A hash map from a pair of numbers, (first, second), to a number: open addressing with linear
 * probing. A removal shifts the following keys back and leaves no tombstone, so the map stays fast
 * while millions of blocks come and go.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/err.h"
#include "hash.h"

#define PAIR_MAP_NONE UINT32_MAX /* no such entry; cannot be stored */

struct pair_slot {
    uint64_t second;
    uint32_t first;
    uint32_t value; /* PAIR_MAP_NONE: the slot is empty */
};

/* A zeroed map is empty and ready for use. */
struct pair_map {
    struct pair_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    uint64_t seed;
};

void pair_map_release(struct pair_map *map);

/*
 * Returns the first slot of the key's probe sequence. The mix is needed because device addresses
 * differ in few, high bits.
 */
static inline size_t pair_map_home(const struct pair_map *map, uint32_t first, uint64_t second)
{
    const uint64_t hash = hash_mix((second ^ map->seed) + first * 0x9e3779b97f4a7c15u);
    return (size_t)hash & (map->capacity - 1);
}

/* Returns the slot of the key, or the empty slot where the key would be stored. The capacity must
 * not be 0. */
static inline struct pair_slot *pair_map_slot(const struct pair_map *map, uint32_t first,
                                              uint64_t second)
{
    size_t i = pair_map_home(map, first, second);
    while (map->slots[i].value != PAIR_MAP_NONE &&
           (map->slots[i].second != second || map->slots[i].first != first))
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

/* Returns the number, or PAIR_MAP_NONE if it is not found. The function is inline, because the
 * replay calls it several times for each event. */
static inline uint32_t pair_map_get(const struct pair_map *map, uint32_t first, uint64_t second)
{
    return map->count ? pair_map_slot(map, first, second)->value : PAIR_MAP_NONE;
}

/* Prefetches the entry into the CPU cache. */
static inline void pair_map_prefetch(const struct pair_map *map, uint32_t first, uint64_t second)
{
    if (map->capacity)
        GMT_PREFETCH(&map->slots[pair_map_home(map, first, second)]);
}

/* Adds the entry, or replaces its number. */
int pair_map_put(struct pair_map *map, uint32_t first, uint64_t second, uint32_t value,
                 struct err *err);
/* Removes the entry. Returns its number, or PAIR_MAP_NONE. */
uint32_t pair_map_remove(struct pair_map *map, uint32_t first, uint64_t second);
