/* SPDX-License-Identifier: MIT */
/*
 * Instantiating graphs and measuring the memory that they need. See graph_launch.c for launches.
 */
#include "graph_exec.h"

#include <stdlib.h>

#include "gpumemtrace/compiler.h"

#define FLAGS                                                                                      \
    (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |        \
     CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)

void graph_exec_forget(struct graph *graph)
{
    if (graph->exec)
        graph->exec->graph = NULL;
}

/* --- instantiation --- */

static CUresult add_step(struct graph_node *node, void *data)
{
    struct graph_exec *exec = data;
    exec->node_count++;
    if (!node->allocation && !node->host.fn)
        return CUDA_SUCCESS;
    void *more = realloc(exec->steps, (exec->step_count + 1) * sizeof *exec->steps);
    if (!more)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->steps = more;
    exec->steps[exec->step_count++] = (struct graph_step){node->type, node->allocation, node->host};
    if (node->allocation)
        graph_allocation_retain(node->allocation);
    return CUDA_SUCCESS;
}

struct graph_mapping *graph_exec_mapping(const struct graph_exec *exec, const struct device *device)
{
    for (size_t i = 0; i < exec->mapping_count; i++)
        if (exec->mappings[i].device == device)
            return &exec->mappings[i];
    return NULL;
}

bool graph_step_allocates(const struct graph_step *step)
{
    return step->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
}

/* Allocates the mappings of all devices in one array, because graph_memory.c keeps pointers to
 * them. */
static CUresult add_mappings(struct graph_exec *exec)
{
    exec->mappings = calloc((size_t)device_count(), sizeof *exec->mappings);
    if (!exec->mappings)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < exec->step_count; i++) {
        struct device *device =
            graph_step_allocates(&exec->steps[i]) ? exec->steps[i].allocation->block->device : NULL;
        if (!device || graph_exec_mapping(exec, device))
            continue;
        exec->mappings[exec->mapping_count].device = device;
        graph_mapping_add(&exec->mappings[exec->mapping_count++]);
    }
    return CUDA_SUCCESS;
}

/* Measures the peak of the graph's own live allocations over its steps; freed memory is reused. */
static void mapping_measure(const struct graph_exec *exec, struct graph_mapping *mapping)
{
    uint64_t held_bytes = 0;
    for (size_t i = 0; i < exec->step_count; i++) {
        struct graph_allocation *allocation = exec->steps[i].allocation;
        if (!allocation || allocation->block->device != mapping->device)
            continue;
        if (graph_step_allocates(&exec->steps[i])) {
            allocation->mapping = mapping;
            held_bytes += allocation->held_bytes;
            if (allocation->is_live)
                mapping->live_bytes += allocation->held_bytes;
        } else if (allocation->mapping == mapping) {
            held_bytes -= allocation->held_bytes;
        }
        if (held_bytes > mapping->peak_bytes)
            mapping->peak_bytes = held_bytes;
    }
}

static void exec_delete(struct graph_exec *exec)
{
    for (size_t i = 0; i < exec->mapping_count; i++)
        graph_mapping_remove(&exec->mappings[i]);
    for (size_t i = 0; i < exec->step_count; i++) {
        struct graph_allocation *allocation = exec->steps[i].allocation;
        if (!allocation)
            continue;
        if (graph_step_allocates(&exec->steps[i]))
            allocation->mapping = NULL;
        graph_allocation_release(allocation);
    }
    if (exec->graph)
        exec->graph->exec = NULL;
    free(exec->mappings);
    free(exec->steps);
    object_delete(exec);
}

CUresult graph_exec_map(struct graph_exec *exec)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < exec->mapping_count && !result; i++)
        result = graph_mapping_map(&exec->mappings[i]);
    return result;
}

