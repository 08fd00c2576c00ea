/* SPDX-License-Identifier: MIT */
/*
 * Every live allocation the API knows by an address, on whichever side: where it is, how large,
 * whose. Arrays, which have a handle instead, are blocks without an entry by address. It must not
 * decide where memory comes from.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_BLOCK_H
#define GPUMEMTRACE_SIMULATOR_BLOCK_H

#include "device.h"

enum block_kind {
    BLOCK_LINEAR,     /* cuMemAlloc, cuMemAllocPitch */
    BLOCK_ARRAY,      /* no address */
    BLOCK_MANAGED,    /* host memory that the device may use; not charged to it */
    BLOCK_PINNED,     /* cuMemHostAlloc */
    BLOCK_REGISTERED, /* the program's own memory */
    BLOCK_POOL,       /* cuMemAllocAsync */
    BLOCK_MAPPED,     /* cuMemMap */
    BLOCK_GRAPH       /* an allocation node's: addresses always, memory while it is live */
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
    struct context *context;             /* it ends with this one; NULL: with none */
    struct span *span;                   /* LINEAR, ARRAY, POOL, GRAPH */
    struct pool *pool;                   /* POOL */
    struct physical *physical;           /* MAPPED */
    uint64_t readers, writers;           /* MAPPED: a bit for each device with access */
    struct graph_allocation *allocation; /* GRAPH */
};

/* A copy of the model; NULL: no host memory. */
struct block *block_new(const struct block *model);
void block_delete(struct block *block);
/* The block that starts here; NULL: none. */
struct block *block_at(uint64_t address);
/* The block this address lies in; NULL: none. */
struct block *block_containing(uint64_t address);
/* Does any block share an address with this range? */
bool block_overlaps(uint64_t address, uint64_t size_bytes);

/* May the host read and write it? */
static inline bool block_is_host(const struct block *block)
{
    return block->kind == BLOCK_MANAGED || block->kind == BLOCK_PINNED ||
           block->kind == BLOCK_REGISTERED;
}

#endif
