/* SPDX-License-Identifier: MIT */
/*
 * The hooks that no row of hooks.def can say, such as the release that may or may not end a
 * context. Those that hand out function pointers are in lookups.c.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture.h"
#include "device.h"
#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "resolve.h"

/* The primary context is counted: only the last release ends it and frees what lived in it. */
GMT_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    typedef CUresult real_function(CUdevice device);
    real_function *real = GMT_FUNCTION(
        real_function *, resolve_hook(HOOK_cuDevicePrimaryCtxRelease_v2, GMT_CALLER_ADDRESS()));
    struct capture capture;
    if (!real)
        return CUDA_ERROR_NOT_FOUND;
    if (!capture_begin(&capture, HOOK_cuDevicePrimaryCtxRelease_v2, EVENT_CONTEXT_DESTROY))
        return real(device);
    capture_before(&capture,
                   &(struct capture_facts){.kind = EVENT_CONTEXT_DESTROY, .device = device});
    const CUresult status = real(device);
    capture_finish(&capture, (int)status, status == 0 && device_primary_inactive(device));
    return status;
}
