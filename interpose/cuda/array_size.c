/* SPDX-License-Identifier: MIT */
/*
 * See array_size.h. The sizes are those that the descriptor requests (width x height x depth x
 * element). The padding is not included, because only the driver knows it.
 */
#include "array_size.h"

#include <stdbool.h>

enum {
    FLAG_LAYERED = 0x01,
    FLAG_SPARSE = 0x40,
    FLAG_DEFERRED_MAPPING = 0x80,
};

uint64_t array_element_bits(int format, unsigned channel_count)
{
    static const struct {
        int first, last;
        uint64_t bits;
        bool many;
    } formats[] = {
#define ONE false
#define MANY true
#define FORMAT(first, last, bits, channels) {first, last, bits, channels},
#include "array_formats.def"
#undef ONE
#undef MANY
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (format >= formats[i].first && format <= formats[i].last)
            return formats[i].bits * (formats[i].many ? channel_count : 1);
    return 0;
}

static uint64_t at_least_one(uint64_t extent)
{
    return extent ? extent : 1;
}

/* Returns the bytes of one level, rounded up. */
static uint64_t level_bytes(const struct array_shape *shape, uint64_t width, uint64_t height,
                            uint64_t depth)
{
    const uint64_t elements = product(product(width, at_least_one(height)), at_least_one(depth));
    const uint64_t bits = product(elements, shape->element_bits);
    return bits == UINT64_MAX ? bits : bits / 8 + (bits % 8 != 0);
}

/* Like the driver, counts at least one level, and counts no level after the level whose extents are
 * all 1. */
uint64_t array_shape_mipmap_bytes(const struct array_shape *shape, unsigned level_count)
{
    const bool layered = shape->flags & FLAG_LAYERED;
    uint64_t sum = 0, width = shape->width, height = shape->height, depth = shape->depth;
    if (shape->flags & (FLAG_SPARSE | FLAG_DEFERRED_MAPPING))
        return 0;
    for (unsigned level = 0;; level++) {
        if (GMT_ADD_OVERFLOWS(sum, level_bytes(shape, width, height, depth), &sum))
            return UINT64_MAX;
        if (level + 1 >= level_count || (width <= 1 && height <= 1 && (layered || depth <= 1)))
            return sum;
        width = at_least_one(width / 2);
        height = height ? at_least_one(height / 2) : 0;
        if (!layered)
            depth = depth ? at_least_one(depth / 2) : 0;
    }
}

uint64_t array_bytes(const CUDA_ARRAY_DESCRIPTOR *descriptor)
{
    if (!descriptor)
        return 0;
    const struct array_shape shape = {
        .width = descriptor->Width,
        .height = descriptor->Height,
        .element_bits = array_element_bits((int)descriptor->Format, descriptor->NumChannels)};
    return array_shape_mipmap_bytes(&shape, 1);
}

static struct array_shape shape_of(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    return (struct array_shape){
        .width = descriptor->Width,
        .height = descriptor->Height,
        .depth = descriptor->Depth,
        .element_bits = array_element_bits((int)descriptor->Format, descriptor->NumChannels),
        .flags = descriptor->Flags};
}

uint64_t array_3d_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    return array_mipmap_bytes(descriptor, 1);
}

uint64_t array_mipmap_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned level_count)
{
    if (!descriptor)
        return 0;
    const struct array_shape shape = shape_of(descriptor);
    return array_shape_mipmap_bytes(&shape, level_count);
}

uint64_t array_bytes_v1(const CUDA_ARRAY_DESCRIPTOR_v1 *descriptor)
{
    if (!descriptor)
        return 0;
    const CUDA_ARRAY_DESCRIPTOR widened = {.Width = descriptor->Width,
                                           .Height = descriptor->Height,
                                           .Format = descriptor->Format,
                                           .NumChannels = descriptor->NumChannels};
    return array_bytes(&widened);
}

uint64_t array_3d_bytes_v1(const CUDA_ARRAY3D_DESCRIPTOR_v1 *descriptor)
{
    if (!descriptor)
        return 0;
    const CUDA_ARRAY3D_DESCRIPTOR widened = {.Width = descriptor->Width,
                                             .Height = descriptor->Height,
                                             .Depth = descriptor->Depth,
                                             .Format = descriptor->Format,
                                             .NumChannels = descriptor->NumChannels,
                                             .Flags = descriptor->Flags};
    return array_3d_bytes(&widened);
}

/* The runtime has kinds for planar, compressed and packed formats. For the other kinds, add the
 * bits of the channels. */
static uint64_t runtime_element_bits(const struct cudaChannelFormatDesc *format)
{
    enum { KIND_NV12 = 4, KIND_BC1 = 17, KIND_BC7_SRGB = 30, KIND_1010102 = 31 };
    enum { FORMAT_1010102 = 0x50, FORMAT_BC1 = 0x91, FORMAT_NV12 = 0xb0 };
    const int kind = (int)format->f;
    const int64_t bits = (int64_t)format->x + format->y + format->z + format->w;
    if (kind == KIND_NV12)
        return array_element_bits(FORMAT_NV12, 1);
    if (kind == KIND_1010102)
        return array_element_bits(FORMAT_1010102, 1);
    if (kind >= KIND_BC1 && kind <= KIND_BC7_SRGB)
        return array_element_bits(FORMAT_BC1 + kind - KIND_BC1, 1);
    return bits > 0 ? (uint64_t)bits : 0;
}

uint64_t array_runtime_bytes(const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                             unsigned flags, unsigned level_count)
{
    if (!format)
        return 0;
    const struct array_shape shape = {.width = extent.width,
                                      .height = extent.height,
                                      .depth = extent.depth,
                                      .element_bits = runtime_element_bits(format),
                                      .flags = flags};
    return array_shape_mipmap_bytes(&shape, level_count);
}
