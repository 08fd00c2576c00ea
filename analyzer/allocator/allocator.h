/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's caching allocator as a model: requests and frees in, segments out. It must not know
 * where requests come from, nor what a trace is.
 *
 *     request    rounded up to 512 B; up to 1 MiB it is served by the small pool of its stream,
 *                otherwise by the large one
 *     choice     the smallest free block of the pool that fits; among equals the lowest address, in
 *                newer releases the block of the oldest segment
 *     segment    where none fits: 2 MiB for the small pool; for the large one 20 MiB below 10 MiB,
 *                otherwise the request rounded up to 2 MiB
 *     split      the rest of a block becomes free if it has 512 B (small pool, expandable segments)
 *                or more than 1 MiB; otherwise the whole block counts as allocated
 *     free       joins free neighbours in the segment
 *     refused    what is cached is given back to the driver, and the driver is asked once more
 *
 *     max_split      blocks of that size and more are not split, and serve only requests of that
 *                    size which leave at most 20 MiB of them
 *     capture        what a stream takes while it is captured has pools of its own, which captures may
 *                    share; they keep all until the graphs are gone
 *     expandable     a pool's segments are one range of addresses, in mappings of 2 MiB
 *                    (small) or 20 MiB (large), made as they are needed and unmapped one by one
 *     garbage        above that share of the memory fraction, whole free large segments go that
 *                    have lain longest, before the driver is asked; without a fraction: never
 *
 * The rules are those that PyTorch documents and that its releases 2.6 and 2.15 were seen to
 * follow.
 */
#ifndef GPUMEMTRACE_ANALYZER_ALLOCATOR_ALLOCATOR_H
#define GPUMEMTRACE_ANALYZER_ALLOCATOR_ALLOCATOR_H

#include "model.h"

void allocator_init(struct allocator *allocator, const struct allocator_settings *settings);
void allocator_release(struct allocator *allocator);
struct allocator_settings allocator_default_settings(void);
/* What *to held is lost. The copy has the same blocks by the same numbers. -1: out of memory; *to is
 * still to be released. */
int allocator_copy(struct allocator *to, const struct allocator *from, struct err *err);

enum allocator_outcome { ALLOCATOR_REUSED, ALLOCATOR_GREW, ALLOCATOR_RETRIED, ALLOCATOR_REFUSED };

/* *block is what allocator_free takes; ALLOCATOR_NONE where it is refused. -1: out of memory. */
int allocator_alloc(struct allocator *allocator, const struct allocator_request *request,
                    uint32_t *block, enum allocator_outcome *outcome, struct err *err);
int allocator_free(struct allocator *allocator, uint32_t block, struct err *err);

/* torch.cuda.empty_cache(): gives back all that no live block keeps. */
int allocator_empty_cache(struct allocator *allocator, struct err *err);
/* What that would give back of plain segments. */
uint64_t allocator_cached_bytes(const struct allocator *allocator);
/* The segment that begins with that block went back to the driver. False: something in it is used,
 * or it is expandable. */
bool allocator_forget_segment(struct allocator *allocator, uint32_t block);

/* The block that would serve the request now; ALLOCATOR_NONE: none. */
uint32_t allocator_find(const struct allocator *allocator, const struct allocator_request *request);
/* The bytes of what it would get, there or in a new segment. */
uint64_t allocator_would_give(const struct allocator *allocator,
                              const struct allocator_request *request);

/* From now on the oldest segment's block is chosen among equals (PyTorch 2.13), or the lowest. */
void allocator_prefer_oldest(struct allocator *allocator, bool prefers_oldest);

/* Who owns the memory at that address which would serve the request, if the request's owner has none
 * there; else the request's owner. */
uint32_t allocator_owner_at(const struct allocator *allocator,
                            const struct allocator_request *request, uint64_t address);
/* Two private pools turned out to be one. */
void allocator_join_owners(struct allocator *allocator, uint32_t from, uint32_t to);
/* The graphs of a private pool are gone: what is free in it goes back when the cache is emptied. Its
 * number may be another's from now on. */
void allocator_let_go(struct allocator *allocator, uint32_t owner);

/* The pool grew for the request: marks the free blocks of others that would have served it. */
void allocator_pass_over(struct allocator *allocator, const struct allocator_request *request);

/* The segment that a request of so many bytes would be cut from. */
uint64_t allocator_segment_bytes(uint64_t bytes);

/* The largest free block, and the free bytes in segments that hold something used. */
struct allocator_holes {
    uint64_t free_bytes, largest_bytes, stranded_bytes;
};
struct allocator_holes allocator_holes(const struct allocator *allocator);

#endif
