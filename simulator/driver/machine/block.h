/* SPDX-License-Identifier: MIT */
/*
 * Every live allocation the API knows by an address, on whichever side: where it is, how large,
 * whose. Arrays, which have a handle instead, are blocks without an entry by address. It must not
 * decide where memory comes from.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_BLOCK_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_BLOCK_H

#include "device.h"
#include "share.h"

enum block_kind {
    BLOCK_LINEAR,     /* cuMemAlloc, cuMemAllocPitch */
    BLOCK_ARRAY,      /* no address */
    BLOCK_MANAGED,    /* host memory that the device may use; not charged to it */
    BLOCK_PINNED,     /* cuMemHostAlloc */
    BLOCK_REGISTERED, /* the program's own memory */
    BLOCK_POOL,       /* cuMemAllocAsync */
    BLOCK_MAPPED,     /* cuMemMap */
    BLOCK_GRAPH,      /* an allocation node's: addresses always, memory while it is live */
    BLOCK_OPENED,     /* another process's, by cuIpcOpenMemHandle */
    BLOCK_IMPORTED    /* another's, freed like one's own: of a pool or of external memory */
};

struct graph_allocation;
struct physical;

struct block {
    struct tree_node by_address;
    struct block *next, *previous; /* the context's list */
    enum block_kind kind;
    unsigned flags;
    uint64_t address, size_bytes; /* the size asked for */
    uint64_t id;                  /* never used again in this process */
    struct device *device;
    struct context *context; /* it ends with this one; NULL: with none */
    struct span *span;       /* of a device's addresses; NULL: the host's, or reserved ones */
    struct mempool *pool;    /* POOL; IMPORTED from one */
    bool is_host_pool, is_managed_pool;  /* POOL: its memory is the host's, or managed */
    struct physical *physical;           /* MAPPED */
    uint64_t readers, writers;           /* MAPPED: a bit for each device with access */
    struct graph_allocation *allocation; /* GRAPH */
    struct share_name name;              /* OPENED; IMPORTED from a pool */
    unsigned open_count;                 /* OPENED */
};

/* A copy of the model; NULL: no host memory. */
struct block *block_new(const struct block *model);
void block_delete(struct block *block);
/* The block that starts here; NULL: none. */
struct block *block_at(uint64_t address);
/* The block this address lies in; NULL: none. */
struct block *block_containing(uint64_t address);
/* The first that the caller wants; NULL: none. */
struct block *block_find_if(bool is_wanted(const struct block *block, const void *data),
                            const void *data);
/* Does any block share an address with this range? */
bool block_overlaps(uint64_t address, uint64_t size_bytes);

/* May the host read and write it? */
static inline bool block_is_host(const struct block *block)
{
    return block->kind == BLOCK_MANAGED || block->kind == BLOCK_PINNED ||
           block->kind == BLOCK_REGISTERED || block->is_host_pool || block->is_managed_pool;
}

#endif
