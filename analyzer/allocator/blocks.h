/* SPDX-License-Identifier: MIT */
/*
 * The functions that the parts of the model share, and its blocks, which are chained by address in
 * their segments.
 */
#ifndef GPUMEMTRACE_ANALYZER_ALLOCATOR_BLOCKS_H
#define GPUMEMTRACE_ANALYZER_ALLOCATOR_BLOCKS_H

#include "model.h"

/* A copy of *block outside the tree and without neighbours; ALLOCATOR_NONE: out of memory. */
uint32_t allocator_block_new(struct allocator *allocator, const struct allocator_block *block,
                             struct err *err);
void allocator_block_retire(struct allocator *allocator, uint32_t block);

/* Cuts a block that is in no tree. Returns the new right part, which has the same state. */
uint32_t allocator_block_cut(struct allocator *allocator, uint32_t block, uint64_t bytes,
                             struct err *err);
/* Joins a block that is in no tree with neighbours of its state, and adds it to the tree.
 * Returns the joined block. */
uint32_t allocator_block_settle(struct allocator *allocator, uint32_t block);

/* True if the pool may hold that many more bytes under the limit. */
bool allocator_allows(const struct allocator *allocator, uint64_t limit_bytes, uint64_t bytes);
/* Counts newly reserved bytes. */
void allocator_count_reserved(struct allocator *allocator, uint64_t bytes);

/* Makes the addresses available again, unless there is a driver, which hands out
 * addresses itself. */
void allocator_give_addresses(struct allocator *allocator, uint64_t address, uint64_t bytes);

/* --- pools --- */

/* The pool for the request; ALLOCATOR_NONE: none yet. */
uint32_t allocator_known_pool(const struct allocator *allocator,
                              const struct allocator_request *request);
/* The same, made if there is none; ALLOCATOR_NONE: out of memory. */
uint32_t allocator_find_pool(struct allocator *allocator, const struct allocator_request *request,
                             struct err *err);

/* --- growing and shrinking pools --- */

/* *block: a free block of at least `bytes`, in no tree; ALLOCATOR_NONE: refused. */
int allocator_grow_expandable(struct allocator *allocator, uint32_t pool, uint64_t bytes,
                              uint32_t *block, struct err *err);
int allocator_unmap_free(struct allocator *allocator, struct err *err);

void allocator_collect_garbage(struct allocator *allocator);
/* True: enough blocks above max_split were given back to try again. */
bool allocator_give_back_oversized(struct allocator *allocator, uint32_t pool, uint64_t bytes);

#endif
