/* SPDX-License-Identifier: MIT */
/*
 * API functions of contexts. See context.h.
 */
#include "simulator/driver/machine/call.h"
#include "gpumemtrace/compiler.h"
#include "simulator/driver/memory/mempool.h"
#include "simulator/driver/machine/progress.h"

static CUcontext handle_of(struct context *context)
{
    return (CUcontext)(void *)context;
}

/* Returns the context with this handle. If there is none, sets the call's result and returns
 * NULL. */
static struct context *context_of(struct call *call, CUcontext handle)
{
    struct context *context = context_find(handle);
    if (!context)
        call->result = CUDA_ERROR_INVALID_CONTEXT;
    return context;
}

/* --- primary contexts --- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, handle != NULL)) {
        struct device *device = call_device(&call, ordinal);
        struct context *context;
        if (device)
            call.result = context_retain_primary(device, &context);
        if (!call.result)
            *handle = handle_of(context);
    }
    return call_end(&call);
}

static CUresult primary_release(const char *function, CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT)) {
        struct device *device = call_device(&call, ordinal);
        if (device)
            call.result = context_release_primary(device);
    }
    return call_end(&call);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal)
{
    return primary_release(__func__, ordinal);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal)
{
    return primary_release(__func__, ordinal);
}

static CUresult primary_reset(const char *function, CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT)) {
        struct device *device = call_device(&call, ordinal);
        if (device)
            context_reset_primary(device);
    }
    return call_end(&call);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal)
{
    return primary_reset(__func__, ordinal);
}

CUresult cuDevicePrimaryCtxReset(CUdevice ordinal)
{
    return primary_reset(__func__, ordinal);
}

static CUresult set_flags(const char *function, CUdevice ordinal, unsigned flags)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT) &&
        call_requires(&call, !(flags & ~(unsigned)CU_CTX_FLAGS_MASK))) {
        const struct device *device = call_device(&call, ordinal);
        if (device && device->primary)
            device->primary->flags = flags;
    }
    return call_end(&call);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned int flags)
{
    return set_flags(__func__, ordinal, flags);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned int flags)
{
    return set_flags(__func__, ordinal, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int *flags, int *active)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, flags && active)) {
        const struct device *device = call_device(&call, ordinal);
        if (device) {
            *flags = device->primary ? device->primary->flags : 0;
            *active = device->primary && device->primary->alive;
        }
    }
    return call_end(&call);
}

/* --- contexts that the program creates --- */

static CUresult own_context_create(const char *function, CUcontext *handle, unsigned flags,
                                   CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT) &&
        call_requires(&call, handle && !(flags & ~(unsigned)CU_CTX_FLAGS_MASK))) {
        struct device *device = call_device(&call, ordinal);
        struct context *context;
        if (device)
            call.result = context_create(device, flags, &context);
        if (!call.result)
            *handle = handle_of(context);
    }
    return call_end(&call);
}

CUresult cuCtxCreate_v2(CUcontext *handle, unsigned int flags, CUdevice ordinal)
{
    return own_context_create(__func__, handle, flags, ordinal);
}

CUresult cuCtxCreate(CUcontext *handle, unsigned int flags, CUdevice ordinal)
{
    return own_context_create(__func__, handle, flags, ordinal);
}

CUresult cuCtxCreate_v3(CUcontext *handle, CUexecAffinityParam *affinity, int affinity_count,
                        unsigned int flags, CUdevice ordinal)
{
    if (affinity || affinity_count)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return own_context_create(__func__, handle, flags, ordinal);
}

CUresult cuCtxCreate_v4(CUcontext *handle, CUctxCreateParams *settings, unsigned int flags,
                        CUdevice ordinal)
{
    if (settings && settings->execAffinityParams && settings->cigParams)
        return CUDA_ERROR_INVALID_VALUE;
    if (settings && settings->cigParams)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (settings && settings->execAffinityParams)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return own_context_create(__func__, handle, flags, ordinal);
}

static CUresult own_context_destroy(const char *function, CUcontext handle)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT)) {
        struct context *context = context_of(&call, handle);
        if (context && context == context->device->primary)
            call.result = CUDA_ERROR_INVALID_CONTEXT;
        else if (context)
            context_destroy(context);
    }
    return call_end(&call);
}

CUresult cuCtxDestroy_v2(CUcontext handle)
{
    return own_context_destroy(__func__, handle);
}

CUresult cuCtxDestroy(CUcontext handle)
{
    return own_context_destroy(__func__, handle);
}

/* --- current contexts --- */

static CUresult stack_push(const char *function, CUcontext handle)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT)) {
        struct context *context = context_of(&call, handle);
        if (context)
            call.result = context_push(context);
    }
    return call_end(&call);
}

CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
    return stack_push(__func__, handle);
}

CUresult cuCtxPushCurrent(CUcontext handle)
{
    return stack_push(__func__, handle);
}

static CUresult stack_pop(const char *function, CUcontext *handle)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT)) {
        struct context *context = context_pop();
        if (!context)
            call.result = CUDA_ERROR_INVALID_CONTEXT;
        else if (handle)
            *handle = handle_of(context);
    }
    return call_end(&call);
}

CUresult cuCtxPopCurrent_v2(CUcontext *handle)
{
    return stack_pop(__func__, handle);
}

CUresult cuCtxPopCurrent(CUcontext *handle)
{
    return stack_pop(__func__, handle);
}

CUresult cuCtxSetCurrent(CUcontext handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct context *context = handle ? context_of(&call, handle) : NULL;
        if (!call.result)
            call.result = context_set(context);
    }
    return call_end(&call);
}

CUresult cuCtxGetCurrent(CUcontext *handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, handle != NULL))
        *handle = handle_of(context_current());
    return call_end(&call);
}

CUresult cuCtxGetDevice(CUdevice *ordinal)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, ordinal != NULL))
        *ordinal = call.context->device->ordinal;
    return call_end(&call);
}

/* Returns the context of a call in CUDA 13 that has a context parameter. A NULL handle means the
 * current context. */
static struct context *named_or_current(struct call *call, CUcontext handle)
{
    struct context *context = handle ? context_find(handle) : context_current();
    if (!context || !context->alive)
        call->result = CUDA_ERROR_INVALID_CONTEXT;
    return call->result ? NULL : context;
}

CUresult cuCtxGetDevice_v2(CUdevice *ordinal, CUcontext handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, ordinal != NULL)) {
        const struct context *context = named_or_current(&call, handle);
        if (context)
            *ordinal = context->device->ordinal;
    }
    return call_end(&call);
}

CUresult cuCtxSynchronize(void)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE)) {
        progress_wait_for_context(call.context);
        mempool_synchronize();
    }
    return call_end(&call);
}

CUresult cuCtxSynchronize_v2(CUcontext handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct context *context = named_or_current(&call, handle);
        if (context) {
            progress_wait_for_context(context);
            mempool_synchronize();
        }
    }
    return call_end(&call);
}
