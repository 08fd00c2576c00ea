/* SPDX-License-Identifier: MIT */
/*
 * Arrays: device memory of width x max(height,1) x max(depth,1) elements that is known by a handle.
 * A mipmapped array is one allocation of all its levels; a level's handle is only a view.
 */
#include "array.h"

#include "call.h"
#include "gpumemtrace/compiler.h"

/* The bytes of one channel, or of the whole element where the format names its channels; 0: a
 * format that is not simulated. */
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

/* -1: more than 64 bits can say. */
static int array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, uint64_t *size_bytes)
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

/* Tile by tile or as a whole, and never in one dimension. */
static bool is_mapping_valid(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    return !array_is_mapped_into(descriptor) ||
           (descriptor->Height && (descriptor->Flags & MAPPED_INTO) != MAPPED_INTO);
}

static bool is_valid(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
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

/* *block stays NULL where the program maps memory in. */
static CUresult take_memory(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                            uint64_t size_bytes, struct block **block)
{
    return array_is_mapped_into(descriptor) ? CUDA_SUCCESS : take_block(context, size_bytes, block);
}

static void give_memory(struct block *block)
{
    if (block)
        context_free_block(block);
}

static void array_end(void *object)
{
    tiles_drop(&((struct array *)object)->tiles);
}

CUresult array_new(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                   CUarray *handle)
{
    uint64_t size_bytes;
    struct block *block = NULL;
    if (!is_valid(descriptor))
        return CUDA_ERROR_INVALID_VALUE;
    if (array_bytes(descriptor, &size_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = take_memory(context, descriptor, size_bytes, &block);
    if (result)
        return result;
    struct array *array = object_new(OBJECT_ARRAY, context, sizeof *array);
    if (!array) {
        give_memory(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    array->object.end = array_end;
    array->block = block;
    array->descriptor = *descriptor;
    *handle = (CUarray)(void *)array;
    return CUDA_SUCCESS;
}

CUresult cuArray3DCreate_v2(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE) &&
        call_requires(&call, handle && descriptor))
        call.result = array_new(call.context, descriptor, handle);
    return call_end(&call);
}

CUresult cuArrayCreate_v2(CUarray *handle, const CUDA_ARRAY_DESCRIPTOR *descriptor)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE) &&
        call_requires(&call, handle && descriptor)) {
        const CUDA_ARRAY3D_DESCRIPTOR whole = {
            .Width = descriptor->Width,
            .Height = descriptor->Height,
            .Format = descriptor->Format,
            .NumChannels = descriptor->NumChannels,
        };
        call.result = array_new(call.context, &whole, handle);
    }
    return call_end(&call);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, descriptor != NULL)) {
        const struct array *array = array_find(handle);
        if (array)
            *descriptor = array->descriptor;
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
    }
    return call_end(&call);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, descriptor != NULL)) {
        const struct array *array = array_find(handle);
        if (!array) {
            call.result = CUDA_ERROR_INVALID_HANDLE;
        } else {
            descriptor->Width = array->descriptor.Width;
            descriptor->Height = array->descriptor.Height;
            descriptor->Format = array->descriptor.Format;
            descriptor->NumChannels = array->descriptor.NumChannels;
        }
    }
    return call_end(&call);
}

struct array *array_find(CUarray handle)
{
    return object_find(handle, OBJECT_ARRAY);
}

struct mipmap *array_find_mipmap(CUmipmappedArray handle)
{
    return object_find(handle, OBJECT_MIPMAP);
}

CUresult cuArrayDestroy(CUarray handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE)) {
        struct array *array = array_find(handle);
        if (!array || array->is_level) {
            call.result = CUDA_ERROR_INVALID_HANDLE;
        } else {
            give_memory(array->block);
            object_delete(array);
        }
    }
    return call_end(&call);
}

/* --- mipmapped arrays --- */

static uint64_t halved(uint64_t extent, unsigned level)
{
    return extent ? at_least_one(extent >> level) : 0;
}

