/* SPDX-License-Identifier: MIT */
/*
 * Stream-ordered memory: pools that reserve memory in segments and hand out pieces. All work is
 * done when a call returns, so a freed piece can be used again at once; whole segments go back at
 * the next synchronization, down to the pool's release threshold. Pools of the host's memory and of
 * managed memory take none of a device's; an imported pool hands out nothing but the exporter's
 * pieces.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_POOL_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_POOL_H

#include "block.h"
#include "object.h"

struct pool {
    struct object object;
    struct pool *next;     /* all pools, destroyed ones with live pieces too */
    struct device *device; /* of the host's and of managed pools: the first */
    CUmemAllocationType type;
    CUmemLocation location;
    CUmemAllocationHandleType handle_types;
    bool is_default, is_current; /* of its location and type */
    bool is_imported;
    struct share_name name; /* of an imported one: the exporter's */
    uint64_t id;            /* no other's in this process */
    struct heap heap;
    bool destroyed; /* goes when its last piece is freed */
    int reuse[3];   /* the three reuse attributes: kept, without effect */
    uint64_t release_threshold_bytes;
    uint64_t limit_bytes; /* 0: none */
    uint64_t reserved_bytes, reserved_high_bytes;
    uint64_t used_bytes, used_high_bytes;
};

/* A piece of the process's own, or an imported one. */
void pool_free_block(struct block *block);
/* What a synchronization does to every pool. */
void pool_synchronize(void);

#endif
