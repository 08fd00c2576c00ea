/* SPDX-License-Identifier: MIT */
/* See conv_workspace.h. */
#include "conv_workspace.h"

#include "saturated.h"

bool conv_has_tensor_cores(enum conv_type type, int capability_major)
{
    switch (type) {
    case CONV_HALF:
        return capability_major >= 7;
    case CONV_FLOAT:
    case CONV_BFLOAT16:
        return capability_major >= 8;
    default:
        return false;
    }
}

/* --- numbers --- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- shapes --- */

static uint64_t elements_from(const struct conv_tensor *tensor, int first)
{
    uint64_t elements = 1;
    for (int i = first; i < tensor->count; i++)
        elements = saturated_times(elements, tensor->dimensions[i]);
    return elements;
}

/* Returns the bytes of a copy in NHWC. The channels of the copy are padded, so that each pixel
 * begins at a multiple of granule elements. */
static uint64_t copy_bytes(const struct conv_call *call, const struct conv_tensor *tensor,
                           uint64_t granule)
{
    const uint64_t channels =
        saturated_plus(tensor->dimensions[1], granule - 1) / granule * granule;
    return saturated_times(saturated_times(tensor->dimensions[0], channels),
                           saturated_times(elements_from(tensor, 2), call->element_bytes));
}

static bool is_depthwise(const struct conv_call *call)
{
    return call->w.dimensions[1] == 1 && call->x.dimensions[1] > 1;
}

/* Is this the first layer of a model, which reads the few channels of an image? */
static bool is_first(const struct conv_call *call)
{
    return call->w.dimensions[1] <= 3;
}

/* cuDNN has kernels in NCHW for first layers, but not for large filters. */
static bool has_first_filter(const struct conv_call *call)
{
    enum { FILTER_MAX = 16 };

    return is_first(call) && elements_from(&call->w, 2) <= FILTER_MAX;
}

static bool is_product(const struct conv_call *call)
{
    return call->is_plain && elements_from(&call->w, 2) == 1;
}

/* --- workspaces --- */

/* Returns the bytes of one partial gradient of the filter, in single precision. */
static uint64_t part_bytes(const struct conv_call *call)
{
    return saturated_times(elements_from(&call->w, 0), sizeof(float));
}

/* In NCHW, a product needs copies unless each row (the pixels of one channel of an image) begins at
 * a multiple of 8 bytes. The gradient of the filter then has a part for each image if the filter's
 * channels fill vectors. */
static uint64_t product_bytes(const struct conv_call *call)
{
    enum { ALIGNMENT = 8, VECTOR = 4 };
    const uint64_t row_bytes = saturated_times(elements_from(&call->x, 2), call->element_bytes);
    const uint64_t copies =
        saturated_times(saturated_plus(elements_from(&call->x, 0), elements_from(&call->y, 0)),
                        call->element_bytes);

    if (row_bytes % ALIGNMENT)
        return copies;
    if (call->direction != CONV_FILTER)
        return 0;
    if (call->w.dimensions[0] % VECTOR)
        return copies;
    return smaller(saturated_times(call->x.dimensions[0], part_bytes(call)), copies);
}

/* Returns the bytes of the partial gradients: as many parts as fit in 64 KiB for each
 * multiprocessor, up to a limit. */
static uint64_t partial_bytes(const struct conv_call *call)
{
    enum { PARTS_MAX = 14, FIRST_PARTS_MAX = 160, MULTIPROCESSOR_BYTES = 64 << 10 };
    const uint64_t part = part_bytes(call);
    const uint64_t room = call->processor_count * MULTIPROCESSOR_BYTES;
    const uint64_t parts_max = is_first(call) ? FIRST_PARTS_MAX : PARTS_MAX;

    if (call->direction != CONV_FILTER || (call->type != CONV_FLOAT && !is_first(call)))
        return 0;
    return part && part <= room ? part * smaller(room / part, parts_max) : room;
}

/* A depthwise convolution has one filter for each channel. In NHWC the gradient has one part for
 * every six pixels if there are many pixels. */
static uint64_t depthwise_bytes(const struct conv_call *call)
{
    enum { PIXELS_MANY = 16384, PIXELS_FOR_PART = 6 };
    const uint64_t pixels = saturated_times(call->x.dimensions[0], elements_from(&call->x, 2));

    if (call->direction != CONV_FILTER || call->type != CONV_FLOAT || !call->is_channels_last ||
        pixels < PIXELS_MANY)
        return 0;
    return saturated_times(pixels / PIXELS_FOR_PART, part_bytes(call));
}

/* A 1x1 filter is the same in both layouts, so it is not copied. */
static uint64_t copies_bytes(const struct conv_call *call)
{
    enum { PIXEL_BYTES = 16 };
    const bool is_padded = call->element_bytes < sizeof(float) || call->direction == CONV_FILTER;
    const uint64_t granule = is_padded ? PIXEL_BYTES / call->element_bytes : 1;
    uint64_t bytes =
        saturated_plus(copy_bytes(call, &call->x, granule), copy_bytes(call, &call->y, granule));

    if (elements_from(&call->w, 2) > 1)
        bytes = saturated_plus(bytes, copy_bytes(call, &call->w, granule));
    return bytes;
}

uint64_t conv_workspace_bytes(const struct conv_call *call)
{
    if (is_depthwise(call))
        return depthwise_bytes(call);
    if (call->is_channels_last)
        return partial_bytes(call);
    if (has_first_filter(call))
        return 0;
    if (is_product(call))
        return product_bytes(call);
    return saturated_plus(copies_bytes(call), partial_bytes(call));
}
