/* SPDX-License-Identifier: MIT */
/*
 * Stream handles and the clock. See stream.h; the API functions are in stream_api.c.
 */
#include "stream.h"

#include <string.h>

static uint64_t clock_ns;
static uint64_t last_id = STREAM_ID_PER_THREAD;

static bool is_default(CUstream handle)
{
    return !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

struct stream *stream_find(CUstream handle)
{
    return is_default(handle) ? NULL : object_find(handle, OBJECT_STREAM);
}

bool stream_check(struct call *call, CUstream handle)
{
    if (is_default(handle) || stream_find(handle))
        return true;
    call->result = CUDA_ERROR_INVALID_HANDLE;
    return false;
}

struct context *stream_context(const struct call *call, CUstream handle)
{
    const struct stream *stream = stream_find(handle);
    return stream ? stream->object.context : call->context;
}

struct device *stream_device(const struct call *call, CUstream handle)
{
    return stream_context(call, handle)->device;
}

/* The handle 0 means the per-thread default stream in functions whose names end in _ptsz or
 * _ptds. */
static bool is_per_thread(const struct call *call, CUstream handle)
{
    const char *suffix = strrchr(call->function, '_');
    return handle == CU_STREAM_PER_THREAD ||
           (!handle && suffix && (!strcmp(suffix, "_ptsz") || !strcmp(suffix, "_ptds")));
}

uint64_t stream_key(const struct call *call, CUstream handle)
{
    static _Thread_local uint64_t own_key;
    const struct stream *stream = stream_find(handle);
    if (stream || !is_per_thread(call, handle))
        return stream ? stream->id : 0;
    if (!own_key)
        own_key = ++last_id;
    return own_key;
}

bool stream_is_blocking(const struct call *call, CUstream handle)
{
    const struct stream *stream = stream_find(handle);
    return stream ? !(stream->flags & CU_STREAM_NON_BLOCKING) : is_per_thread(call, handle);
}

/* The legacy stream of every context has key 0. So the id of a legacy stream is the number of its
 * context with bit 63 set. */
struct stream_name stream_name(const struct call *call, CUstream handle)
{
    const uint64_t key = stream_key(call, handle);
    const uint64_t context_id = stream_context(call, handle)->life_id;
    return (struct stream_name){.id = key ? key : context_id | (uint64_t)1 << 63,
                                .context_id = context_id,
                                .is_legacy = !key,
                                .is_blocking = stream_is_blocking(call, handle)};
}

void stream_work(uint64_t duration_ns)
{
    clock_ns += duration_ns;
}

uint64_t stream_clock_ns(void)
{
    return clock_ns;
}

struct stream *stream_new(struct context *context)
{
    struct stream *stream = object_new(OBJECT_STREAM, context, sizeof *stream);
    if (stream)
        stream->id = ++last_id;
    return stream;
}
