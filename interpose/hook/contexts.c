/* SPDX-License-Identifier: MIT */
/*
 * The hooks of calls that may or may not begin or end a context: the primary one is counted, and
 * an attached one too. Whether it did is asked of the driver around the real call.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hooked_call.h"
#include "interpose/cuda/device.h"
#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "interpose/lookup/resolve.h"

GMT_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    typedef CUresult real_function(CUcontext * context, CUdevice device);
    real_function *real = GMT_FUNCTION(
        real_function *, resolve_hook(HOOK_cuDevicePrimaryCtxRetain, GMT_CALLER_ADDRESS()));
    struct hooked_call call;
    if (!real)
        return CUDA_ERROR_NOT_FOUND;
    if (!device_primary_inactive(device) ||
        !hooked_call_begin(&call, HOOK_cuDevicePrimaryCtxRetain, EVENT_CONTEXT_CREATE, MEMORY_NONE))
        return real(context, device);
    const CUresult status = real(context, device);
    hooked_call_after(
        &call,
        &(struct event_args){.kind = EVENT_CONTEXT_CREATE,
                             .device = device,
                             .object = status == 0 ? (uint64_t)(uintptr_t)*context : 0},
        (int)status);
    return status;
}

/* Only the last release ends the primary context and frees what lived in it; after a reset there is
 * nothing left to end. */
#define RELEASE(name)                                                                              \
    GMT_EXPORT CUresult name(CUdevice device);                                                     \
    CUresult name(CUdevice device)                                                                 \
    {                                                                                              \
        typedef CUresult real_function(CUdevice device);                                           \
        real_function *real =                                                                      \
            GMT_FUNCTION(real_function *, resolve_hook(HOOK_##name, GMT_CALLER_ADDRESS()));        \
        struct hooked_call call;                                                                   \
        if (!real)                                                                                 \
            return CUDA_ERROR_NOT_FOUND;                                                           \
        if (device_primary_inactive(device) ||                                                     \
            !hooked_call_begin(&call, HOOK_##name, EVENT_CONTEXT_DESTROY, MEMORY_NONE))            \
            return real(device);                                                                   \
        hooked_call_before(&call,                                                                  \
                           &(struct event_args){.kind = EVENT_CONTEXT_DESTROY, .device = device}); \
        const CUresult status = real(device);                                                      \
        hooked_call_finish(&call, (int)status, status == 0 && device_primary_inactive(device));    \
        return status;                                                                             \
    }

RELEASE(cuDevicePrimaryCtxRelease)
RELEASE(cuDevicePrimaryCtxRelease_v2)

/* The old way: cuCtxAttach counts up, and the last cuCtxDetach is a destroy. */
GMT_EXPORT CUresult cuCtxDetach(CUcontext context)
{
    typedef CUresult real_function(CUcontext context);
    real_function *real =
        GMT_FUNCTION(real_function *, resolve_hook(HOOK_cuCtxDetach, GMT_CALLER_ADDRESS()));
    struct hooked_call call;
    if (!real)
        return CUDA_ERROR_NOT_FOUND;
    if (!hooked_call_begin(&call, HOOK_cuCtxDetach, EVENT_CONTEXT_DESTROY, MEMORY_NONE))
        return real(context);
    hooked_call_before(&call, &(struct event_args){.kind = EVENT_CONTEXT_DESTROY,
                                                   .device = DEVICE_BY_ADDRESS,
                                                   .object = (uint64_t)(uintptr_t)context});
    const CUresult status = real(context);
    hooked_call_finish(&call, (int)status, status == 0 && !device_context_exists(context));
    return status;
}