static CUresult exec_new(struct graph *graph, uint64_t flags, struct graph_exec **result)
{
    if (flags & ~(uint64_t)FLAGS || graph->exec || graph->is_child || graph->is_captured_into ||
        (graph->has_memory && flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH))
        return CUDA_ERROR_INVALID_VALUE;
    struct graph_exec *exec = object_new(OBJECT_GRAPH_EXEC, NULL, sizeof *exec);
    if (!exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->flags = flags;
    CUresult code = graph_walk(graph, add_step, exec);
    if (!code)
        code = add_mappings(exec);
    for (size_t i = 0; i < exec->mapping_count; i++)
        mapping_measure(exec, &exec->mappings[i]);
    if (!code && flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
        code = graph_exec_map(exec);
    if (code) {
        exec_delete(exec);
        return code;
    }
    if (graph->has_memory) {
        exec->graph = graph;
        graph->exec = exec;
    }
    *result = exec;
    return CUDA_SUCCESS;
}

struct graph_exec *graph_exec_of(struct call *call, CUgraphExec handle)
{
    struct graph_exec *exec = object_find(handle, OBJECT_GRAPH_EXEC);
    call_requires(call, exec != NULL);
    return exec;
}

static CUresult exec_instantiate(const char *function, CUgraphExec *handle, CUgraph graph_handle,
                                 uint64_t flags)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT)) {
        struct graph *graph = graph_find(graph_handle);
        struct graph_exec *exec = NULL;
        if (call_requires(&call, handle && graph))
            call.result = exec_new(graph, flags, &exec);
        if (exec)
            *handle = (CUgraphExec)(void *)exec;
    }
    return call_end(&call);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    return exec_instantiate(__func__, exec, graph, flags);
}

/* The early versions of the function also return the node that failed and a log. Here both are
 * always empty. */
static CUresult exec_instantiate_early(const char *function, CUgraphExec *exec, CUgraph graph,
                                       CUgraphNode *error_node, char *log, size_t log_bytes)
{
    if (error_node)
        *error_node = NULL;
    if (log && log_bytes)
        *log = '\0';
    return exec_instantiate(function, exec, graph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                            size_t log_bytes)
{
    return exec_instantiate_early(__func__, exec, graph, error_node, log, log_bytes);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                               size_t log_bytes)
{
    return exec_instantiate_early(__func__, exec, graph, error_node, log, log_bytes);
}

static CUresult do_cuGraphInstantiateWithParams(const char *function, CUgraphExec *exec,
                                                CUgraph graph,
                                                CUDA_GRAPH_INSTANTIATE_PARAMS *parameters)
{
    if (!parameters)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = exec_instantiate(function, exec, graph, parameters->flags);
    parameters->hErrNode_out = NULL;
    parameters->result_out = result ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return result;
}

TWIN(_ptsz, cuGraphInstantiateWithParams,
     (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters), exec, graph,
     parameters)

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, flags != NULL)) {
        const struct graph_exec *exec = graph_exec_of(&call, handle);
        if (exec)
            *flags = exec->flags;
    }
    return call_end(&call);
}

CUresult cuGraphExecDestroy(CUgraphExec handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct graph_exec *exec = graph_exec_of(&call, handle);
        if (exec)
            exec_delete(exec);
    }
    return call_end(&call);
}

static CUresult count_node(GMT_UNUSED struct graph_node *node, void *data)
{
    ++*(size_t *)data;
    return CUDA_SUCCESS;
}

/* Compares nodes by position. Memory nodes cannot be updated. */
static CUgraphExecUpdateResult exec_compare(const struct graph_exec *exec, struct graph *graph)
{
    size_t node_count = 0;
    if (graph->has_memory || exec->mapping_count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    if (graph_walk(graph, count_node, &node_count) || node_count != exec->node_count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUresult exec_update(const char *function, CUgraphExec handle, CUgraph graph_handle,
                            CUgraphExecUpdateResult *result)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT)) {
        const struct graph_exec *exec = graph_exec_of(&call, handle);
        struct graph *graph = graph_find(graph_handle);
        if (exec && call_requires(&call, graph && result)) {
            *result = exec_compare(exec, graph);
            if (*result)
                call.result = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
        }
    }
    return call_end(&call);
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
                           CUgraphExecUpdateResult *result)
{
    if (error_node)
        *error_node = NULL;
    return exec_update(__func__, exec, graph, result);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result)
{
    if (result)
        result->errorNode = result->errorFromNode = NULL;
    return exec_update(__func__, exec, graph, result ? &result->result : NULL);
}
