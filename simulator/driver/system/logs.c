/* SPDX-License-Identifier: MIT */
/* The driver's log of errors, which is always empty here: registered callbacks are never called. */
#include "gpumemtrace/compiler.h"
#include "simulator/driver/machine/call.h"

CUresult cuLogsRegisterCallback(CUlogsCallback function, GMT_UNUSED void *data,
                                CUlogsCallbackHandle *handle)
{
    static char entry;
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NOTHING) && call_requires(&call, function != NULL) &&
        handle)
        *handle = (CUlogsCallbackHandle)(void *)&entry;
    return call_end(&call);
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NOTHING))
        call_requires(&call, handle != NULL);
    return call_end(&call);
}
