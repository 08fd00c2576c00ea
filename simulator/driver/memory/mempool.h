/* SPDX-License-Identifier: MIT */
/*
 * Stream-ordered memory: the driver's memory pools, which reserve memory in segments and hand out pieces. All work is
 * done when a call returns, so a freed piece can be used again at once; whole segments go back at
 * the next synchronization, down to the pool's release threshold. Pools of the host's memory and of
 * managed memory take none of a device's; an imported pool hands out nothing but the exporter's
 * pieces.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_MEMPOOL_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MEMORY_MEMPOOL_H

#include "simulator/driver/machine/block.h"
#include "simulator/driver/machine/call.h"
#include "simulator/driver/machine/object.h"

struct mempool {
    struct object object;
    struct mempool *next;  /* all pools, destroyed ones with live pieces too */
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
void mempool_free_block(struct block *block);
/* What a synchronization does to every pool. */
void mempool_synchronize(void);

/* --- for the functions of the pool API --- */

/* NULL: no host memory. */
struct mempool *mempool_new(CUmemAllocationType type, CUmemLocation location);
/* NULL: the call's result is set. */
struct mempool *mempool_find(struct call *call, CUmemoryPool handle);
/* Can there be a pool of this type there? */
CUresult mempool_check_location(CUmemAllocationType type, const CUmemLocation *location);
bool mempool_is_on_device(const struct mempool *pool);
/* The pool of a location that is used where none is named; made when first asked for. NULL: no host
 * memory. */
struct mempool *mempool_default_of(CUmemAllocationType type, CUmemLocation location);
struct mempool *mempool_current_of(CUmemAllocationType type, CUmemLocation location);
void mempool_make_current(struct mempool *pool);
CUresult mempool_import_piece(struct mempool *pool, const struct share_name *name,
                              CUdeviceptr *address);
void mempool_destroy(struct mempool *pool);
CUresult mempool_alloc(struct mempool *pool, uint64_t size_bytes, CUdeviceptr *address);
void mempool_release(struct mempool *pool, uint64_t keep_bytes);

#endif
