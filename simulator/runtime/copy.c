/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills. As in CUDA, the cudaMemcpyKind chooses the driver's function; the driver checks
 * that the addresses match the kind.
 */
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "context.h"
#include "convert.h"

static cudaError_t copy_linear(enum stream_form form, void *to, const void *from, size_t size_bytes,
                               enum cudaMemcpyKind kind)
{
    const struct driver_table *driver = call_driver();
    CUresult result;
    if (size_bytes == 0)
        return cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        result = driver->cuMemcpyHtoD_v2[form](address_of(to), from, size_bytes);
        break;
    case cudaMemcpyDeviceToHost:
        result = driver->cuMemcpyDtoH_v2[form](to, address_of(from), size_bytes);
        break;
    case cudaMemcpyDeviceToDevice:
        result = driver->cuMemcpyDtoD_v2[form](address_of(to), address_of(from), size_bytes);
        break;
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        result = driver->cuMemcpy[form](address_of(to), address_of(from), size_bytes);
        break;
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
    return error_of_driver(result);
}

static cudaError_t copy_async(enum stream_form form, void *to, const void *from, size_t size_bytes,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const struct driver_table *driver = call_driver();
    CUresult result;
    if (size_bytes == 0)
        return cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        result = driver->cuMemcpyHtoDAsync_v2[form](address_of(to), from, size_bytes, stream);
        break;
    case cudaMemcpyDeviceToHost:
        result = driver->cuMemcpyDtoHAsync_v2[form](to, address_of(from), size_bytes, stream);
        break;
    case cudaMemcpyDeviceToDevice:
        result = driver->cuMemcpyDtoDAsync_v2[form](address_of(to), address_of(from), size_bytes,
                                                    stream);
        break;
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        result = driver->cuMemcpyAsync[form](address_of(to), address_of(from), size_bytes, stream);
        break;
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
    return error_of_driver(result);
}

TWIN(_ptds, cudaMemcpy, (void *to, const void *from, size_t size_bytes, enum cudaMemcpyKind kind),
     NEEDS_CONTEXT, copy_linear(form, to, from, size_bytes, kind))
