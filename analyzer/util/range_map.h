/* SPDX-License-Identifier: MIT */
/*
 * An ordered map of disjoint address ranges. It finds the range that holds an address, and the
 * ranges that overlap an interval. It is a treap: priorities are a hash of the start, so the tree
 * is balanced for any order of insertion, and is the same in every run.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

#define RANGE_NONE UINT32_MAX

struct range_node {
    uint64_t start, size_bytes;
    uint32_t value;
    uint32_t left, right; /* left and right: node numbers or RANGE_NONE; left links the free list */
};

struct range_map {
    struct range_node *nodes;
    size_t capacity, used;
    uint32_t root, free;
};

void range_map_init(struct range_map *map);
void range_map_release(struct range_map *map);

/*
 * Adds a range. A range with the same start is replaced. *replaced becomes the value of the
 * replaced range, or RANGE_NONE if there was none. Overlapping ranges (events that contradict each
 * other) are kept, but a lookup may find either.
 */
int range_map_insert(struct range_map *map, uint64_t start, uint64_t size_bytes, uint32_t value,
                     uint32_t *replaced, struct err *err);
/* Removes the range with this start. Returns its value, or RANGE_NONE. */
uint32_t range_map_remove(struct range_map *map, uint64_t start);
/*
 * Returns the range that holds `address`, or the next range above the address if no range holds it;
 * NULL: none. The result is valid until the next change.
 */
const struct range_node *range_map_at_or_after(const struct range_map *map, uint64_t address);
