/* SPDX-License-Identifier: MIT */
/*
 * Keeps the unused blocks of each pool in order: free blocks come before unmapped ones. Blocks of
 * one state are ordered by size, then free blocks by the age of their segment (if prefers_oldest is
 * set), then by address. A pool has a tree for each class of sizes, so that trees stay low, and one
 * tree for unmapped blocks. A tree is a treap whose links are in the model's array of blocks.
 *
 *     sizes    0 … 63 | 64 … 127 | 128, 130 … 254 | 256, 260 … 508 | …     in units of 512 bytes:
 *                                                                          a class is a 64th of a
 *                                                                          power of two
 */
#pragma once

#include "model.h"

/* Makes the empty trees of one pool; NULL: out of memory. */
struct free_trees *free_trees_new(struct err *err);

void free_tree_add(struct allocator *allocator, uint32_t block);
void free_tree_remove(struct allocator *allocator, uint32_t block);

/* Returns the first free block of the pool with at least `bytes`; ALLOCATOR_NONE: there is none. */
uint32_t free_tree_find(const struct allocator *allocator, uint32_t pool, uint64_t bytes);
/* Returns the next block of the same pool and state; ALLOCATOR_NONE: there is none. */
uint32_t free_tree_next(const struct allocator *allocator, uint32_t block);
uint32_t free_tree_first_unmapped(const struct allocator *allocator, uint32_t pool);
/* Returns the free block that comes before that one in the order of their pool; ALLOCATOR_NONE:
 * there is none. */
uint32_t free_tree_previous(const struct allocator *allocator, uint32_t block);
/* Returns the largest free block of the pool; ALLOCATOR_NONE: there is none. */
uint32_t free_tree_last(const struct allocator *allocator, uint32_t pool);

/* Sorts all blocks again. Called after the setting prefers_oldest, which decides the order, has
 * changed. */
void free_tree_rebuild(struct allocator *allocator);
