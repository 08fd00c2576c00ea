/* SPDX-License-Identifier: MIT */
/*
 * The hooks of calls that may begin or end a context. The driver counts references to a primary
 * context and to an attached context. So these hooks ask the driver before and after the real call
 * whether the context began or ended.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hooked_call.h"
#include "interpose/cuda/device.h"
#include "prologue.h"

/* clang-format off */
HOOK_FUNCTION(driver, cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device),
    struct hooked_call call;
    if (!device_primary_inactive(device) ||
        !hooked_call_begin(&call, HOOK_cuDevicePrimaryCtxRetain, EVENT_CONTEXT_CREATE, MEMORY_NONE))
        return real(context, device);
    const CUresult status = real(context, device);
    hooked_call_after(&call,
                      &(struct event_args){.kind = EVENT_CONTEXT_CREATE,
                                           .device = device,
                                           .object = status == 0 ? bits(*context) : 0},
                      (int)status);
    return status;)

/* may: a condition before the call, true if the call may end a context. does: a condition after the
 * call, true if the call has ended the context. */
#define CONTEXT_END(name, type, parameter, may, of_device, handle, does)                           \
    HOOK_FUNCTION(driver, name, (type parameter),                                                  \
        struct hooked_call call;                                                                   \
        if (!(may) || !hooked_call_begin(&call, HOOK_##name, EVENT_CONTEXT_DESTROY, MEMORY_NONE))  \
            return real(parameter);                                                                \
        const struct event_args args = {                                                           \
            .kind = EVENT_CONTEXT_DESTROY, .device = of_device, .object = handle};                 \
        hooked_call_before(&call, &args);                                                          \
        const CUresult status = real(parameter);                                                   \
        hooked_call_finish(&call, &args, (int)status, status == 0 && (does));                      \
        return status;)

/* Only the last release ends the primary context and frees its memory. After a reset the context is
 * inactive already, so a release ends nothing. */
#define RELEASE(name)                                                                              \
    CONTEXT_END(name, CUdevice, device, !device_primary_inactive(device), device, 0,               \
                device_primary_inactive(device))

RELEASE(cuDevicePrimaryCtxRelease)
RELEASE(cuDevicePrimaryCtxRelease_v2)

/* cuCtxDetach is older than primary contexts: cuCtxAttach adds a reference, and the last
 * cuCtxDetach destroys the context. */
CONTEXT_END(cuCtxDetach, CUcontext, context, true, DEVICE_BY_ADDRESS, bits(context),
            !device_context_exists(context))
/* clang-format on */
