/* SPDX-License-Identifier: MIT */
/*
 * A model of PyTorch's caching allocator: requests and frees go in, segments come out.
 *
 *     request    rounded up to 512 B; up to 1 MiB it is served by the small pool of its stream,
 *                otherwise by the large one
 *     choice     the smallest free block of the pool that fits; among equals the lowest address, in
 *                newer releases the block of the oldest segment
 *     segment    if none fits: 2 MiB for the small pool; for the large one 20 MiB below 10 MiB,
 *                otherwise the request rounded up to 2 MiB
 *     split      the rest of a block becomes free if it has 512 B (small pool, expandable segments)
 *                or more than 1 MiB; otherwise the whole block counts as allocated
 *     free       joins free neighbours in the segment
 *     refused    cached segments are given back to the driver, and the driver is asked once more
 *
 *     max_split      blocks of that size and more are not split, and serve only requests of that
 *                    size which leave at most 20 MiB of them
 *     capture        requests of a stream that is captured have private pools, which captures may
 *                    share; these keep all memory until the graphs are gone
 *     expandable     a pool's segments are one range of addresses, in mappings of 2 MiB
 *                    (small) or 20 MiB (large), mapped as needed and unmapped one by one
 *     garbage        above that share of the memory fraction, whole free large segments are given
 *                    back before the driver is asked, the oldest first; without a fraction: never
 *
 * The rules are those that PyTorch documents and that its releases 2.6 and 2.15 were
 * seen to follow.
 */
#ifndef GPUMEMTRACE_ANALYZER_ALLOCATOR_ALLOCATOR_H
#define GPUMEMTRACE_ANALYZER_ALLOCATOR_ALLOCATOR_H

#include "model.h"

void allocator_init(struct allocator *allocator, const struct allocator_settings *settings);
void allocator_release(struct allocator *allocator);
struct allocator_settings allocator_default_settings(void);

enum allocator_outcome { ALLOCATOR_REUSED, ALLOCATOR_GREW, ALLOCATOR_RETRIED, ALLOCATOR_REFUSED };

/* *block: number for allocator_free; ALLOCATOR_NONE if refused. -1: out of memory. */
int allocator_alloc(struct allocator *allocator, const struct allocator_request *request,
                    uint32_t *block, enum allocator_outcome *outcome, struct err *err);
int allocator_free(struct allocator *allocator, uint32_t block, struct err *err);

/* torch.cuda.empty_cache(): gives back whole free segments and mappings. */
int allocator_empty_cache(struct allocator *allocator, struct err *err);
/* Bytes of plain segments that allocator_empty_cache would give back. */
uint64_t allocator_cached_bytes(const struct allocator *allocator);
/* The segment that begins with that block went back to the driver. False: the segment is in use
 * or expandable. */
bool allocator_forget_segment(struct allocator *allocator, uint32_t block);

/* The block that would serve the request now; ALLOCATOR_NONE: none. */
uint32_t allocator_find(const struct allocator *allocator, const struct allocator_request *request);
/* Bytes of the block that the request would get, from a free block or a new segment. */
uint64_t allocator_would_give(const struct allocator *allocator,
                              const struct allocator_request *request);

/* Sets the choice among equal blocks: the oldest segment's (PyTorch 2.13), or the
 * lowest address. */
void allocator_prefer_oldest(struct allocator *allocator, bool prefers_oldest);

/* The owner whose memory at that address would serve the request. The request's own owner comes
 * first, and is the result if nobody's would. */
uint32_t allocator_owner_at(const struct allocator *allocator,
                            const struct allocator_request *request, uint64_t address);
/* Joins two private pools that turned out to be one. */
void allocator_join_owners(struct allocator *allocator, uint32_t from, uint32_t to);
/* The graphs of a private pool are gone: its free segments go back when the cache is emptied.
 * The owner's number may be used again. */
void allocator_let_go(struct allocator *allocator, uint32_t owner);

/* Size of the segment that a request of `bytes` would be cut from. */
uint64_t allocator_segment_bytes(uint64_t bytes);

/* largest_bytes: the largest free block. stranded_bytes: free bytes in plain segments that are
 * partly in use. */
struct allocator_holes {
    uint64_t free_bytes, largest_bytes, stranded_bytes;
};
struct allocator_holes allocator_holes(const struct allocator *allocator);

#endif
