/* SPDX-License-Identifier: MIT */
/*
 * Copies. Unified addressing tells device and host pointers apart, so one body serves all linear
 * copies, whatever their direction.
 */
#include <string.h>

#include "array.h"
#include "simulator/driver/stream/capture.h"
#include "gpumemtrace/compiler.h"
#include "simulator/driver/memory/copy_side.h"
#include "simulator/driver/machine/block.h"
#include "simulator/driver/machine/progress.h"
#include "simulator/driver/stream/stream.h"

static CUresult copy_linear(uint64_t to, uint64_t from, uint64_t size_bytes)
{
    const struct box box = {size_bytes, 1, 1};
    struct copy_side target = {.address = to}, source = {.address = from};
    CUresult result = copy_side_check_box(&target, &box);
    if (!result)
        result = copy_side_check_box(&source, &box);
    if (result)
        return result;
    if (size_bytes)
        copy_side_copy(&target, &source, &box);
    stream_work(WORK_COPY_NS + size_bytes / WORK_COPY_BYTES_PER_NS);
    return CUDA_SUCCESS;
}

static bool is_pageable(uint64_t address)
{
    return !block_containing(address);
}

/*
 * Waits for the copy if one side is host memory and the function's name lacks "Async", or if the
 * target is pageable host memory, as driver 580 does on an H100.
 */
static void wait_for_copy(const struct call *call, uint64_t to, uint64_t from, CUstream stream)
{
    const struct block *target = block_containing(to), *source = block_containing(from);
    const bool is_on_device = target && source && !block_is_host(target) && !block_is_host(source);
    const bool is_async = strstr(call->function, "Async");
    if (!call->result && progress_is_late() && (is_async ? is_pageable(to) : !is_on_device))
        progress_wait_for_stream(stream_name(call, stream));
}

static CUresult memory_copy(const char *function, uint64_t to, uint64_t from, size_t size_bytes,
                            CUstream stream)
{
    struct call call;
    CUgraphNodeParams work = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        capture_lets_through(&call, stream, &work)) {
        call.result = copy_linear(to, from, size_bytes);
        wait_for_copy(&call, to, from, stream);
    }
    return call_end(&call);
}

static uint64_t bits(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* Defines one kind of copy and its variants, which differ only in name. */
#define COPY(suffix, name, parameters, to, from, size_bytes, stream)                               \
    CUresult name parameters                                                                       \
    {                                                                                              \
        return memory_copy(#name, to, from, size_bytes, stream);                                   \
    }                                                                                              \
    CUresult name##suffix parameters                                                               \
    {                                                                                              \
        return memory_copy(#name #suffix, to, from, size_bytes, stream);                           \
    }

COPY(_ptds, cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t size_bytes), to, from, size_bytes,
     NULL)
COPY(_ptsz, cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream),
     to, from, size_bytes, stream)
COPY(_ptds, cuMemcpyPeer,
     (CUdeviceptr to, GMT_UNUSED CUcontext to_context, CUdeviceptr from,
      GMT_UNUSED CUcontext from_context, size_t size_bytes),
     to, from, size_bytes, NULL)
COPY(_ptsz, cuMemcpyPeerAsync,
     (CUdeviceptr to, GMT_UNUSED CUcontext to_context, CUdeviceptr from,
      GMT_UNUSED CUcontext from_context, size_t size_bytes, CUstream stream),
     to, from, size_bytes, stream)
COPY(_ptds, cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t size_bytes), to, bits(from),
     size_bytes, NULL)
COPY(_ptsz, cuMemcpyHtoDAsync_v2,
     (CUdeviceptr to, const void *from, size_t size_bytes, CUstream stream), to, bits(from),
     size_bytes, stream)
COPY(_ptds, cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t size_bytes), bits(to), from,
     size_bytes, NULL)
COPY(_ptsz, cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t size_bytes, CUstream stream),
     bits(to), from, size_bytes, stream)
COPY(_ptds, cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t size_bytes), to, from,
     size_bytes, NULL)
COPY(_ptsz, cuMemcpyDtoDAsync_v2,
     (CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream), to, from, size_bytes,
     stream)

/* --- boxes --- */

/* One side of a box copy, as the API describes it. */
struct side {
    CUmemorytype type;
    uint64_t host, device;
    CUarray array;
    size_t x_bytes, y, z, pitch_bytes, rows; /* rows in a slice */
};

