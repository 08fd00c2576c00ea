/* SPDX-License-Identifier: MIT */
/*
 * Launching executable graphs. Like all work, a launch is done when the call returns. Nodes that
 * copy, fill or run a kernel only advance the simulated clock.
 */
#include <stdlib.h>

#include "capture.h"
#include "graph_exec.h"
#include "simulator/driver/machine/contents.h"
#include "stream.h"

static bool is_own(const struct graph_exec *exec, const struct graph_allocation *allocation)
{
    return allocation->mapping &&
           allocation->mapping == graph_exec_mapping(exec, allocation->block->device);
}

/* Fails if an allocation of an earlier launch is still live, unless the graph frees on launch. Also
 * fails if the graph frees an allocation of another graph that is not live. */
static CUresult check_lives(const struct graph_exec *exec)
{
    const bool frees_first = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    for (size_t i = 0; i < exec->step_count; i++) {
        const struct graph_allocation *allocation = exec->steps[i].allocation;
        if (!allocation)
            continue;
        if (graph_step_allocates(&exec->steps[i]) && allocation->is_live && !frees_first)
            return CUDA_ERROR_INVALID_VALUE;
        if (!graph_step_allocates(&exec->steps[i]) && !allocation->is_live &&
            !is_own(exec, allocation))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static void free_earlier(const struct graph_exec *exec)
{
    for (size_t i = 0; i < exec->step_count; i++)
        if (graph_step_allocates(&exec->steps[i]) && exec->steps[i].allocation->is_live)
            graph_allocation_end(exec->steps[i].allocation);
}

static CUresult exec_run(struct graph_exec *exec)
{
    CUresult result = check_lives(exec);
    if (result)
        return result;
    result = graph_exec_map(exec);
    if (result)
        return result;
    free_earlier(exec);
    for (size_t i = 0; i < exec->step_count; i++) {
        const struct graph_step *step = &exec->steps[i];
        if (graph_step_allocates(step))
            graph_allocation_begin(step->allocation);
        else if (step->allocation)
            graph_allocation_end(step->allocation);
    }
    stream_work(exec->node_count * WORK_LAUNCH_NS);
    contents_forget_all();
    return CUDA_SUCCESS;
}

/* Makes a list of the host functions, so that the caller can call them without the lock. */
static CUresult list_functions(const struct graph_exec *exec, CUDA_HOST_NODE_PARAMS **list,
                               size_t *count)
{
    *list = calloc(exec->step_count + 1, sizeof **list);
    if (!*list)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < exec->step_count; i++)
        if (exec->steps[i].host.fn)
            (*list)[(*count)++] = exec->steps[i].host;
    return CUDA_SUCCESS;
}

/* Returns false if the launch has become a node of a capture, or if the call has failed and its
 * result is set. Such a node does not keep the steps of the launched graph. */
static bool is_due(struct call *call, const struct graph_exec *exec, CUstream stream)
{
    CUgraphNodeParams work = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return capture_lets_through(call, stream, exec->graph ? NULL : &work);
}

static CUresult do_cuGraphLaunch(const char *function, CUgraphExec handle, CUstream stream)
{
    struct call call;
    CUDA_HOST_NODE_PARAMS *functions = NULL;
    size_t function_count = 0;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream)) {
        struct graph_exec *exec = graph_exec_of(&call, handle);
        if (!exec || !is_due(&call, exec, stream))
            goto out;
        call.result = list_functions(exec, &functions, &function_count);
        if (!call.result)
            call.result = exec_run(exec);
    }
out:;
    const CUresult result = call_end(&call);
    call_host_begin();
    for (size_t i = 0; !result && i < function_count; i++)
        functions[i].fn(functions[i].userData);
    call_host_end();
    free(functions);
    return result;
}

static CUresult do_cuGraphUpload(const char *function, CUgraphExec handle, CUstream stream)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream)) {
        struct graph_exec *exec = graph_exec_of(&call, handle);
        if (exec)
            call.result = graph_exec_map(exec);
    }
    return call_end(&call);
}

TWIN(_ptsz, cuGraphLaunch, (CUgraphExec exec, CUstream stream), exec, stream)
TWIN(_ptsz, cuGraphUpload, (CUgraphExec exec, CUstream stream), exec, stream)
