/* SPDX-License-Identifier: MIT */
/*
 * Allocates address ranges: regions are added and cut into spans. A heap never accesses the
 * addresses and charges no device.
 *
 *     region:  | used | free | used | used |   free    |      spans in address order, no two free
 *              ^--------- neighbours ----------------^        ones beside each other
 *
 * A request gets the smallest free span that is large enough. If several spans have the same size,
 * the request gets the span with the lowest address. So the same requests always get the same
 * addresses. Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include <stdbool.h>

#include "tree.h"

struct span {
    struct tree_node by_size; /* in the heap's tree while free */
    struct span *lower, *upper;
    struct span *parent; /* the span that the caller of heap_add took the region from */
    uint64_t address, size_bytes;
    bool used;
};

/* Empty when all zero. */
struct heap {
    struct tree free;
};

/* Adds a region; parent may be NULL. -1: out of memory. */
int heap_add(struct heap *heap, uint64_t address, uint64_t size_bytes, struct span *parent);
/* Takes a span. size_bytes must be a multiple of the heap's unit, like the sizes of regions. NULL:
 * no free span is large enough. */
struct span *heap_take(struct heap *heap, uint64_t size_bytes);
/* Frees the span. Returns the free span that contains it after merging. */
struct span *heap_give(struct heap *heap, struct span *span);
/* Returns the first free span at or after this size and address, in the order of size and then
 * address. To list all free spans, call it again with the size and the address + 1 of the last
 * span. */
struct span *heap_free_from(const struct heap *heap, uint64_t size_bytes, uint64_t address);
/* Returns whether this free span is a whole region, so that the region may be removed. */
bool span_is_region(const struct span *span);
void heap_drop(struct heap *heap, struct span *span);
