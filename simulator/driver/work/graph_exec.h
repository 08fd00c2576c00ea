/* SPDX-License-Identifier: MIT */
/*
 * Executable graphs. They outlive the graphs they were made from. What their nodes do is kept as
 * steps, one after the other. Not thread-safe: the simulator's lock covers them.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_WORK_GRAPH_EXEC_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_WORK_GRAPH_EXEC_H

#include "graph.h"
#include "simulator/driver/memory/graph_memory.h"

/* What a launch does with memory and with the program's own functions, in this order. */
struct graph_step {
    CUgraphNodeType type; /* MEM_ALLOC, MEM_FREE, HOST */
    struct graph_allocation *allocation;
    CUDA_HOST_NODE_PARAMS host;
};

struct graph_exec {
    struct object object;
    struct graph *graph; /* NULL: gone, or without memory nodes */
    uint64_t flags;
    size_t node_count, step_count, mapping_count;
    struct graph_step *steps;
    struct graph_mapping *mappings; /* one for each device it allocates on */
};

/* NULL: the call's result is set. */
struct graph_exec *graph_exec_of(struct call *call, CUgraphExec handle);
bool graph_step_allocates(const struct graph_step *step);
/* What it needs of a device; NULL: nothing. */
struct graph_mapping *graph_exec_mapping(const struct graph_exec *exec,
                                         const struct device *device);
/* Reserves what it needs of all devices. */
CUresult graph_exec_map(struct graph_exec *exec);
/* The graph goes: its executable one stays and must not look for it. */
void graph_exec_forget(struct graph *graph);

#endif
