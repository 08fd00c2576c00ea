/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the model share: its blocks, chained by address in their segments. It must not
 * know when they are made or joined.
 */
#ifndef GPUMEMTRACE_ANALYZER_ALLOCATOR_BLOCKS_H
#define GPUMEMTRACE_ANALYZER_ALLOCATOR_BLOCKS_H

#include "model.h"

/* A copy of *block outside the tree and without neighbours; ALLOCATOR_NONE: out of memory. */
uint32_t allocator_block_new(struct allocator *allocator, const struct allocator_block *block,
                             struct err *err);
void allocator_block_retire(struct allocator *allocator, uint32_t block);

/* Cuts the block, which is in no tree; the right part is new, has the same state and is returned. */
uint32_t allocator_block_cut(struct allocator *allocator, uint32_t block, uint64_t bytes,
                             struct err *err);
/* Joins the block, which is in no tree, with neighbours of its own state, and adds it to the tree.
 * Returns the block that is left. */
uint32_t allocator_block_settle(struct allocator *allocator, uint32_t block);

/* It would have served a request of so many bytes, if not for that. */
void allocator_mark_skipped(struct allocator_block *block, enum allocator_skip why, uint64_t bytes);

/* Whether the pool may hold so much more under that limit. */
bool allocator_allows(struct allocator *allocator, uint64_t limit_bytes, uint64_t bytes);
/* It holds at least what was asked for: counts it. */
void allocator_count_reserved(struct allocator *allocator, uint64_t bytes);

/* They may be another's; where there is a driver it knows. */
void allocator_give_addresses(struct allocator *allocator, uint64_t address, uint64_t bytes);

/* --- pools --- */

/* That would serve the request; ALLOCATOR_NONE: there is none yet. */
uint32_t allocator_known_pool(const struct allocator *allocator,
                              const struct allocator_request *request);
/* The same, made where there is none; ALLOCATOR_NONE: out of memory. */
uint32_t allocator_find_pool(struct allocator *allocator, const struct allocator_request *request,
                             struct err *err);

/* --- what grows a pool, or shrinks it --- */

/* A free block, in no tree, of at least that many bytes; *block is ALLOCATOR_NONE where it is refused. */
int allocator_grow_expandable(struct allocator *allocator, uint32_t pool, uint64_t bytes,
                              uint32_t *block, struct err *err);
int allocator_unmap_free(struct allocator *allocator, struct err *err);

void allocator_collect_garbage(struct allocator *allocator);
/* True: enough blocks above max_split were given back to ask once more. */
bool allocator_give_back_oversized(struct allocator *allocator, uint32_t pool, uint64_t bytes);

#endif
