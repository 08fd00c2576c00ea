/* SPDX-License-Identifier: MIT */
/*
 * API functions of streams. See stream.h; events are in event.c.
 */
#include "stream.h"

#include "capture.h"
#include "gpumemtrace/compiler.h"
#include "simulator/driver/memory/mempool.h"

#define PRIORITY_LEAST 0
#define PRIORITY_GREATEST (-5)

static CUresult create_stream(const char *function, CUstream *handle, unsigned flags, int priority)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, handle && flags <= CU_STREAM_NON_BLOCKING)) {
        struct stream *stream = stream_new(call.context);
        if (stream) {
            stream->flags = flags;
            stream->priority = priority > PRIORITY_LEAST      ? PRIORITY_LEAST
                               : priority < PRIORITY_GREATEST ? PRIORITY_GREATEST
                                                              : priority;
            *handle = (CUstream)(void *)stream;
        } else {
            call.result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return call_end(&call);
}

CUresult cuStreamCreate(CUstream *handle, unsigned int flags)
{
    return create_stream(__func__, handle, flags, PRIORITY_LEAST);
}

CUresult cuStreamCreateWithPriority(CUstream *handle, unsigned int flags, int priority)
{
    return create_stream(__func__, handle, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct stream *stream = stream_find(handle);
        if (stream)
            object_delete(stream);
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
    }
    return call_end(&call);
}

static CUresult do_cuStreamSynchronize(const char *function, CUstream stream)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        capture_lets_through(&call, stream, NULL)) {
        progress_wait_for_stream(stream_name(&call, stream));
        mempool_synchronize();
    }
    return call_end(&call);
}

static CUresult do_cuStreamQuery(const char *function, CUstream stream)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        capture_lets_through(&call, stream, NULL) && !progress_is_idle(stream_name(&call, stream)))
        call.result = CUDA_ERROR_NOT_READY;
    return call_end(&call);
}

TWIN(_ptsz, cuStreamSynchronize, (CUstream stream), stream)
TWIN(_ptsz, cuStreamQuery, (CUstream stream), stream)

static CUresult do_cuStreamGetPriority(const char *function, CUstream handle, int *priority)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, handle) &&
        call_requires(&call, priority != NULL)) {
        const struct stream *stream = stream_find(handle);
        *priority = stream ? stream->priority : PRIORITY_LEAST;
    }
    return call_end(&call);
}

static CUresult do_cuStreamGetFlags(const char *function, CUstream handle, unsigned *flags)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, handle) &&
        call_requires(&call, flags != NULL)) {
        const struct stream *stream = stream_find(handle);
        *flags = stream ? stream->flags : CU_STREAM_DEFAULT;
    }
    return call_end(&call);
}

static CUresult do_cuStreamGetId(const char *function, CUstream handle, unsigned long long *id)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, handle) &&
        call_requires(&call, id != NULL)) {
        const struct stream *stream = stream_find(handle);
        *id = stream                           ? stream->id
              : handle == CU_STREAM_PER_THREAD ? STREAM_ID_PER_THREAD
                                               : STREAM_ID_LEGACY;
    }
    return call_end(&call);
}

static CUresult do_cuStreamGetCtx(const char *function, CUstream handle, CUcontext *context)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, handle) &&
        call_requires(&call, context != NULL))
        *context = (CUcontext)(void *)stream_context(&call, handle);
    return call_end(&call);
}

TWIN(_ptsz, cuStreamGetPriority, (CUstream stream, int *priority), stream, priority)
TWIN(_ptsz, cuStreamGetFlags, (CUstream stream, unsigned int *flags), stream, flags)
TWIN(_ptsz, cuStreamGetId, (CUstream stream, unsigned long long *id), stream, id)
TWIN(_ptsz, cuStreamGetCtx, (CUstream stream, CUcontext *context), stream, context)

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT)) {
        if (least)
            *least = PRIORITY_LEAST;
        if (greatest)
            *greatest = PRIORITY_GREATEST;
    }
    return call_end(&call);
}

/* Attaching has no effect: host and device can always access managed memory. */
static CUresult do_cuStreamAttachMemAsync(const char *function, CUstream stream,
                                          CUdeviceptr address)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream)) {
        const struct block *block = block_at(address);
        call_requires(&call, block && block->kind == BLOCK_MANAGED);
    }
    return call_end(&call);
}

TWIN(_ptsz, cuStreamAttachMemAsync,
     (CUstream stream, CUdeviceptr address, GMT_UNUSED size_t size_bytes,
      GMT_UNUSED unsigned int flags),
     stream, address)

/* Calls the function at once, without the lock. All earlier work is done, and the host may learn
 * that from the function. */
static CUresult do_cuLaunchHostFunc(const char *name, CUstream stream, CUhostFn function,
                                    void *user_data)
{
    struct call call;
    CUgraphNodeParams work = {.type = CU_GRAPH_NODE_TYPE_HOST};
    bool now = false;
    work.host = (CUDA_HOST_NODE_PARAMS_v2){function, user_data};
    if (call_begin(&call, name, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        call_requires(&call, function != NULL))
        now = capture_lets_through(&call, stream, &work);
    if (now)
        progress_wait_for_stream(stream_name(&call, stream));
    const CUresult result = call_end(&call);
    if (now) {
        call_host_begin();
        function(user_data);
        call_host_end();
    }
    return result;
}

static CUresult do_cuStreamAddCallback(const char *name, CUstream stream, CUstreamCallback function,
                                       void *user_data, unsigned flags)
{
    struct call call;
    if (call_begin(&call, name, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        call_requires(&call, function && !flags) && capture_lets_through(&call, stream, NULL))
        progress_wait_for_stream(stream_name(&call, stream));
    const CUresult result = call_end(&call);
    if (!result) {
        call_host_begin();
        function(stream, CUDA_SUCCESS, user_data);
        call_host_end();
    }
    return result;
}

TWIN(_ptsz, cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *user_data), stream,
     function, user_data)
TWIN(_ptsz, cuStreamAddCallback,
     (CUstream stream, CUstreamCallback callback, void *user_data, unsigned int flags), stream,
     callback, user_data, flags)
