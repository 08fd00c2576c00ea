/* SPDX-License-Identifier: MIT */
/*
 * Arrays: device memory of width x max(height, 1) x max(depth, 1) elements, identified by a handle.
 */
#include "array.h"

#include "simulator/driver/machine/call.h"
#include "gpumemtrace/compiler.h"

/* Returns the bytes of one channel, or of the whole element if the format fixes the number of
 * channels; 0: the format is not simulated. */
static uint64_t format_bytes(CUarray_format format, bool *whole_element)
{
    *whole_element = format >= CU_AD_FORMAT_UNORM_INT8X1;
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X1:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X1:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X4:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X2:
        return 4;
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X4:
        return 8;
    default:
        return 0;
    }
}

static uint64_t at_least_one(uint64_t extent)
{
    return extent ? extent : 1;
}

uint64_t array_element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    bool whole_element;
    const uint64_t bytes = format_bytes(descriptor->Format, &whole_element);
    return whole_element ? bytes : bytes * descriptor->NumChannels;
}

int array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, uint64_t *size_bytes)
{
    *size_bytes = array_element_bytes(descriptor);
    return GMT_MUL_OVERFLOWS(*size_bytes, descriptor->Width, size_bytes) ||
                   GMT_MUL_OVERFLOWS(*size_bytes, at_least_one(descriptor->Height), size_bytes) ||
                   GMT_MUL_OVERFLOWS(*size_bytes, at_least_one(descriptor->Depth), size_bytes)
               ? -1
               : 0;
}

#define MAPPED_INTO (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)

bool array_is_mapped_into(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    return descriptor->Flags & MAPPED_INTO;
}

/* An array into which memory is mapped is either sparse or has deferred mapping, and has at least
 * two dimensions. */
static bool is_mapping_valid(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    return !array_is_mapped_into(descriptor) ||
           (descriptor->Height && (descriptor->Flags & MAPPED_INTO) != MAPPED_INTO);
}

bool array_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    const unsigned channels = descriptor->NumChannels;
    const bool layered = descriptor->Flags & CUDA_ARRAY3D_LAYERED;
    return descriptor->Width && (channels == 1 || channels == 2 || channels == 4) &&
           (descriptor->Height || !descriptor->Depth || layered) &&
           array_element_bytes(descriptor) && is_mapping_valid(descriptor);
}

static CUresult take_block(struct context *context, uint64_t size_bytes, struct block **block)
{
    struct block model = {
        .kind = BLOCK_ARRAY,
        .size_bytes = size_bytes,
        .device = context->device,
        .context = context,
    };
    const CUresult result = context_take(context, size_bytes, &model.span);
    if (result)
        return result;
    *block = block_new(&model);
    if (*block)
        return CUDA_SUCCESS;
    context_give(context, model.span);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult array_take_memory(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           uint64_t size_bytes, struct block **block)
{
    return array_is_mapped_into(descriptor) ? CUDA_SUCCESS : take_block(context, size_bytes, block);
}

void array_give_memory(struct block *block)
{
    if (block)
        context_free_block(block);
}

static void array_end(void *object)
{
    tiles_drop(&((struct array *)object)->tiles);
}

static CUresult array_new(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                          CUarray *handle)
{
    uint64_t size_bytes;
    struct block *block = NULL;
    if (!array_is_valid(descriptor))
        return CUDA_ERROR_INVALID_VALUE;
    if (array_bytes(descriptor, &size_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = array_take_memory(context, descriptor, size_bytes, &block);
    if (result)
        return result;
    struct array *array = object_new(OBJECT_ARRAY, context, sizeof *array);
    if (!array) {
        array_give_memory(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    array->object.end = array_end;
    array->block = block;
    array->descriptor = *descriptor;
    *handle = (CUarray)(void *)array;
    return CUDA_SUCCESS;
}

CUresult array_create(const char *function, CUarray *handle,
                      const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_NO_CAPTURE) &&
        call_requires(&call, handle && descriptor))
        call.result = array_new(call.context, descriptor, handle);
    return call_end(&call);
}

static CUresult array_describe(const char *function, CUarray handle, const void *target,
                               CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && call_requires(&call, target != NULL)) {
        const struct array *array = array_find(handle);
        if (array)
            *descriptor = array->descriptor;
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
    }
    return call_end(&call);
}

CUresult cuArray3DCreate_v2(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    return array_create(__func__, handle, descriptor);
}

CUDA_ARRAY3D_DESCRIPTOR array_flat(size_t width, size_t height, CUarray_format format,
                                   unsigned channels)
{
    return (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = width, .Height = height, .Format = format, .NumChannels = channels};
}

CUresult cuArrayCreate_v2(CUarray *handle, const CUDA_ARRAY_DESCRIPTOR *flat)
{
    if (!flat)
        return array_create(__func__, handle, NULL);
    const CUDA_ARRAY3D_DESCRIPTOR whole =
        array_flat(flat->Width, flat->Height, flat->Format, flat->NumChannels);
    return array_create(__func__, handle, &whole);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray handle)
{
    return array_describe(__func__, handle, descriptor, descriptor);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray handle)
{
    CUDA_ARRAY3D_DESCRIPTOR whole = {0};
    const CUresult result = array_describe(__func__, handle, descriptor, &whole);
    if (!result)
        *descriptor =
            (CUDA_ARRAY_DESCRIPTOR){whole.Width, whole.Height, whole.Format, whole.NumChannels};
    return result;
}

struct array *array_find(CUarray handle)
{
    return object_find(handle, OBJECT_ARRAY);
}

CUresult cuArrayDestroy(CUarray handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE)) {
        struct array *array = array_find(handle);
        if (!array || array->is_level) {
            call.result = CUDA_ERROR_INVALID_HANDLE;
        } else {
            array_give_memory(array->block);
            object_delete(array);
        }
    }
    return call_end(&call);
}
