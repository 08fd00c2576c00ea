/* SPDX-License-Identifier: MIT */
/*
 * Settings of the current context. A limit may take memory. Other settings have no effect.
 */
#include "simulator/driver/machine/call.h"
#include "gpumemtrace/compiler.h"

CUresult cuCtxGetFlags(unsigned int *flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, flags != NULL))
        *flags = call.context->flags;
    return call_end(&call);
}

CUresult cuCtxSetFlags(unsigned int flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT))
        call.context->flags = flags;
    return call_end(&call);
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, id != NULL)) {
        const struct context *context = handle ? context_find(handle) : context_current();
        if (context)
            *id = context->id;
        else
            call.result = CUDA_ERROR_INVALID_CONTEXT;
    }
    return call_end(&call);
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, version != NULL)) {
        if (handle ? context_find(handle) : context_current())
            *version = 3020;
        else
            call.result = CUDA_ERROR_INVALID_CONTEXT;
    }
    return call_end(&call);
}

/* CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH exists only below compute capability 9.0. */
static bool is_limit(CUlimit limit)
{
    return (int)limit >= 0 && limit <= CU_LIMIT_PERSISTING_L2_CACHE_SIZE &&
           (limit != CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH || device_spec()->capability_major < 9);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT)) {
        call.result = is_limit(limit) ? context_set_limit(call.context, limit, value)
                                      : CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    return call_end(&call);
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, value != NULL)) {
        if (is_limit(limit))
            *value = call.context->limits[limit];
        else
            call.result = CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    return call_end(&call);
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, config != NULL))
        *config = call.context->cache_config;
    return call_end(&call);
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT))
        call.context->cache_config = config;
    return call_end(&call);
}

/* Returns the peer context with this handle. If there is none, sets the call's result and returns
 * NULL. */
static struct context *find_peer(struct call *call, CUcontext handle)
{
    struct context *peer = context_find(handle);
    if (!peer)
        call->result = CUDA_ERROR_INVALID_CONTEXT;
    return peer;
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, !flags)) {
        const struct context *peer = find_peer(&call, handle);
        const uint64_t bit = peer ? (uint64_t)1 << peer->device->ordinal : 0;
        if (peer && peer->device == call.context->device)
            call.result = CUDA_ERROR_INVALID_DEVICE;
        else if (call.context->peers & bit)
            call.result = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
        else
            call.context->peers |= bit;
    }
    return call_end(&call);
}

CUresult cuCtxDisablePeerAccess(CUcontext handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT)) {
        const struct context *peer = find_peer(&call, handle);
        const uint64_t bit = peer ? (uint64_t)1 << peer->device->ordinal : 0;
        if (peer && !(call.context->peers & bit))
            call.result = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
        else
            call.context->peers &= ~bit;
    }
    return call_end(&call);
}

CUresult cuProfilerStart(void)
{
    struct call call;
    call_begin(&call, __func__, CALL_NEEDS_CONTEXT);
    return call_end(&call);
}

CUresult cuProfilerStop(void)
{
    struct call call;
    call_begin(&call, __func__, CALL_NEEDS_CONTEXT);
    return call_end(&call);
}
