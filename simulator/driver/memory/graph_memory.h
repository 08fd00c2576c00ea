/* SPDX-License-Identifier: MIT */
/*
 * Memory of graphs. An allocation node has an address from creation on, but has memory only from
 * its launch until it is freed. All graphs of a device share the reserved memory: launches reuse it
 * until it is trimmed.
 *
 *     reserved   charged to the device; grows at launches and uploads, shrinks by trimming only
 *     used       live allocations, and beside them the most that a mapped executable graph needs
 *     live       allocated by a launch and not freed yet
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "simulator/driver/machine/block.h"

struct graph;

/* The memory that an executable graph needs of one device while it runs. */
struct graph_mapping {
    struct graph_mapping *next; /* list of the device's mappings */
    struct device *device;
    uint64_t peak_bytes, live_bytes; /* live: allocations of this graph that are live */
    bool is_mapped;                  /* launched or uploaded since the last trim */
};

struct graph_allocation {
    struct block *block;
    uint64_t held_bytes;
    unsigned reference_count;      /* by the node, by executable graphs, and by 1 while live */
    struct graph *owner;           /* NULL: the graph was destroyed */
    struct graph_mapping *mapping; /* mapping of the graph's executable graph; NULL: none */
    bool is_live, is_freed_inside, is_freed_outside;
};

/* Creates an allocation with one reference, which its node owns. */
CUresult graph_allocation_new(const CUDA_MEM_ALLOC_NODE_PARAMS *parameters, struct graph *owner,
                              struct graph_allocation **allocation);
void graph_allocation_retain(struct graph_allocation *allocation);
void graph_allocation_release(struct graph_allocation *allocation);
/* The graph allocation that starts at this address; NULL: none. */
struct graph_allocation *graph_allocation_at(uint64_t address);
/* The first function makes an allocation live in reserved memory; the second ends it. */
void graph_allocation_begin(struct graph_allocation *allocation);
void graph_allocation_end(struct graph_allocation *allocation);
/* Frees a graph's block for cuMemFree. Returns false if the block is not live. */
bool graph_memory_free_block(struct block *block);

void graph_mapping_add(struct graph_mapping *mapping);
void graph_mapping_remove(struct graph_mapping *mapping);
/* Reserves the mapping's peak in addition to all other live allocations. */
CUresult graph_mapping_map(struct graph_mapping *mapping);
