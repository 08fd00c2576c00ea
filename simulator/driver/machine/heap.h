/* SPDX-License-Identifier: MIT */
/*
 * Address space handed out and taken back: regions that were added, cut into spans. It knows
 * numbers only; nobody reads or writes what they point to, and none of it is charged here.
 *
 *     region:  | used | free | used | used |   free    |      spans in address order, no two free
 *              ^--------- neighbours ----------------^        ones beside each other
 *
 * A request gets the smallest free span that is large enough, of those the lowest: the same
 * requests always give the same addresses. Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_HEAP_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_HEAP_H

#include <stdbool.h>

#include "tree.h"

struct span {
    struct tree_node by_size; /* in the heap's tree while free */
    struct span *lower, *upper;
    struct span *parent; /* what the region was cut from: the adder's affair */
    uint64_t address, size_bytes;
    bool used;
};

/* Empty when all zero. */
struct heap {
    struct tree free;
};

/* Adds a region; parent may be NULL. -1: no host memory. */
int heap_add(struct heap *heap, uint64_t address, uint64_t size_bytes, struct span *parent);
/* size_bytes must be a multiple of the heap's unit, and so every region. NULL: nothing fits. */
struct span *heap_take(struct heap *heap, uint64_t size_bytes);
/* Returns the free span it became part of. */
struct span *heap_give(struct heap *heap, struct span *span);
/* The smallest free span of at least this size; then larger ones by passing its size and address.
 */
struct span *heap_free_from(const struct heap *heap, uint64_t size_bytes, uint64_t address);
/* Is this free span all of its region? Then the region may be dropped. */
bool span_is_region(const struct span *span);
void heap_drop(struct heap *heap, struct span *span);

#endif
