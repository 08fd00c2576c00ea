/* SPDX-License-Identifier: MIT */
/*
 * Events: timestamps of the simulated clock in stream.h.
 */
#include "capture.h"
#include "gpumemtrace/compiler.h"
#include "simulator/driver/memory/mempool.h"
#include "stream.h"

#define EVENT_FLAGS (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)
#define RECORD_NS 1000

struct event {
    struct object object;
    unsigned flags;
    bool is_recorded, is_captured; /* captured: the last recording was in a capture */
    uint64_t key;                  /* unique in this process */
    uint64_t time_ns;
    struct place place; /* place of the last recording outside captures */
};

static uint64_t last_key;

/* Returns the event with this handle. If there is none, sets the call's result and returns NULL. */
static struct event *event_of(struct call *call, CUevent handle)
{
    struct event *event = object_find(handle, OBJECT_EVENT);
    if (!event)
        call->result = CUDA_ERROR_INVALID_HANDLE;
    return event;
}

static void event_ended(void *object)
{
    struct event *event = object;
    place_release(&event->place);
}

CUresult cuEventCreate(CUevent *handle, unsigned int flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, handle && !(flags & ~(unsigned)EVENT_FLAGS))) {
        struct event *event = object_new(OBJECT_EVENT, call.context, sizeof *event);
        if (event) {
            event->object.end = event_ended;
            event->flags = flags;
            event->key = ++last_key;
            *handle = (CUevent)(void *)event;
        } else {
            call.result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return call_end(&call);
}

CUresult cuEventDestroy_v2(CUevent handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct event *event = event_of(&call, handle);
        if (event) {
            capture_forget_event(event->key);
            object_delete(event);
        }
    }
    return call_end(&call);
}

static void record_in(struct call *call, struct event *event, CUstream stream)
{
    struct capture *capture = capture_of(call, stream);
    event->is_recorded = true;
    event->is_captured = capture != NULL;
    if (capture) {
        capture_note_event(capture, call, stream, event->key);
        return;
    }
    capture_forget_event(event->key);
    stream_work(RECORD_NS);
    event->time_ns = stream_clock_ns();
    if (!progress_note(stream_name(call, stream), &event->place))
        call->result = CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult event_record(const char *function, CUevent handle, CUstream stream)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream)) {
        struct event *event = event_of(&call, handle);
        if (event)
            record_in(&call, event, stream);
    }
    return call_end(&call);
}

static CUresult do_cuEventRecord(const char *function, CUevent event, CUstream stream)
{
    return event_record(function, event, stream);
}

static CUresult do_cuEventRecordWithFlags(const char *function, CUevent event, CUstream stream)
{
    return event_record(function, event, stream);
}

TWIN(_ptsz, cuEventRecord, (CUevent event, CUstream stream), event, stream)
TWIN(_ptsz, cuEventRecordWithFlags, (CUevent event, CUstream stream, GMT_UNUSED unsigned int flags),
     event, stream)

/* A captured stream can wait only for events of its own capture. A stream that is not captured
 * joins the capture of the event that it waits for. */
static CUresult wait_for(const struct call *call, CUstream stream, const struct event *event)
{
    struct capture *own = capture_of(call, stream), *noted = capture_of_event(event->key);
    if (noted)
        return capture_join(noted, call, stream, event->key);
    if (!own)
        return progress_put_after(stream_name(call, stream), &event->place)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_OUT_OF_MEMORY;
    if (!event->is_recorded)
        return CUDA_SUCCESS;
    capture_invalidate(own);
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
}

static CUresult do_cuStreamWaitEvent(const char *function, CUstream stream, CUevent handle)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream)) {
        const struct event *event = event_of(&call, handle);
        if (event)
            call.result = wait_for(&call, stream, event);
    }
    return call_end(&call);
}

TWIN(_ptsz, cuStreamWaitEvent, (CUstream stream, CUevent event, GMT_UNUSED unsigned int flags),
     stream, event)

/* Does the same as event_of, but refuses an event whose last recording was in a capture. */
static struct event *uncaptured_event_of(struct call *call, CUevent handle)
{
    struct event *event = event_of(call, handle);
    if (event && event->is_captured)
        call->result = CUDA_ERROR_CAPTURED_EVENT;
    return call->result ? NULL : event;
}

CUresult cuEventQuery(CUevent handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct event *event = uncaptured_event_of(&call, handle);
        if (event && !progress_is_reached(&event->place))
            call.result = CUDA_ERROR_NOT_READY;
    }
    return call_end(&call);
}

CUresult cuEventSynchronize(CUevent handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct event *event = uncaptured_event_of(&call, handle);
        if (event) {
            progress_wait_for(&event->place);
            mempool_synchronize();
        }
    }
    return call_end(&call);
}

static bool can_measure(const struct event *event)
{
    return event && event->is_recorded && !event->is_captured &&
           !(event->flags & CU_EVENT_DISABLE_TIMING);
}

static CUresult elapsed(const char *function, float *milliseconds, CUevent start, CUevent end)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT) &&
        call_requires(&call, milliseconds != NULL)) {
        const struct event *first = event_of(&call, start), *last = event_of(&call, end);
        if (can_measure(first) && can_measure(last) &&
            !(progress_was_reached(&first->place) && progress_was_reached(&last->place)))
            call.result = CUDA_ERROR_NOT_READY;
        else if (can_measure(first) && can_measure(last))
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
