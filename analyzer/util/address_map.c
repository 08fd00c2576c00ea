/* SPDX-License-Identifier: MIT */
/* The map from addresses to numbers; see address_map.h. */
#include "address_map.h"

#include <stdbool.h>
#include <stdlib.h>

#include "array.h"

enum { FIRST_CAPACITY = 64 };

void address_map_release(struct address_map *map)
{
    free(map->slots);
    *map = (struct address_map){0};
}

static int resize_map(struct address_map *map, size_t capacity, struct err *err)
{
    struct address_map larger = {.capacity = capacity, .count = map->count, .seed = hash_seed()};

    larger.slots = array_new(capacity, sizeof *larger.slots, err);
    if (!larger.slots)
        return -1;
    for (size_t i = 0; i < capacity; i++)
        larger.slots[i].value = ADDRESS_MAP_NONE;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].value != ADDRESS_MAP_NONE)
            *address_map_slot(&larger, map->slots[i].space, map->slots[i].address) = map->slots[i];
    free(map->slots);
    *map = larger;
    return 0;
}

int address_map_put(struct address_map *map, uint32_t space, uint64_t address, uint32_t value,
                    struct err *err)
{
    /* At most half full: probes stay short. */
    if ((map->count + 1) * 2 > map->capacity &&
        resize_map(map, map->capacity ? map->capacity * 2 : FIRST_CAPACITY, err))
        return -1;
    struct address_slot *slot = address_map_slot(map, space, address);
    if (slot->value == ADDRESS_MAP_NONE)
        map->count++;
    *slot = (struct address_slot){.address = address, .space = space, .value = value};
    return 0;
}

/* Whether the key in slot `from`, whose home is `home`, may move to the empty slot `hole`. */
static bool may_move_to(const struct address_map *map, size_t home, size_t hole, size_t from)
{
    size_t mask = map->capacity - 1;

    return ((from - home) & mask) >= ((from - hole) & mask);
}

uint32_t address_map_remove(struct address_map *map, uint32_t space, uint64_t address)
{
    if (!map->count)
        return ADDRESS_MAP_NONE;
    struct address_slot *slots = map->slots;
    size_t mask = map->capacity - 1, hole = (size_t)(address_map_slot(map, space, address) - slots);
    uint32_t value = slots[hole].value;
    if (value == ADDRESS_MAP_NONE)
        return ADDRESS_MAP_NONE;
    for (size_t i = (hole + 1) & mask; slots[i].value != ADDRESS_MAP_NONE; i = (i + 1) & mask) {
        if (may_move_to(map, address_map_home(map, slots[i].space, slots[i].address), hole, i)) {
            slots[hole] = slots[i];
            hole = i;
        }
    }
    slots[hole].value = ADDRESS_MAP_NONE;
    map->count--;
    return value;
}
