/* SPDX-License-Identifier: MIT */
/*
 * Memory pools, which reserve memory in segments and allocate pieces of them. All work is done when
 * a call returns, so a freed piece can be reused at once; unused segments are released at the next
 * synchronization, down to the pool's release threshold. Pools of host and managed memory charge
 * nothing to a device; an imported pool only gives access to the exporter's pieces.
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
    struct mempool *next;  /* all pools, including destroyed ones with live pieces */
    struct device *device; /* the first device for host and managed pools */
    CUmemAllocationType type;
    CUmemLocation location;
    CUmemAllocationHandleType handle_types;
    bool is_default, is_current; /* for its location and type */
    bool is_imported;
    struct share_name name; /* of an imported pool: the exporter's */
    uint64_t id;            /* unique in this process */
    struct heap heap;
    bool destroyed; /* freed with its last piece */
    int reuse[3];   /* the three reuse attributes: stored without effect */
    uint64_t release_threshold_bytes;
    uint64_t limit_bytes; /* 0: none */
    uint64_t reserved_bytes, reserved_high_bytes;
    uint64_t used_bytes, used_high_bytes;
};

/* Frees a piece, allocated here or imported. */
void mempool_free_block(struct block *block);
/* Releases unused memory of every pool, as a synchronization does. */
void mempool_synchronize(void);

/* --- for the functions of the pool API --- */

/* NULL: out of memory. */
struct mempool *mempool_new(CUmemAllocationType type, CUmemLocation location);
/* The pool with this handle. NULL: the call's result is set. */
struct mempool *mempool_find(struct call *call, CUmemoryPool handle);
/* Whether a pool of this type can have this location. */
CUresult mempool_check_location(CUmemAllocationType type, const CUmemLocation *location);
bool mempool_is_on_device(const struct mempool *pool);
/* The default pool of a location, created on first use. NULL: out of memory. */
struct mempool *mempool_default_of(CUmemAllocationType type, CUmemLocation location);
struct mempool *mempool_current_of(CUmemAllocationType type, CUmemLocation location);
void mempool_make_current(struct mempool *pool);
CUresult mempool_import_piece(struct mempool *pool, const struct share_name *name,
                              CUdeviceptr *address);
void mempool_destroy(struct mempool *pool);
CUresult mempool_alloc(struct mempool *pool, uint64_t size_bytes, CUdeviceptr *address);
void mempool_release(struct mempool *pool, uint64_t keep_bytes);

#endif
