/* SPDX-License-Identifier: MIT */
/*
 * An ordered map of disjoint address ranges, to answer "which range holds this address" and "which
 * ranges does that interval touch": a treap whose priorities are a hash of the start, so that it
 * is balanced whatever the order of insertion and the same on every run. It must not know what the
 * ranges are.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_RANGE_MAP_H
#define GPUMEMTRACE_ANALYZER_UTIL_RANGE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

#define RANGE_NONE UINT32_MAX

struct range_node {
    uint64_t start, size_bytes;
    uint32_t value;
    uint32_t left, right; /* node numbers or RANGE_NONE; left links the free list */
};

struct range_map {
    struct range_node *nodes;
    size_t capacity, used;
    uint32_t root, free;
};

void range_map_init(struct range_map *map);
void range_map_release(struct range_map *map);

/*
 * A range with the same start is replaced: *replaced is its value, else RANGE_NONE. Ranges that overlap (events that contradict each other)
 * are kept, but the lookup may then find either.
 */
int range_map_insert(struct range_map *map, uint64_t start, uint64_t size_bytes, uint32_t value,
                     uint32_t *replaced, struct err *err);
/* Returns the value of the range that started there, or RANGE_NONE. */
uint32_t range_map_remove(struct range_map *map, uint64_t start);
/* The range that holds address, or else the next one above; NULL: none. Dies with the next change.
 */
const struct range_node *range_map_at_or_after(const struct range_map *map, uint64_t address);

#endif
