/* SPDX-License-Identifier: MIT */
/*
 * Executable graphs, which outlive the graph that they were instantiated from. An executable graph
 * keeps its nodes as a sequence of steps. Not thread-safe: the simulator's lock covers them.
 */
#pragma once

#include "graph.h"
#include "simulator/driver/memory/graph_memory.h"

/* One step of a launch: an allocation, a free or a call of a host function. */
struct graph_step {
    CUgraphNodeType type; /* MEM_ALLOC, MEM_FREE, HOST */
    struct graph_allocation *allocation;
    CUDA_HOST_NODE_PARAMS host;
};

struct graph_exec {
    struct object object;
    struct graph *graph; /* NULL: destroyed, or without memory nodes */
    uint64_t flags;
    size_t node_count, step_count, mapping_count;
    struct graph_step *steps;
    struct graph_mapping *mappings; /* one for each device that the graph allocates on */
};

/* NULL: the call's result is set. */
struct graph_exec *graph_exec_of(struct call *call, CUgraphExec handle);
bool graph_step_allocates(const struct graph_step *step);
/* The memory that the executable graph needs of a device; NULL: none. */
struct graph_mapping *graph_exec_mapping(const struct graph_exec *exec,
                                         const struct device *device);
/* Reserves the memory that the executable graph needs, on all devices. */
CUresult graph_exec_map(struct graph_exec *exec);
/* Call it when the graph is destroyed. The executable graph stays valid. */
void graph_exec_forget(struct graph *graph);
