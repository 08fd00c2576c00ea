/* SPDX-License-Identifier: MIT */
/* The data of the allocator's model: settings, blocks, pools, and the driver below the model. */
#pragma once

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
    bool no_caching; /* each request goes to the driver */
    /* if several free blocks have one size, takes the one in the oldest segment, not the lowest */
    bool prefers_oldest;
    uint64_t max_split_bytes; /* ALLOCATOR_UNLIMITED: not set */
    uint64_t max_rest_bytes;  /* most unused bytes of a block above max_split; 20 MiB by default */
    double garbage_threshold; /* 0: never */
    uint64_t fraction_bytes;  /* limit of the pool; ALLOCATOR_UNLIMITED: no memory fraction */
};

enum allocator_state { ALLOCATOR_FREE, ALLOCATOR_USED, ALLOCATOR_UNMAPPED };

struct allocator_block {
    uint64_t address, bytes;
    uint64_t born;          /* value of search_count when the block became free */
    uint32_t segment_age;   /* number of segments and ranges that are older than its own */
    uint32_t before, after; /* neighbours in the segment */
    uint32_t left, right;   /* children in a tree; `left` also links unused entries */
    uint32_t pool;          /* index into allocator.pools */
    uint8_t state;          /* enum allocator_state */
    bool is_expandable;
};

/* The owner of a pool that all requests share. Other owners are numbers of private pools. */
#define ALLOCATOR_OF_ALL UINT32_MAX

struct allocator_pool {
    struct free_trees *trees; /* the pool's free and unmapped blocks: free_tree.h */
    uint64_t stream;
    uint32_t owner;
    uint32_t block_count;
    bool is_small;
    bool is_kept; /* its graphs exist, so nothing in it goes back to the driver */
};

struct allocator_request {
    uint64_t bytes; /* > 0 */
    uint64_t stream;
    uint32_t owner;    /* ALLOCATOR_OF_ALL, or the number of a private pool */
    bool is_capturing; /* some stream is capturing, so a refusal does not empty the cache */
};

/*
 * The driver below the model. If there is none (NULL), the model refuses what exceeds room_bytes.
 * All functions that return bool return false if they refuse.
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
    uint64_t room_bytes; /* current limit of the pool, set by the caller; or ALLOCATOR_UNLIMITED */
    uint64_t card_bytes; /* determines the length of an expandable range */

    struct allocator_block *blocks;
    size_t block_count, block_capacity;
    uint32_t unused; /* first unused entry of blocks */
    struct allocator_pool *pools;
    size_t pool_count, pool_capacity;
    struct addresses addresses;
    /* searches for large blocks in pools that belong to no graph; the age of garbage counts them */
    uint64_t search_count;
    uint32_t segment_count;

    uint64_t reserved_bytes, allocated_bytes;
    uint64_t peak_reserved_bytes, peak_allocated_bytes;
    uint64_t retry_count; /* requests that were refused at first, and then served */
};
