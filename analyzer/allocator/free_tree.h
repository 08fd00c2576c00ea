/* SPDX-License-Identifier: MIT */
/*
 * The unused blocks of a model, in order: by pool, free before unmapped, by size, by the age of the
 * segment (free blocks only, if that setting is on), by address. Each pool has a tree for each
 * class of sizes, so that trees stay low, and one for unmapped blocks. A tree is a treap inside the
 * model's array of blocks.
 *
 *     sizes    0 … 63 | 64 … 127 | 128, 130 … 254 | 256, 260 … 508 | …     in units of 512 bytes:
 *                                                                          a class is a 64th of a
 *                                                                          power of two
 */
#ifndef GPUMEMTRACE_ANALYZER_ALLOCATOR_FREE_TREE_H
#define GPUMEMTRACE_ANALYZER_ALLOCATOR_FREE_TREE_H

#include "model.h"

/* The trees of one pool; NULL: out of memory. */
struct free_trees *free_trees_new(struct err *err);

void free_tree_add(struct allocator *allocator, uint32_t block);
void free_tree_remove(struct allocator *allocator, uint32_t block);

/* The first free block of the pool with at least `bytes`; ALLOCATOR_NONE: none. */
uint32_t free_tree_find(const struct allocator *allocator, uint32_t pool, uint64_t bytes);
/* The next block of the same pool and state; ALLOCATOR_NONE: none. */
uint32_t free_tree_next(const struct allocator *allocator, uint32_t block);
uint32_t free_tree_first_unmapped(const struct allocator *allocator, uint32_t pool);
/* The free block before that one in its pool: smaller, or equal and lower; ALLOCATOR_NONE: none. */
uint32_t free_tree_previous(const struct allocator *allocator, uint32_t block);
/* The largest free block of the pool; ALLOCATOR_NONE: none. */
uint32_t free_tree_last(const struct allocator *allocator, uint32_t pool);

/* Sorts all blocks again, because the order has changed. */
void free_tree_rebuild(struct allocator *allocator);

#endif
