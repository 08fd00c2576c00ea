/* SPDX-License-Identifier: MIT */
/*
 * Graphs: nodes in the order in which they were added, each with its dependencies. Only nodes that
 * allocate memory, free memory or call a host function have an effect. Executable graphs are in
 * graph_exec.c, graph memory is in graph_memory.h.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

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
    uint64_t stamp;                        /* graph_stamp() of the last walk that visited it */
    struct graph *child;                   /* GRAPH: its child graph */
    struct graph_allocation *allocation;   /* MEM_ALLOC: its own; MEM_FREE: the one it frees */
    CUDA_MEM_ALLOC_NODE_PARAMS parameters; /* MEM_ALLOC */
    CUDA_HOST_NODE_PARAMS host;            /* HOST */
};

struct graph {
    struct object object;
    struct graph_node *first, *last;
    size_t node_count;
    bool has_memory; /* the graph or a child graph has memory nodes */
    bool is_child;   /* destroyed with its node */
    bool is_captured_into;
    struct graph_exec *exec; /* if has_memory: the only executable graph */
};

/* NULL: invalid handle. */
struct graph *graph_find(CUgraph handle);
struct graph_node *graph_node_find(CUgraphNode handle);
/* The graph of a call's argument. NULL: the call's result is set. */
struct graph *graph_of(struct call *call, CUgraph handle);
struct graph_node *graph_node_of(struct call *call, CUgraphNode handle);

/* NULL: out of memory. */
struct graph *graph_new(void);
void graph_delete(struct graph *graph);
CUresult graph_copy(const struct graph *graph, struct graph **copy);

/* An array of nodes; a node's handle is its address. */
struct graph_nodes {
    struct graph_node *const *items;
    size_t count;
};

/* Adds the node that the parameters describe; for an allocation, writes its address into them. */
CUresult graph_add(struct graph *graph, struct graph_nodes dependencies,
                   CUgraphNodeParams *parameters, struct graph_node **node);
/* Returns whether all these nodes belong to this graph and none of them is listed twice. */
bool graph_owns(const struct graph *graph, struct graph_nodes nodes);

/* Removes a node and its edges. It must not be used for a graph with memory nodes. */
void graph_remove(struct graph_node *node);
CUresult graph_add_edge(struct graph_node *from, struct graph_node *to);
CUresult graph_remove_edge(struct graph_node *from, struct graph_node *to);

/* Called for each node, including those of child graphs, after all its dependencies. */
typedef CUresult graph_visit(struct graph_node *node, void *data);
CUresult graph_walk(struct graph *graph, graph_visit *visit, void *data);
/* Returns a new number, which no node has as its stamp yet. */
uint64_t graph_stamp(void);
