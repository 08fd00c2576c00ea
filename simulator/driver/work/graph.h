/* SPDX-License-Identifier: MIT */
/*
 * Graphs as the rest of the simulator sees them: nodes in the order they were added, each with the
 * nodes it waits for. What a node does matters only where memory or the program's own functions are
 * concerned. Executable graphs are in graph_exec.c, the memory of nodes in graph_memory.h.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_WORK_GRAPH_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_WORK_GRAPH_H

#include "simulator/driver/machine/call.h"
#include "simulator/driver/machine/object.h"

struct graph_allocation;
struct graph_exec;

struct graph_node {
    struct object object;
    struct graph *graph;
    struct graph_node *next;
    CUgraphNodeType type;
    struct graph_node **dependencies;
    size_t dependency_count;
    uint64_t stamp;                        /* of the last walk that met it: graph_stamp() */
    struct graph *child;                   /* GRAPH: its own */
    struct graph_allocation *allocation;   /* MEM_ALLOC: its own; MEM_FREE: what it frees */
    CUDA_MEM_ALLOC_NODE_PARAMS parameters; /* MEM_ALLOC */
    CUDA_HOST_NODE_PARAMS host;            /* HOST */
};

struct graph {
    struct object object;
    struct graph_node *first, *last;
    size_t node_count;
    bool has_memory; /* a node that allocates or frees, here or in a child */
    bool is_child;   /* goes with its node */
    bool is_captured_into;
    struct graph_exec *exec; /* with memory nodes there is no second one */
};

/* NULL: no such graph, or no such node. */
struct graph *graph_find(CUgraph handle);
struct graph_node *graph_node_find(CUgraphNode handle);
/* The same for a call, whose result is then set. */
struct graph *graph_of(struct call *call, CUgraph handle);
struct graph_node *graph_node_of(struct call *call, CUgraphNode handle);

/* NULL: no host memory. */
struct graph *graph_new(void);
void graph_delete(struct graph *graph);
CUresult graph_copy(const struct graph *graph, struct graph **copy);

/* Nodes to wait for: an array of theirs, or of handles, which are the same. */
struct graph_nodes {
    struct graph_node *const *items;
    size_t count;
};

/* Adds the node that the parameters describe; an allocation's address is written into them. */
CUresult graph_add(struct graph *graph, struct graph_nodes dependencies,
                   CUgraphNodeParams *parameters, struct graph_node **node);
/* All of them are nodes of this graph, and no two are the same. */
bool graph_owns(const struct graph *graph, struct graph_nodes nodes);

/* Takes a node out, and with it all edges from and to it. Not where there are memory nodes. */
void graph_remove(struct graph_node *node);
CUresult graph_add_edge(struct graph_node *from, struct graph_node *to);
CUresult graph_remove_edge(struct graph_node *from, struct graph_node *to);

/* Calls back for each node, those of children too, after all that it waits for. */
typedef CUresult graph_visit(struct graph_node *node, void *data);
CUresult graph_walk(struct graph *graph, graph_visit *visit, void *data);
/* A number that no node has been stamped with. */
uint64_t graph_stamp(void);

#endif
