/* SPDX-License-Identifier: MIT */
/*
 * Executable graphs, and the graph memory of a device. The runtime's handles are the driver's
 * handles.
 */
#include "call.h"
#include "context.h"
#include "only_here.h"

/* --- executable graphs --- */

static cudaError_t exec_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                    unsigned long long flags)
{
    return error_of_driver(call_driver()->cuGraphInstantiateWithFlags(exec, graph, flags));
}

GMT_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                            unsigned long long flags)
{
    return CALL(NEEDS_CONTEXT, exec_instantiate(exec, graph, flags));
}

GMT_EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                     unsigned long long flags)
{
    return CALL(NEEDS_CONTEXT, exec_instantiate(exec, graph, flags));
}

static cudaError_t instantiate_with(enum stream_form form, cudaGraphExec_t *exec, cudaGraph_t graph,
                                    cudaGraphInstantiateParams *parameters)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS converted = {parameters->flags, parameters->uploadStream, NULL,
                                               CUDA_GRAPH_INSTANTIATE_SUCCESS};
    const cudaError_t error =
        error_of_driver(call_driver()->cuGraphInstantiateWithParams[form](exec, graph, &converted));
    parameters->errNode_out = converted.hErrNode_out;
    parameters->result_out = (cudaGraphInstantiateResult)converted.result_out;
    return error;
}

TWIN(_ptsz, cudaGraphInstantiateWithParams,
     (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *parameters),
     NEEDS_CONTEXT, CALL_UNLESS_NULL(parameters, instantiate_with(form, exec, graph, parameters)))

static cudaError_t get_flags(cudaGraphExec_t exec, unsigned long long *flags)
{
    cuuint64_t answer;
    const cudaError_t error = error_of_driver(call_driver()->cuGraphExecGetFlags(exec, &answer));
    if (error == cudaSuccess)
        *flags = answer;
    return error;
}

GMT_EXPORT cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(flags, get_flags(exec, flags)));
}

static cudaError_t exec_update(cudaGraphExec_t exec, cudaGraph_t graph,
                               CUgraphExecUpdateResultInfo *result)
{
    return error_of_driver(call_driver()->cuGraphExecUpdate_v2(exec, graph, result));
}

_Static_assert(sizeof(CUgraphExecUpdateResultInfo) == 24, "the runtime's has the same members");

GMT_EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, void *result)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(result, exec_update(exec, graph, result)));
}

GMT_EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuGraphExecDestroy(exec)));
}

TWIN(_ptsz, cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuGraphUpload[form](exec, stream)))
TWIN(_ptsz, cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuGraphLaunch[form](exec, stream)))

/* --- graph memory of a device --- */

static cudaError_t trim(int ordinal)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error : error_of_driver(call_driver()->cuDeviceGraphMemTrim(device));
}

GMT_EXPORT cudaError_t cudaDeviceGraphMemTrim(int device)
{
    return CALL(NEEDS_DEVICES, trim(device));
}

typedef CUresult exchange_attribute(CUdevice device, CUgraphMem_attribute attribute, void *value);

static cudaError_t attribute_exchange(exchange_attribute *function, int ordinal,
                                      enum cudaGraphMemAttributeType attribute, void *value)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error
                 : error_of_driver(function(device, (CUgraphMem_attribute)attribute, value));
}

GMT_EXPORT cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                                      enum cudaGraphMemAttributeType attribute,
                                                      void *value)
{
    return CALL(NEEDS_DEVICES, attribute_exchange(call_driver()->cuDeviceGetGraphMemAttribute,
                                                  device, attribute, value));
}

GMT_EXPORT cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                                      enum cudaGraphMemAttributeType attribute,
                                                      void *value)
{
    return CALL(NEEDS_DEVICES, attribute_exchange(call_driver()->cuDeviceSetGraphMemAttribute,
                                                  device, attribute, value));
}
