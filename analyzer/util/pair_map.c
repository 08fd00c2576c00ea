/* SPDX-License-Identifier: MIT */
/* The map of pairs of numbers; see pair_map.h. */
#include "pair_map.h"

#include <stdbool.h>
#include <stdlib.h>

#include "array.h"

enum { FIRST_CAPACITY = 64 };

void pair_map_release(struct pair_map *map)
{
    free(map->slots);
    *map = (struct pair_map){0};
}

static int resize_map(struct pair_map *map, size_t capacity, struct err *err)
{
    struct pair_map larger = {.capacity = capacity, .count = map->count, .seed = hash_seed()};
    larger.slots = array_new(capacity, sizeof *larger.slots, err);
    if (!larger.slots)
        return -1;
    for (size_t i = 0; i < capacity; i++)
        larger.slots[i].value = PAIR_MAP_NONE;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].value != PAIR_MAP_NONE)
            *pair_map_slot(&larger, map->slots[i].first, map->slots[i].second) = map->slots[i];
    free(map->slots);
    *map = larger;
    return 0;
}

int pair_map_put(struct pair_map *map, uint32_t first, uint64_t second, uint32_t value,
                 struct err *err)
{
    /* At most half full, so that probe sequences stay short. */
    if ((map->count + 1) * 2 > map->capacity &&
        resize_map(map, map->capacity ? map->capacity * 2 : FIRST_CAPACITY, err))
        return -1;
    struct pair_slot *slot = pair_map_slot(map, first, second);
    if (slot->value == PAIR_MAP_NONE)
        map->count++;
    *slot = (struct pair_slot){.second = second, .first = first, .value = value};
    return 0;
}

/* True if the key in slot `from`, whose home is `home`, may move to the empty slot `hole`. */
static bool may_move_to(const struct pair_map *map, size_t home, size_t hole, size_t from)
{
    size_t mask = map->capacity - 1;
    return ((from - home) & mask) >= ((from - hole) & mask);
}

uint32_t pair_map_remove(struct pair_map *map, uint32_t first, uint64_t second)
{
    if (!map->count)
        return PAIR_MAP_NONE;
    struct pair_slot *slots = map->slots;
    size_t mask = map->capacity - 1, hole = (size_t)(pair_map_slot(map, first, second) - slots);
    uint32_t value = slots[hole].value;
    if (value == PAIR_MAP_NONE)
        return PAIR_MAP_NONE;
    for (size_t i = (hole + 1) & mask; slots[i].value != PAIR_MAP_NONE; i = (i + 1) & mask) {
        if (may_move_to(map, pair_map_home(map, slots[i].first, slots[i].second), hole, i)) {
            slots[hole] = slots[i];
            hole = i;
        }
    }
    slots[hole].value = PAIR_MAP_NONE;
    map->count--;
    return value;
}
