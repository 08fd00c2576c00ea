/* SPDX-License-Identifier: MIT */
/*
 * A model of PyTorch's caching allocator: requests and frees go in, segments come out.
 *
 *     request    rounded up to 512 B; the small pool of its stream serves requests up to 1 MiB,
 *                the large pool serves larger ones
 *     choice     the smallest free block of the pool that fits; if several have that size, the one
 *                at the lowest address, or in newer releases the one in the oldest segment
 *     segment    taken from the driver if no block fits: 2 MiB for the small pool; for the large
 *                pool 20 MiB if the request is below 10 MiB, else the request rounded up to 2 MiB
 *     split      the rest of a block becomes a free block if it has at least 512 B (small pool,
 *                expandable segments) or more than 1 MiB (large pool); if the rest is smaller, the
 *                whole block counts as allocated
 *     free       the block is joined with its free neighbours in the segment
 *     refused    if the driver refuses, it gets cached segments back and is asked once more
 *
 *     max_split      blocks of at least that size are not split; such a block serves only requests
 *                    of at least that size, and only if at most 20 MiB of it stay unused
 *     capture        while a stream is captured, its requests have a private pool, which captures
 *                    may share; a private pool keeps all memory until its graphs are gone
 *     expandable     instead of segments, a pool has long ranges of addresses; pieces of 2 MiB
 *                    (small pool) or 20 MiB (large pool) are mapped and unmapped as needed
 *     garbage        if PyTorch holds more than that share of the memory fraction, whole free
 *                    large segments are given back before the driver is asked, the oldest first;
 *                    if no memory fraction is set, this never happens
 *
 * The rules are those that PyTorch documents and that its releases 2.6 and 2.15 were
 * seen to follow.
 */
#pragma once

#include "model.h"

void allocator_init(struct allocator *allocator, const struct allocator_settings *settings);
void allocator_release(struct allocator *allocator);
struct allocator_settings allocator_default_settings(void);

enum allocator_outcome { ALLOCATOR_REUSED, ALLOCATOR_GREW, ALLOCATOR_RETRIED, ALLOCATOR_REFUSED };

/* Sets *block to the number that allocator_free takes, or to ALLOCATOR_NONE if the request is
 * refused. -1: out of memory. */
int allocator_alloc(struct allocator *allocator, const struct allocator_request *request,
                    uint32_t *block, enum allocator_outcome *outcome, struct err *err);
int allocator_free(struct allocator *allocator, uint32_t block, struct err *err);

/* torch.cuda.empty_cache(): gives back whole free segments and mappings. */
int allocator_empty_cache(struct allocator *allocator, struct err *err);
/* Bytes of plain segments that allocator_empty_cache would give back. */
uint64_t allocator_cached_bytes(const struct allocator *allocator);
/* Removes the segment that begins with that block, because it went back to the driver. False: the
 * segment is in use or expandable. */
bool allocator_forget_segment(struct allocator *allocator, uint32_t block);

/* Returns the free block that would serve the request now; ALLOCATOR_NONE: there is none. */
uint32_t allocator_find(const struct allocator *allocator, const struct allocator_request *request);
/* Returns the size of the block that the request would get from a free block or a new segment. */
uint64_t allocator_would_give(const struct allocator *allocator,
                              const struct allocator_request *request);

/* Sets which of several free blocks of one size is chosen: the one in the oldest segment (PyTorch
 * 2.13), or the one at the lowest address. */
void allocator_prefer_oldest(struct allocator *allocator, bool prefers_oldest);

/* Returns the owner whose memory at that address would serve the request. The request's own owner
 * is tried first. Returns that owner as well if no owner's memory would serve it. */
uint32_t allocator_owner_at(const struct allocator *allocator,
                            const struct allocator_request *request, uint64_t address);
/* Joins two private pools that turned out to be one. */
void allocator_join_owners(struct allocator *allocator, uint32_t from, uint32_t to);
/* Notes that the graphs of a private pool are gone: the pool's free segments go back to the driver
 * when the cache is next emptied. The owner's number may be used again. */
void allocator_let_go(struct allocator *allocator, uint32_t owner);

/* Returns the size of the new segment that a request of `bytes` would be cut from. */
uint64_t allocator_segment_bytes(uint64_t bytes);

/* Sums of the free blocks. largest_bytes is the size of the largest free block. stranded_bytes are
 * the free bytes in plain segments that are partly in use. */
struct allocator_holes {
    uint64_t free_bytes, largest_bytes, stranded_bytes;
};
struct allocator_holes allocator_holes(const struct allocator *allocator);
