/* SPDX-License-Identifier: MIT */
/*
 * The blocks of a model that are not used, in order: by pool, the mapped before the unmapped, by
 * size and, if that counts, by the age of the segment (the unmapped: not), by address. Each pool has
 * a tree, a treap inside the model's array of blocks, for each class of sizes, so that trees stay low,
 * and one for what is unmapped. It must not know what is done with them.
 *
 *     sizes    0 … 63 | 64 … 127 | 128, 130 … 254 | 256, 260 … 508 | …     in units of 512 bytes: a class
 *                                                                           is a 64th of a power of two
 */
#ifndef GPUMEMTRACE_ANALYZER_ALLOCATOR_FREE_TREE_H
#define GPUMEMTRACE_ANALYZER_ALLOCATOR_FREE_TREE_H

#include "model.h"

/* Of one pool; NULL: out of memory. */
struct free_trees *free_trees_new(struct err *err);
void free_trees_copy(struct free_trees *to, const struct free_trees *from);

void free_tree_add(struct allocator *allocator, uint32_t block);
void free_tree_remove(struct allocator *allocator, uint32_t block);

/* The first free block of the pool that has at least so many bytes; ALLOCATOR_NONE: none. */
uint32_t free_tree_find(const struct allocator *allocator, uint32_t pool, uint64_t bytes);
/* The next one of the same pool and state; ALLOCATOR_NONE: it was the last. */
uint32_t free_tree_next(const struct allocator *allocator, uint32_t block);
uint32_t free_tree_first_unmapped(const struct allocator *allocator, uint32_t pool);
/* The free block before that one in its pool, which is smaller or lower. */
uint32_t free_tree_previous(const struct allocator *allocator, uint32_t block);
/* The largest free block of the pool. */
uint32_t free_tree_last(const struct allocator *allocator, uint32_t pool);

/* What orders blocks has changed. */
void free_tree_rebuild(struct allocator *allocator);

#endif
