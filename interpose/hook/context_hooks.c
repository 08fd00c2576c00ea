/* SPDX-License-Identifier: MIT */
/*
 * The hooks of calls that may begin or end a context: references to the primary one, and to an
 * attached one, are counted. The driver is asked around the real call whether it did. It must not
 * know what an event becomes.
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

/* `may` and `does`: the call may end a context, and has ended it. */
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

/* Only the last release ends the primary context and frees what lived in it; after a reset there is
 * nothing left to end. */
#define RELEASE(name)                                                                              \
    CONTEXT_END(name, CUdevice, device, !device_primary_inactive(device), device, 0,               \
                device_primary_inactive(device))

RELEASE(cuDevicePrimaryCtxRelease)
RELEASE(cuDevicePrimaryCtxRelease_v2)

/* Before primary contexts: cuCtxAttach counts up, and the last cuCtxDetach destroys. */
CONTEXT_END(cuCtxDetach, CUcontext, context, true, DEVICE_BY_ADDRESS, bits(context),
            !device_context_exists(context))
/* clang-format on */
