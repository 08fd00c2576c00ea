/* SPDX-License-Identifier: MIT */
/*
 * Events: marks on the simulated clock of stream.h.
 */
#include "gpumemtrace/compiler.h"
#include "pool.h"
#include "stream.h"

#define EVENT_FLAGS (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)
#define RECORD_NS 1000

struct event {
    struct object object;
    unsigned flags;
    bool recorded;
    uint64_t time_ns;
};

/* NULL: the result is set. */
static struct event *find(struct call *call, CUevent handle)
{
    struct event *event = object_find(handle, OBJECT_EVENT);
    if (!event)
        call->result = CUDA_ERROR_INVALID_HANDLE;
    return event;
}

CUresult cuEventCreate(CUevent *handle, unsigned int flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, handle && !(flags & ~(unsigned)EVENT_FLAGS))) {
        struct event *event = object_new(OBJECT_EVENT, call.context, sizeof *event);
        if (event) {
            event->flags = flags;
            *handle = (CUevent)(void *)event;
        } else {
            call.result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return call_end(&call);
}

static CUresult destroy(const char *function, CUevent handle)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT)) {
        struct event *event = find(&call, handle);
        if (event)
            object_delete(event);
    }
    return call_end(&call);
}

CUresult cuEventDestroy_v2(CUevent handle)
{
    return destroy(__func__, handle);
}

CUresult cuEventDestroy(CUevent handle)
{
    return destroy(__func__, handle);
}

static CUresult record(const char *function, CUevent handle, CUstream stream)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream)) {
        struct event *event = find(&call, handle);
        if (event) {
            stream_work(RECORD_NS);
            event->recorded = true;
            event->time_ns = stream_clock_ns();
        }
    }
    return call_end(&call);
}

static CUresult do_cuEventRecord(const char *function, CUevent event, CUstream stream)
{
    return record(function, event, stream);
}

static CUresult do_cuEventRecordWithFlags(const char *function, CUevent event, CUstream stream)
{
    return record(function, event, stream);
}

TWIN(_ptsz, cuEventRecord, (CUevent event, CUstream stream), event, stream)
TWIN(_ptsz, cuEventRecordWithFlags, (CUevent event, CUstream stream, GMT_UNUSED unsigned int flags),
     event, stream)

CUresult cuEventQuery(CUevent handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT))
        find(&call, handle);
    return call_end(&call);
}

CUresult cuEventSynchronize(CUevent handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && find(&call, handle))
        pool_synchronize();
    return call_end(&call);
}

static bool can_measure(const struct event *event)
{
    return event && event->recorded && !(event->flags & CU_EVENT_DISABLE_TIMING);
}

static CUresult elapsed(const char *function, float *milliseconds, CUevent start, CUevent end)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT) &&
        call_requires(&call, milliseconds != NULL)) {
        const struct event *first = find(&call, start), *last = find(&call, end);
        if (can_measure(first) && can_measure(last))
            *milliseconds = (float)((double)last->time_ns - (double)first->time_ns) / 1e6f;
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
    }
    return call_end(&call);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return elapsed(__func__, milliseconds, start, end);
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    return elapsed(__func__, milliseconds, start, end);
}