/* Layers of a layered or cube array are in every level; a depth shrinks. */
CUDA_ARRAY3D_DESCRIPTOR array_level(const CUDA_ARRAY3D_DESCRIPTOR *whole, unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor = *whole;
    descriptor.Width = halved(whole->Width, level);
    descriptor.Height = halved(whole->Height, level);
    if (!(whole->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        descriptor.Depth = halved(whole->Depth, level);
    return descriptor;
}

/* As documented: no more levels than it takes to get the longest side to 1. */
static unsigned clamp_levels(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned level_count)
{
    uint64_t longest = descriptor->Width;
    unsigned most = 1;
    if (descriptor->Height > longest)
        longest = descriptor->Height;
    if (descriptor->Depth > longest && !(descriptor->Flags & CUDA_ARRAY3D_LAYERED))
        longest = descriptor->Depth;
    while (longest >>= 1)
        most++;
    if (most > ARRAY_LEVEL_LIMIT)
        most = ARRAY_LEVEL_LIMIT;
    return level_count < 1 ? 1 : level_count > most ? most : level_count;
}

int array_levels_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned level_count,
                       uint64_t *size_bytes)
{
    *size_bytes = 0;
    for (unsigned level = 0; level < level_count; level++) {
        const CUDA_ARRAY3D_DESCRIPTOR one = array_level(descriptor, level);
        uint64_t level_bytes;
        if (array_bytes(&one, &level_bytes) ||
            GMT_ADD_OVERFLOWS(*size_bytes, level_bytes, size_bytes))
            return -1;
    }
    return 0;
}

static void mipmap_end(void *object)
{
    tiles_drop(&((struct mipmap *)object)->tiles);
}

CUresult array_view(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                    unsigned level_count, struct mipmap **result)
{
    if (!is_valid(descriptor))
        return CUDA_ERROR_INVALID_VALUE;
    struct mipmap *mipmap = object_new(OBJECT_MIPMAP, context, sizeof *mipmap);
    if (!mipmap)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mipmap->object.end = mipmap_end;
    mipmap->descriptor = *descriptor;
    mipmap->level_count = clamp_levels(descriptor, level_count);
    *result = mipmap;
    return CUDA_SUCCESS;
}

static CUresult mipmap_new(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           unsigned level_count, CUmipmappedArray *handle)
{
    uint64_t size_bytes;
    struct mipmap *mipmap;
    CUresult result = array_view(context, descriptor, level_count, &mipmap);
    if (result)
        return result;
    if (array_levels_bytes(descriptor, mipmap->level_count, &size_bytes))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    else
        result = take_memory(context, descriptor, size_bytes, &mipmap->block);
    if (result)
        object_delete(mipmap);
    else
        *handle = (CUmipmappedArray)(void *)mipmap;
    return result;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *handle, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                unsigned int level_count)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE) &&
        call_requires(&call, handle && descriptor))
        call.result = mipmap_new(call.context, descriptor, level_count, handle);
    return call_end(&call);
}

static CUresult get_level(struct mipmap *mipmap, unsigned level, CUarray *handle)
{
    struct array **place = &mipmap->levels[level];
    if (!*place) {
        *place = object_new(OBJECT_ARRAY, mipmap->object.context, sizeof **place);
        if (!*place)
            return CUDA_ERROR_OUT_OF_MEMORY;
        (*place)->is_level = true;
        (*place)->descriptor = array_level(&mipmap->descriptor, level);
    }
    *handle = (CUarray)(void *)*place;
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray *level_handle, CUmipmappedArray handle,
                                  unsigned int level)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT)) {
        struct mipmap *mipmap = array_find_mipmap(handle);
        if (!mipmap)
            call.result = CUDA_ERROR_INVALID_HANDLE;
        else if (call_requires(&call, level_handle && level < mipmap->level_count))
            call.result = get_level(mipmap, level, level_handle);
    }
    return call_end(&call);
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE)) {
        struct mipmap *mipmap = array_find_mipmap(handle);
        if (!mipmap) {
            call.result = CUDA_ERROR_INVALID_HANDLE;
        } else {
            for (unsigned level = 0; level < mipmap->level_count; level++)
                if (mipmap->levels[level])
                    object_delete(mipmap->levels[level]);
            give_memory(mipmap->block);
            object_delete(mipmap);
        }
    }
    return call_end(&call);
}