/* Checks only that the box lies in the array, whose contents are not stored. */
static CUresult check_array(const struct side *side, const struct box *box)
{
    const struct array *array = array_find(side->array);
    if (!array)
        return CUDA_ERROR_INVALID_HANDLE;
    const CUDA_ARRAY3D_DESCRIPTOR *whole = &array->descriptor;
    const uint64_t row_bytes = whole->Width * array_element_bytes(whole);
    const uint64_t height = whole->Height ? whole->Height : 1;
    const uint64_t depth = whole->Depth ? whole->Depth : 1;
    return side->x_bytes <= row_bytes && box->width_bytes <= row_bytes - side->x_bytes &&
                   side->y <= height && box->height <= height - side->y && side->z <= depth &&
                   box->depth <= depth - side->z
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_side(const struct side *side, const struct box *box, struct copy_side *place)
{
    const uint64_t pitch_bytes =
        side->pitch_bytes ? side->pitch_bytes : box->width_bytes + side->x_bytes;
    const uint64_t rows = side->rows ? side->rows : box->height + side->y;
    if (side->type == CU_MEMORYTYPE_ARRAY)
        return check_array(side, box);
    if (side->type < CU_MEMORYTYPE_HOST || side->type > CU_MEMORYTYPE_UNIFIED ||
        GMT_MUL_OVERFLOWS(pitch_bytes, rows, &place->slice_bytes))
        return CUDA_ERROR_INVALID_VALUE;
    place->pitch_bytes = pitch_bytes;
    place->address = (side->type == CU_MEMORYTYPE_HOST ? side->host : side->device) +
                     side->z * place->slice_bytes + side->y * pitch_bytes + side->x_bytes;
    return copy_side_check_box(place, box);
}

static CUresult copy_box(const struct side *to, const struct side *from, const struct box *box)
{
    struct copy_side target = {0}, source = {0};
    CUresult result = check_side(to, box, &target);
    if (!result)
        result = check_side(from, box, &source);
    if (result)
        return result;
    copy_side_copy(&target, &source, box);
    stream_work(WORK_COPY_NS +
                box->width_bytes * box->height * box->depth / WORK_COPY_BYTES_PER_NS);
    return CUDA_SUCCESS;
}

/* Waits after a copy of a box, unless the function's name has "Async". Here it makes no difference
 * where the memory lies. */
static void wait_unless_async(const struct call *call, CUstream stream)
{
    if (!call->result && !strstr(call->function, "Async"))
        progress_wait_for_stream(stream_name(call, stream));
}

static CUresult copy_2d(const char *function, const CUDA_MEMCPY2D *copy, CUstream stream)
{
    struct call call;
    CUgraphNodeParams work = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        call_requires(&call, copy != NULL) && capture_lets_through(&call, stream, &work)) {
        const struct side to = {copy->dstMemoryType,
                                bits(copy->dstHost),
                                copy->dstDevice,
                                copy->dstArray,
                                copy->dstXInBytes,
                                copy->dstY,
                                0,
                                copy->dstPitch,
                                0};
        const struct side from = {copy->srcMemoryType,
                                  bits(copy->srcHost),
                                  copy->srcDevice,
                                  copy->srcArray,
                                  copy->srcXInBytes,
                                  copy->srcY,
                                  0,
                                  copy->srcPitch,
                                  0};
        const struct box box = {copy->WidthInBytes, copy->Height, 1};
        call.result = copy_box(&to, &from, &box);
        wait_unless_async(&call, stream);
    }
    return call_end(&call);
}

static CUresult copy_3d(const char *function, const CUDA_MEMCPY3D *copy, CUstream stream)
{
    struct call call;
    CUgraphNodeParams work = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        call_requires(&call, copy != NULL) && capture_lets_through(&call, stream, &work)) {
        const struct side to = {copy->dstMemoryType, bits(copy->dstHost), copy->dstDevice,
                                copy->dstArray,      copy->dstXInBytes,   copy->dstY,
                                copy->dstZ,          copy->dstPitch,      copy->dstHeight};
        const struct side from = {copy->srcMemoryType, bits(copy->srcHost), copy->srcDevice,
                                  copy->srcArray,      copy->srcXInBytes,   copy->srcY,
                                  copy->srcZ,          copy->srcPitch,      copy->srcHeight};
        const struct box box = {copy->WidthInBytes, copy->Height, copy->Depth};
        call.result = copy_box(&to, &from, &box);
        wait_unless_async(&call, stream);
    }
    return call_end(&call);
}

#define COPY_BOX(suffix, name, dimension, parameters, stream)                                      \
    CUresult name parameters                                                                       \
    {                                                                                              \
        return copy_##dimension(#name, copy, stream);                                              \
    }                                                                                              \
    CUresult name##suffix parameters                                                               \
    {                                                                                              \
        return copy_##dimension(#name #suffix, copy, stream);                                      \
    }

COPY_BOX(_ptds, cuMemcpy2D_v2, 2d, (const CUDA_MEMCPY2D *copy), NULL)
COPY_BOX(_ptds, cuMemcpy2DUnaligned_v2, 2d, (const CUDA_MEMCPY2D *copy), NULL)
COPY_BOX(_ptsz, cuMemcpy2DAsync_v2, 2d, (const CUDA_MEMCPY2D *copy, CUstream stream), stream)
COPY_BOX(_ptds, cuMemcpy3D_v2, 3d, (const CUDA_MEMCPY3D *copy), NULL)
COPY_BOX(_ptsz, cuMemcpy3DAsync_v2, 3d, (const CUDA_MEMCPY3D *copy, CUstream stream), stream)
