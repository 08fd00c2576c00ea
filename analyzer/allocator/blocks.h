/* SPDX-License-Identifier: MIT */
/*
 * The functions on blocks and pools that the files of the model share. The blocks of a segment are
 * chained in the order of their addresses.
 */
#pragma once

#include "model.h"

/* Makes a copy of *block that is in no tree and has no neighbours. ALLOCATOR_NONE: out of
 * memory. */
uint32_t allocator_block_new(struct allocator *allocator, const struct allocator_block *block,
                             struct err *err);
void allocator_block_retire(struct allocator *allocator, uint32_t block);

/* Cuts a block that is in no tree. Returns the new right part, which has the same state. */
uint32_t allocator_block_cut(struct allocator *allocator, uint32_t block, uint64_t bytes,
                             struct err *err);
/* Takes a block that is in no tree, joins it with those neighbours that have the same state, and
 * adds the joined block to the tree. Returns the joined block. */
uint32_t allocator_block_settle(struct allocator *allocator, uint32_t block);

/* Returns whether PyTorch's memory may grow by `bytes` without exceeding the limit. */
bool allocator_allows(const struct allocator *allocator, uint64_t limit_bytes, uint64_t bytes);
/* Adds newly reserved bytes to the sums and peaks. */
void allocator_count_reserved(struct allocator *allocator, uint64_t bytes);

/* Makes the addresses available again. Does nothing if there is a driver, because a driver hands
 * out addresses itself. */
void allocator_give_addresses(struct allocator *allocator, uint64_t address, uint64_t bytes);

/* --- pools --- */

/* Returns the pool that serves the request; ALLOCATOR_NONE: there is none yet. */
uint32_t allocator_known_pool(const struct allocator *allocator,
                              const struct allocator_request *request);
/* Returns the pool that serves the request, and makes it if there is none. ALLOCATOR_NONE: out of
 * memory. */
uint32_t allocator_find_pool(struct allocator *allocator, const struct allocator_request *request,
                             struct err *err);

/* --- growing and shrinking pools --- */

/* Grows an expandable range. Sets *block to a free block of at least `bytes` that is in no tree, or
 * to ALLOCATOR_NONE if the driver or a limit refuses. */
int allocator_grow_expandable(struct allocator *allocator, uint32_t pool, uint64_t bytes,
                              uint32_t *block, struct err *err);
int allocator_unmap_free(struct allocator *allocator, struct err *err);

void allocator_collect_garbage(struct allocator *allocator);
/* Gives back free blocks that are larger than max_split. True: they had enough bytes to try the
 * request again. */
bool allocator_give_back_oversized(struct allocator *allocator, uint32_t pool, uint64_t bytes);
