/* SPDX-License-Identifier: MIT */
/*
 * What a model of the allocator consists of: settings, blocks, pools, and the driver below it. It
 * must not know how they change.
 */
#ifndef GPUMEMTRACE_ANALYZER_ALLOCATOR_MODEL_H
#define GPUMEMTRACE_ANALYZER_ALLOCATOR_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "addresses.h"
#include "gpumemtrace/err.h"

#define ALLOCATOR_NONE UINT32_MAX      /* no such block */
#define ALLOCATOR_UNLIMITED UINT64_MAX /* bytes */

#define ALLOCATOR_ROUND_BYTES UINT64_C(512)
#define ALLOCATOR_SMALL_MOST_BYTES (UINT64_C(1) << 20)
#define ALLOCATOR_SMALL_SEGMENT_BYTES (UINT64_C(2) << 20)
#define ALLOCATOR_LARGE_SEGMENT_BYTES (UINT64_C(20) << 20)
#define ALLOCATOR_LARGE_LIMIT_BYTES (UINT64_C(10) << 20)
#define ALLOCATOR_GRANULE_BYTES (UINT64_C(2) << 20)

struct allocator_settings {
    bool expandable_segments;
    bool no_caching;          /* each request is a call of the driver */
    bool prefers_oldest;      /* among equals the block of the oldest segment, not the lowest */
    uint64_t max_split_bytes; /* ALLOCATOR_UNLIMITED: no such setting */
    uint64_t max_rest_bytes;  /* that a block above max_split may leave; 20 MiB unless set */
    double garbage_threshold; /* 0: never */
    uint64_t fraction_bytes;  /* what the pool may hold; ALLOCATOR_UNLIMITED: no memory fraction */
};

enum allocator_state { ALLOCATOR_FREE, ALLOCATOR_USED, ALLOCATOR_UNMAPPED };

/* Why a request that a free block would have served made its pool grow. */
enum allocator_skip {
    ALLOCATOR_NOT_SKIPPED,
    ALLOCATOR_OTHER_STREAM,
    ALLOCATOR_OF_GRAPH, /* the block or the request is of a graph, and not both of the same */
    ALLOCATOR_WAITS_FOR_EVENT, /* so the recording says: another stream may use it yet */
};

struct allocator_block {
    uint64_t address, bytes;
    uint64_t born;          /* the model's count of searches when it became free */
    uint32_t segment_age;   /* of its segment or range: how many were taken before it */
    uint32_t before, after; /* neighbours in the segment */
    uint32_t left, right;   /* in a tree of what is not used; left links entries given back */
    uint32_t pool;          /* of allocator.pools */
    uint8_t state;          /* enum allocator_state */
    bool is_expandable;
    uint8_t skipped;        /* enum allocator_skip, while it is free */
    uint64_t skipped_bytes; /* the largest such request */
};

/* Of whom a pool is: of all, or of the graphs that share a private pool. */
#define ALLOCATOR_OF_ALL UINT32_MAX

struct allocator_pool {
    struct free_trees *trees; /* of what is free or unmapped: free_tree.h */
    uint64_t stream;
    uint32_t owner;
    uint32_t block_count;
    bool is_small;
    bool is_kept; /* of graphs that exist: nothing in it goes back to the driver */
};

struct allocator_request {
    uint64_t bytes; /* > 0 */
    uint64_t stream;
    uint32_t owner;    /* ALLOCATOR_OF_ALL, or the number of a private pool */
    bool is_capturing; /* some stream is: then a refusal empties no cache */
};

/*
 * The driver below the model. NULL: the model's own, which refuses what is beyond room_bytes. All
 * return false for a refusal.
 */
struct allocator_driver {
    void *self;
    bool (*take)(void *self, uint64_t bytes, uint64_t *address);
    bool (*reserve)(void *self, uint64_t wanted_bytes, uint64_t *address, uint64_t *bytes);
    bool (*map)(void *self, uint64_t address, uint64_t bytes);
    void (*give)(void *self, uint64_t address, uint64_t bytes);
};

struct allocator {
    struct allocator_settings settings;
    const struct allocator_driver *driver;
    uint64_t room_bytes; /* what the pool may hold now: the caller's to set; ALLOCATOR_UNLIMITED */
    uint64_t card_bytes; /* how long an expandable range is made */

    struct allocator_block *blocks;
    size_t block_count, block_capacity;
    uint32_t unused; /* first of the entries given back */
    struct allocator_pool *pools;
    size_t pool_count, pool_capacity;
    struct addresses addresses;
    uint64_t search_count; /* for large blocks that are no graph's, as garbage collection counts */
    uint32_t segment_count;

    uint64_t reserved_bytes, allocated_bytes;
    uint64_t peak_reserved_bytes, peak_allocated_bytes;
    uint64_t retry_count; /* refused, then served */
    /* The most that a limit let the pool hold, or would have, since the caller set it to 0. */
    uint64_t granted_bytes;
};

#endif
