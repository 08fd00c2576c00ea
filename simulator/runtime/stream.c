/* SPDX-License-Identifier: MIT */
/*
 * Streams and events. The runtime's handles are the driver's handles.
 */
#include <stdlib.h>

#include "call.h"
#include "only_here.h"

GMT_EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuStreamCreate(stream, CU_STREAM_DEFAULT)));
}

GMT_EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuStreamCreate(stream, flags)));
}

GMT_EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags,
                                                    int priority)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuStreamCreateWithPriority(
                                   stream, flags, priority)));
}

GMT_EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuStreamDestroy_v2(stream)));
}

TWIN(_ptsz, cudaStreamSynchronize, (cudaStream_t stream), NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuStreamSynchronize[form](stream)))
TWIN(_ptsz, cudaStreamQuery, (cudaStream_t stream), NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuStreamQuery[form](stream)))
TWIN(_ptsz, cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
     NEEDS_CONTEXT, error_of_driver(call_driver()->cuStreamWaitEvent[form](stream, event, flags)))
TWIN(_ptsz, cudaStreamGetPriority, (cudaStream_t stream, int *priority), NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuStreamGetPriority[form](stream, priority)))
TWIN(_ptsz, cudaStreamGetFlags, (cudaStream_t stream, unsigned int *flags), NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuStreamGetFlags[form](stream, flags)))
TWIN(_ptsz, cudaStreamGetId, (cudaStream_t stream, unsigned long long *id), NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuStreamGetId[form](stream, id)))
TWIN(_ptsz, cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *user_data),
     NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuLaunchHostFunc[form](stream, function, user_data)))

/* --- callbacks: the program's callback takes a cudaError_t, the driver's callback takes a CUresult
 * --- */

struct callback {
    cudaStreamCallback_t function;
    void *user_data;
};

static void call_back(CUstream stream, CUresult status, void *user_data)
{
    struct callback callback = *(struct callback *)user_data;
    free(user_data);
    callback.function(stream, error_of_driver(status), callback.user_data);
}

static cudaError_t add_callback(enum stream_form form, cudaStream_t stream,
                                cudaStreamCallback_t function, void *user_data, unsigned int flags)
{
    struct callback *callback = malloc(sizeof *callback);
    cudaError_t error;
    if (!callback)
        return cudaErrorMemoryAllocation;
    *callback = (struct callback){function, user_data};
    error = error_of_driver(
        call_driver()->cuStreamAddCallback[form](stream, call_back, callback, flags));
    if (error)
        free(callback);
    return error;
}

TWIN(_ptsz, cudaStreamAddCallback,
     (cudaStream_t stream, cudaStreamCallback_t callback, void *user_data, unsigned int flags),
     NEEDS_CONTEXT,
     CALL_UNLESS_NULL(callback, add_callback(form, stream, callback, user_data, flags)))

/* --- events --- */

GMT_EXPORT cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuEventCreate(event, CU_EVENT_DEFAULT)));
}

GMT_EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuEventCreate(event, flags)));
}

GMT_EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuEventDestroy_v2(event)));
}

TWIN(_ptsz, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuEventRecord[form](event, stream)))
TWIN(_ptsz, cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
     NEEDS_CONTEXT,
     error_of_driver(call_driver()->cuEventRecordWithFlags[form](event, stream, flags)))

GMT_EXPORT cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuEventQuery(event)));
}

GMT_EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuEventSynchronize(event)));
}

GMT_EXPORT cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuEventElapsedTime(milliseconds, start, end)));
}

GMT_EXPORT cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start,
                                               cudaEvent_t end)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuEventElapsedTime_v2(milliseconds, start, end)));
}
