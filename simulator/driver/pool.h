/* SPDX-License-Identifier: MIT */
/*
 * Stream-ordered memory: pools that reserve device memory in segments and hand out pieces. All work
 * is done when a call returns, so a freed piece can be used again at once; whole segments go back
 * to the device at the next synchronization, down to the pool's release threshold.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_POOL_H
#define GPUMEMTRACE_SIMULATOR_POOL_H

#include "block.h"
#include "object.h"

struct pool {
    struct object object;
    struct pool *next; /* all pools, destroyed ones with live pieces too */
    struct device *device;
    struct heap heap;
    bool destroyed; /* goes when its last piece is freed */
    int reuse[3];   /* the three reuse attributes: kept, without effect */
    uint64_t release_threshold_bytes;
    uint64_t limit_bytes; /* 0: none */
    uint64_t reserved_bytes, reserved_high_bytes;
    uint64_t used_bytes, used_high_bytes;
};

/* The device's default pool, made when first asked for; NULL: no host memory. */
struct pool *pool_default(struct device *device);
void pool_free_block(struct block *block);
/* What a synchronization does to every pool. */
void pool_synchronize(void);

#endif
