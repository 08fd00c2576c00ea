/* SPDX-License-Identifier: MIT */
/* The data of a model of the allocator: settings, blocks, pools, and the driver below it. */
#ifndef GPUMEMTRACE_ANALYZER_ALLOCATOR_MODEL_H
#define GPUMEMTRACE_ANALYZER_ALLOCATOR_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "addresses.h"
#include "gpumemtrace/err.h"

#define ALLOCATOR_NONE UINT32_MAX      /* no block */
#define ALLOCATOR_UNLIMITED UINT64_MAX /* bytes */

#define ALLOCATOR_ROUND_BYTES UINT64_C(512)
#define ALLOCATOR_SMALL_MOST_BYTES (UINT64_C(1) << 20)
#define ALLOCATOR_SMALL_SEGMENT_BYTES (UINT64_C(2) << 20)
#define ALLOCATOR_LARGE_SEGMENT_BYTES (UINT64_C(20) << 20)
#define ALLOCATOR_LARGE_LIMIT_BYTES (UINT64_C(10) << 20)
#define ALLOCATOR_GRANULE_BYTES (UINT64_C(2) << 20)

struct allocator_settings {
    bool expandable_segments;
    bool no_caching;          /* each request is a request to the driver */
    bool prefers_oldest;      /* among equals the oldest segment's block, not the lowest */
    uint64_t max_split_bytes; /* ALLOCATOR_UNLIMITED: not set */
    uint64_t max_rest_bytes;  /* that a block above max_split may leave; 20 MiB by default */
    double garbage_threshold; /* 0: never */
    uint64_t fraction_bytes;  /* of the pool; ALLOCATOR_UNLIMITED: no memory fraction */
};

enum allocator_state { ALLOCATOR_FREE, ALLOCATOR_USED, ALLOCATOR_UNMAPPED };

struct allocator_block {
    uint64_t address, bytes;
    uint64_t born;          /* search_count when it became free */
    uint32_t segment_age;   /* number of segments and ranges taken before its own */
    uint32_t before, after; /* neighbours in the segment */
    uint32_t left, right;   /* in a tree; `left` also links unused entries */
    uint32_t pool;          /* index into allocator.pools */
    uint8_t state;          /* enum allocator_state */
    bool is_expandable;
};

/* Owner of a pool: this, or a number of a private pool that graphs share. */
#define ALLOCATOR_OF_ALL UINT32_MAX

struct allocator_pool {
    struct free_trees *trees; /* of free or unmapped blocks: free_tree.h */
    uint64_t stream;
    uint32_t owner;
    uint32_t block_count;
    bool is_small;
    bool is_kept; /* its graphs exist: nothing in it goes back to the driver */
};

struct allocator_request {
    uint64_t bytes; /* > 0 */
    uint64_t stream;
    uint32_t owner;    /* ALLOCATOR_OF_ALL, or the number of a private pool */
    bool is_capturing; /* some stream is capturing: then a refusal does not empty the cache */
};

/*
 * The driver below the model. NULL: the model's own, which refuses what exceeds room_bytes. All
 * functions that return bool return false if they refuse.
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
    uint64_t room_bytes; /* limit of the pool now, set by the caller; or ALLOCATOR_UNLIMITED */
    uint64_t card_bytes; /* determines the length of an expandable range */

    struct allocator_block *blocks;
    size_t block_count, block_capacity;
    uint32_t unused; /* first unused entry of blocks */
    struct allocator_pool *pools;
    size_t pool_count, pool_capacity;
    struct addresses addresses;
    uint64_t search_count; /* searches for large blocks of no graph: ages of garbage */
    uint32_t segment_count;

    uint64_t reserved_bytes, allocated_bytes;
    uint64_t peak_reserved_bytes, peak_allocated_bytes;
    uint64_t retry_count; /* requests refused, then served */
};

#endif
