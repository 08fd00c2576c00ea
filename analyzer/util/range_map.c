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
    struct range_node *grown =
        array_grow(map->nodes, &map->capacity, map->used, sizeof *grown, err);
    if (!grown)
        return RANGE_NONE;
    map->nodes = grown;
    return (uint32_t)map->used++;
}

/* Splits a tree into what starts below `start` and the rest. */
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

/* Joins two trees of which the first lies wholly below the second. */
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

int range_map_insert(struct range_map *map, uint64_t start, uint64_t size_bytes, uint32_t value,
                     struct err *err)
{
    uint32_t node, *place = &map->root;
    range_map_remove(map, start);
    node = take_node(map, err);
    if (node == RANGE_NONE)
        return -1;
    struct range_node *nodes = map->nodes;
    while (*place != RANGE_NONE && priority_of(nodes[*place].start) > priority_of(start))
        place = start < nodes[*place].start ? &nodes[*place].left : &nodes[*place].right;
    nodes[node] = (struct range_node){.start = start, .size_bytes = size_bytes, .value = value};
    split(map, *place, start, &nodes[node].left, &nodes[node].right);
    *place = node;
    return 0;
}

uint32_t range_map_remove(struct range_map *map, uint64_t start)
{
    struct range_node *nodes = map->nodes;
    uint32_t node, *place = &map->root;
    while (*place != RANGE_NONE && nodes[*place].start != start)
        place = start < nodes[*place].start ? &nodes[*place].left : &nodes[*place].right;
    node = *place;
    if (node == RANGE_NONE)
        return RANGE_NONE;
    *place = join(map, nodes[node].left, nodes[node].right);
    nodes[node].left = map->free;
    map->free = node;
    return nodes[node].value;
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
