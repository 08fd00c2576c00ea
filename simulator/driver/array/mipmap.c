/* SPDX-License-Identifier: MIT */
/*
 * Mipmapped arrays. One allocation holds all levels, and the handle of a level is a view of that
 * allocation.
 */
#include "array.h"
#include "simulator/driver/machine/call.h"
#include "gpumemtrace/compiler.h"

struct mipmap *array_find_mipmap(CUmipmappedArray handle)
{
    return object_find(handle, OBJECT_MIPMAP);
}

static uint64_t at_least_one(uint64_t extent)
{
    return extent ? extent : 1;
}

static uint64_t halved(uint64_t extent, unsigned level)
{
    return extent ? at_least_one(extent >> level) : 0;
}

/* Returns the descriptor of a level. Each level of a layered or cube array has all layers; the
 * depth of a 3D array shrinks. */
CUDA_ARRAY3D_DESCRIPTOR array_level(const CUDA_ARRAY3D_DESCRIPTOR *whole, unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor = *whole;
    descriptor.Width = halved(whole->Width, level);
    descriptor.Height = halved(whole->Height, level);
    if (!(whole->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        descriptor.Depth = halved(whole->Depth, level);
    return descriptor;
}

/* Limits the number of levels, as documented: the last level's longest side is 1. */
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
    if (!array_is_valid(descriptor))
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
        result = array_take_memory(context, descriptor, size_bytes, &mipmap->block);
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
            array_give_memory(mipmap->block);
            object_delete(mipmap);
        }
    }
    return call_end(&call);
}