TWIN(_ptsz, cudaMemcpyAsync,
     (void *to, const void *from, size_t size_bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
     NEEDS_CONTEXT, copy_async(form, to, from, size_bytes, kind, stream))

/* A plane: its start and the distance between its rows. */
struct plane {
    const void *start;
    size_t pitch_bytes;
};

static CUmemorytype source_type(enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault || kind == cudaMemcpyHostToHost)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyHostToDevice ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static CUmemorytype target_type(enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault || kind == cudaMemcpyHostToHost)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyDeviceToHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static cudaError_t describe_2d(CUDA_MEMCPY2D *description, struct plane to, struct plane from,
                               size_t width_bytes, size_t height, enum cudaMemcpyKind kind)
{
    if ((int)kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (height > 1 && (width_bytes > to.pitch_bytes || width_bytes > from.pitch_bytes))
        return cudaErrorInvalidPitchValue;
    *description = (CUDA_MEMCPY2D){
        .srcMemoryType = source_type(kind),
        .srcHost = from.start,
        .srcDevice = address_of(from.start),
        .srcPitch = from.pitch_bytes,
        .dstMemoryType = target_type(kind),
        .dstHost = (void *)(uintptr_t)to.start,
        .dstDevice = address_of(to.start),
        .dstPitch = to.pitch_bytes,
        .WidthInBytes = width_bytes,
        .Height = height,
    };
    return cudaSuccess;
}

static cudaError_t copy_2d(enum stream_form form, struct plane to, struct plane from,
                           size_t width_bytes, size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D description;
    const cudaError_t error = describe_2d(&description, to, from, width_bytes, height, kind);
    if (error || !width_bytes || !height)
        return error;
    return error_of_driver(call_driver()->cuMemcpy2DUnaligned_v2[form](&description));
}

static cudaError_t copy_2d_async(enum stream_form form, struct plane to, struct plane from,
                                 size_t width_bytes, size_t height, enum cudaMemcpyKind kind,
                                 cudaStream_t stream)
{
    CUDA_MEMCPY2D description;
    const cudaError_t error = describe_2d(&description, to, from, width_bytes, height, kind);
    if (error || !width_bytes || !height)
        return error;
    return error_of_driver(call_driver()->cuMemcpy2DAsync_v2[form](&description, stream));
}

TWIN(_ptds, cudaMemcpy2D,
     (void *to, size_t to_pitch_bytes, const void *from, size_t from_pitch_bytes,
      size_t width_bytes, size_t height, enum cudaMemcpyKind kind),
     NEEDS_CONTEXT,
     copy_2d(form, (struct plane){to, to_pitch_bytes}, (struct plane){from, from_pitch_bytes},
             width_bytes, height, kind))
TWIN(_ptsz, cudaMemcpy2DAsync,
     (void *to, size_t to_pitch_bytes, const void *from, size_t from_pitch_bytes,
      size_t width_bytes, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
     NEEDS_CONTEXT,
     copy_2d_async(form, (struct plane){to, to_pitch_bytes}, (struct plane){from, from_pitch_bytes},
                   width_bytes, height, kind, stream))

static cudaError_t find_peers(int to_device, int from_device, CUcontext *to, CUcontext *from)
{
    const cudaError_t error = context_primary(to_device, to);
    return error ? error : context_primary(from_device, from);
}

static cudaError_t copy_peer(void *to, int to_device, const void *from, int from_device,
                             size_t size_bytes)
{
    CUcontext to_context, from_context;
    const cudaError_t error = find_peers(to_device, from_device, &to_context, &from_context);
    if (error || !size_bytes)
        return error;
    return error_of_driver(call_driver()->cuMemcpyPeer[LEGACY](
        address_of(to), to_context, address_of(from), from_context, size_bytes));
}

GMT_EXPORT cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                                      size_t size_bytes)
{
    return CALL(NEEDS_CONTEXT, copy_peer(to, to_device, from, from_device, size_bytes));
}

static cudaError_t copy_peer_async(void *to, int to_device, const void *from, int from_device,
                                   size_t size_bytes, cudaStream_t stream)
{
    CUcontext to_context, from_context;
    const cudaError_t error = find_peers(to_device, from_device, &to_context, &from_context);
    if (error || !size_bytes)
        return error;
    return error_of_driver(call_driver()->cuMemcpyPeerAsync[LEGACY](
        address_of(to), to_context, address_of(from), from_context, size_bytes, stream));
}

GMT_EXPORT cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                           int from_device, size_t size_bytes, cudaStream_t stream)
{
    return CALL(NEEDS_CONTEXT,
                copy_peer_async(to, to_device, from, from_device, size_bytes, stream));
}

static cudaError_t fill_linear(enum stream_form form, void *address, int value, size_t size_bytes)
{
    if (size_bytes == 0)
        return cudaSuccess;
    return error_of_driver(
        call_driver()->cuMemsetD8_v2[form](address_of(address), (unsigned char)value, size_bytes));
}

static cudaError_t fill_async(enum stream_form form, void *address, int value, size_t size_bytes,
                              cudaStream_t stream)
{
    if (size_bytes == 0)
        return cudaSuccess;
    return error_of_driver(call_driver()->cuMemsetD8Async[form](
        address_of(address), (unsigned char)value, size_bytes, stream));
}

static cudaError_t fill_2d(enum stream_form form, struct plane plane, int value, size_t width_bytes,
                           size_t height)
{
    if (!width_bytes || !height)
        return cudaSuccess;
    return error_of_driver(call_driver()->cuMemsetD2D8_v2[form](
        address_of(plane.start), plane.pitch_bytes, (unsigned char)value, width_bytes, height));
}

static cudaError_t fill_2d_async(enum stream_form form, struct plane plane, int value,
                                 size_t width_bytes, size_t height, cudaStream_t stream)
{
    if (!width_bytes || !height)
        return cudaSuccess;
    return error_of_driver(
        call_driver()->cuMemsetD2D8Async[form](address_of(plane.start), plane.pitch_bytes,
                                               (unsigned char)value, width_bytes, height, stream));
}

TWIN(_ptds, cudaMemset, (void *address, int value, size_t size_bytes), NEEDS_CONTEXT,
     fill_linear(form, address, value, size_bytes))
TWIN(_ptsz, cudaMemsetAsync, (void *address, int value, size_t size_bytes, cudaStream_t stream),
     NEEDS_CONTEXT, fill_async(form, address, value, size_bytes, stream))
TWIN(_ptds, cudaMemset2D,
     (void *address, size_t pitch_bytes, int value, size_t width_bytes, size_t height),
     NEEDS_CONTEXT, fill_2d(form, (struct plane){address, pitch_bytes}, value, width_bytes, height))
TWIN(_ptsz, cudaMemset2DAsync,
     (void *address, size_t pitch_bytes, int value, size_t width_bytes, size_t height,
      cudaStream_t stream),
     NEEDS_CONTEXT,
     fill_2d_async(form, (struct plane){address, pitch_bytes}, value, width_bytes, height, stream))
