/* SPDX-License-Identifier: MIT */
/*
 * Every live allocation on the host or on a device: its address, size and owner. Arrays are not in
 * the map by address, because an array has a handle instead of an address.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "device.h"
#include "share.h"

enum block_kind {
    BLOCK_LINEAR,     /* cuMemAlloc, cuMemAllocPitch */
    BLOCK_ARRAY,      /* no address */
    BLOCK_MANAGED,    /* host memory that devices may use; not charged to them */
    BLOCK_PINNED,     /* cuMemHostAlloc */
    BLOCK_REGISTERED, /* the program's own memory */
    BLOCK_POOL,       /* cuMemAllocAsync */
    BLOCK_MAPPED,     /* cuMemMap */
    BLOCK_GRAPH,      /* has an address always, but memory only while live */
    BLOCK_OPENED,     /* another process's memory, from cuIpcOpenMemHandle */
    BLOCK_IMPORTED    /* a pool's or external memory, freed as if allocated here */
};

struct graph_allocation;
struct physical;

struct block {
    struct tree_node by_address;
    struct block *next, *previous; /* list of the context's blocks */
    enum block_kind kind;
    unsigned flags;
    uint64_t address, size_bytes; /* size as requested */
    uint64_t id;                  /* unique in this process */
    struct device *device;
    struct context *context;             /* its end frees the block; NULL: no context owns it */
    struct span *span;                   /* device addresses; NULL: host or reserved addresses */
    struct mempool *pool;                /* POOL, and IMPORTED from a pool */
    bool is_host_pool, is_managed_pool;  /* POOL: host memory, or managed memory */
    struct physical *physical;           /* MAPPED */
    uint64_t readers, writers;           /* MAPPED: one bit for each device with access */
    struct graph_allocation *allocation; /* GRAPH */
    struct share_name name;              /* OPENED, and IMPORTED from a pool */
    unsigned open_count;                 /* OPENED */
};

/* Copies the model. NULL: out of memory. */
struct block *block_new(const struct block *model);
void block_delete(struct block *block);
/* The block that starts at this address; NULL: none. */
struct block *block_at(uint64_t address);
/* The block that contains this address; NULL: none. */
struct block *block_containing(uint64_t address);
/* The first block for which is_wanted returns true; NULL: none. */
struct block *block_find_if(bool is_wanted(const struct block *block, const void *data),
                            const void *data);
/* Whether any block overlaps this range. */
bool block_overlaps(uint64_t address, uint64_t size_bytes);

/* Whether the host may read and write the block. */
static inline bool block_is_host(const struct block *block)
{
    return block->kind == BLOCK_MANAGED || block->kind == BLOCK_PINNED ||
           block->kind == BLOCK_REGISTERED || block->is_host_pool || block->is_managed_pool;
}
