/* SPDX-License-Identifier: MIT */
/*
 * Memory pools, which reserve memory in segments and cut allocations from them. All work is done
 * when a call returns, so freed memory is reused at once. The next synchronization releases unused
 * segments down to the pool's release threshold. Pools of host and managed memory charge no device.
 * An imported pool only gives access to the exporter's allocations.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "simulator/driver/machine/block.h"
#include "simulator/driver/machine/call.h"
#include "simulator/driver/machine/object.h"

struct mempool {
    struct object object;
    struct mempool *next;  /* all pools, even destroyed ones with live blocks */
    struct device *device; /* host and managed pools: the first device */
    CUmemAllocationType type;
    CUmemLocation location;
    CUmemAllocationHandleType handle_types;
    bool is_default, is_current; /* for its location and type */
    bool is_imported;
    struct share_name name; /* imported pool: name given by the exporter */
    uint64_t id;            /* unique in this process */
    struct heap heap;
    bool destroyed; /* the pool is freed with its last block */
    int reuse[3];   /* the three reuse attributes; no effect */
    uint64_t release_threshold_bytes;
    uint64_t limit_bytes; /* 0: none */
    uint64_t reserved_bytes, reserved_high_bytes;
    uint64_t used_bytes, used_high_bytes;
};

/* Frees a block of a pool, allocated here or imported. */
void mempool_free_block(struct block *block);
/* Releases unused memory of every pool, as each synchronization does. */
void mempool_synchronize(void);

/* --- for the functions of the pool API --- */

/* NULL: out of memory. */
struct mempool *mempool_new(CUmemAllocationType type, CUmemLocation location);
/* Returns the pool with this handle. If there is none, sets the call's result and returns NULL. */
struct mempool *mempool_find(struct call *call, CUmemoryPool handle);
/* Checks that a pool of this type can have this location. */
CUresult mempool_check_location(CUmemAllocationType type, const CUmemLocation *location);
bool mempool_is_on_device(const struct mempool *pool);
/* The default pool of a location; the first call creates it. NULL: out of memory. */
struct mempool *mempool_default_of(CUmemAllocationType type, CUmemLocation location);
struct mempool *mempool_current_of(CUmemAllocationType type, CUmemLocation location);
void mempool_make_current(struct mempool *pool);
CUresult mempool_import_piece(struct mempool *pool, const struct share_name *name,
                              CUdeviceptr *address);
void mempool_destroy(struct mempool *pool);
CUresult mempool_alloc(struct mempool *pool, uint64_t size_bytes, CUdeviceptr *address);
void mempool_release(struct mempool *pool, uint64_t keep_bytes);
