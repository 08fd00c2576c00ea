/* SPDX-License-Identifier: MIT */
/*
 * Allocates address ranges: regions are added and cut into spans. A heap handles numbers only: it
 * never accesses the addresses and charges nothing to a device.
 *
 *     region:  | used | free | used | used |   free    |      spans in address order, no two free
 *              ^--------- neighbours ----------------^        ones beside each other
 *
 * A request gets the smallest free span that is large enough, the lowest of several: the same
 * requests always get the same addresses. Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_HEAP_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_HEAP_H

#include <stdbool.h>

#include "tree.h"

struct span {
    struct tree_node by_size; /* in the heap's tree while free */
    struct span *lower, *upper;
    struct span *parent; /* the span that heap_add's caller took the region from */
    uint64_t address, size_bytes;
    bool used;
};

/* Empty when all zero. */
struct heap {
    struct tree free;
};

/* Adds a region; parent may be NULL. -1: out of memory. */
int heap_add(struct heap *heap, uint64_t address, uint64_t size_bytes, struct span *parent);
/* size_bytes must be a multiple of the heap's unit, as every region is. NULL: nothing fits. */
struct span *heap_take(struct heap *heap, uint64_t size_bytes);
/* Frees the span. Returns the free span that contains it after merging. */
struct span *heap_give(struct heap *heap, struct span *span);
/* The first free span, by size and then address, at or after this size and address. Lists all free
 * spans when called again with the last one's size and address + 1. */
struct span *heap_free_from(const struct heap *heap, uint64_t size_bytes, uint64_t address);
/* Whether this free span is its whole region, which may then be removed. */
bool span_is_region(const struct span *span);
void heap_drop(struct heap *heap, struct span *span);

#endif
