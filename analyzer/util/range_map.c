/* SPDX-License-Identifier: MIT */
/* The ordered map of address ranges; see range_map.h. */
#include "range_map.h"

#include <stdlib.h>

#include "array.h"

static uint64_t priority_of(uint64_t start)
{
    start = (start ^ (start >> 30)) * 0xbf58476d1ce4e5b9u;
    start = (start ^ (start >> 27)) * 0x94d049bb133111ebu;
    return start ^ (start >> 31);
}

void range_map_init(struct range_map *map)
{
    *map = (struct range_map){.root = RANGE_NONE, .free = RANGE_NONE};
}

void range_map_release(struct range_map *map)
{
    free(map->nodes);
    range_map_init(map);
}

static uint32_t take_node(struct range_map *map, struct err *err)
{
    uint32_t node = map->free;
    if (node != RANGE_NONE) {
        map->free = map->nodes[node].left;
        return node;
    }
    if (ARRAY_GROW(map->nodes, map->capacity, map->used, err))
        return RANGE_NONE;
    return (uint32_t)map->used++;
}

/* Splits a tree into the ranges that start below `start`, and the rest. */
static void split(struct range_map *map, uint32_t tree, uint64_t start, uint32_t *below,
                  uint32_t *rest)
{
    struct range_node *nodes = map->nodes;
    while (tree != RANGE_NONE) {
        if (nodes[tree].start < start) {
            *below = tree;
            below = &nodes[tree].right;
            tree = *below;
        } else {
            *rest = tree;
            rest = &nodes[tree].left;
            tree = *rest;
        }
    }
    *below = *rest = RANGE_NONE;
}

/* Joins two trees. All ranges of `below` must start below those of `above`. */
static uint32_t join(struct range_map *map, uint32_t below, uint32_t above)
{
    struct range_node *nodes = map->nodes;
    uint32_t root, *place = &root;
    while (below != RANGE_NONE && above != RANGE_NONE) {
        if (priority_of(nodes[below].start) > priority_of(nodes[above].start)) {
            *place = below;
            place = &nodes[below].right;
            below = *place;
        } else {
            *place = above;
            place = &nodes[above].left;
            above = *place;
        }
    }
    *place = below != RANGE_NONE ? below : above;
    return root;
}

/* Removes the node that `place` refers to. */
static uint32_t remove_at(struct range_map *map, uint32_t *place)
{
    const uint32_t node = *place;
    struct range_node *removed = &map->nodes[node];
    *place = join(map, removed->left, removed->right);
    removed->left = map->free;
    map->free = node;
    return removed->value;
}

/*
 * The search stops where the priority of the new node is the higher one. If a range with the same
 * start exists, the search finds it there, because each start has a priority of its own.
 */
int range_map_insert(struct range_map *map, uint64_t start, uint64_t size_bytes, uint32_t value,
                     uint32_t *replaced, struct err *err)
{
    const uint64_t priority = priority_of(start);
    const uint32_t node = take_node(map, err);
    uint32_t *place = &map->root;
    if (node == RANGE_NONE)
        return -1;
    struct range_node *nodes = map->nodes;
    nodes[node] = (struct range_node){.start = start, .size_bytes = size_bytes, .value = value};
    while (*place != RANGE_NONE && priority_of(nodes[*place].start) > priority)
        place = start < nodes[*place].start ? &nodes[*place].left : &nodes[*place].right;
    *replaced =
        *place != RANGE_NONE && nodes[*place].start == start ? remove_at(map, place) : RANGE_NONE;
    split(map, *place, start, &nodes[node].left, &nodes[node].right);
    *place = node;
    return 0;
}

uint32_t range_map_remove(struct range_map *map, uint64_t start)
{
    const struct range_node *nodes = map->nodes;
    uint32_t *place = &map->root;
    while (*place != RANGE_NONE && nodes[*place].start != start)
        place = start < nodes[*place].start ? &map->nodes[*place].left : &map->nodes[*place].right;
    return *place == RANGE_NONE ? RANGE_NONE : remove_at(map, place);
}

const struct range_node *range_map_at_or_after(const struct range_map *map, uint64_t address)
{
    const struct range_node *best = NULL;
    uint32_t node = map->root;
    while (node != RANGE_NONE) {
        const struct range_node *here = &map->nodes[node];
        if (here->start > address) {
            best = here;
            node = here->left;
        } else if (address - here->start < here->size_bytes) {
            return here;
        } else {
            node = here->right;
        }
    }
    return best;
}
