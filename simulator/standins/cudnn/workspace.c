/* SPDX-License-Identifier: MIT */
/* The assumed workspace; see workspace.h. */
#include "workspace.h"

#include <stdint.h>
#include <stdlib.h>

#include "common/numbers.h"
#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/err.h"

/* cudnnDataType_t. */
enum { TYPE_FLOAT = 0, TYPE_HALF = 2, TYPE_BFLOAT16 = 9 };

/* --- the device --- */

static int device_attribute(int attribute)
{
    int device = 0, value = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&value, attribute, device);
    return value;
}

bool convolution_uses_tensor_cores(const struct convolution *convolution)
{
    const int major = device_attribute(cudaDevAttrComputeCapabilityMajor);
    switch (convolution->x.data_type) {
    case TYPE_HALF:
        return major >= 7;
    case TYPE_FLOAT:
    case TYPE_BFLOAT16:
        return major >= 8;
    default:
        return false;
    }
}

/* --- shapes --- */

static size_t elements_from(const struct cudnn_shape *shape, int first)
{
    size_t elements = 1;
    for (int i = first; i < shape->count; i++)
        elements *= (size_t)shape->dimensions[i];
    return elements;
}

static size_t tensor_bytes(const struct cudnn_shape *shape)
{
    return elements_from(shape, 0) * cudnn_element_bytes(shape->data_type);
}

/* In NHWC, with so many channels that a pixel begins at a multiple of granule elements. */
static size_t copy_bytes(const struct cudnn_shape *shape, size_t granule)
{
    const size_t channels = ((size_t)shape->dimensions[1] + granule - 1) / granule * granule;
    return (size_t)shape->dimensions[0] * channels * elements_from(shape, 2) *
           cudnn_element_bytes(shape->data_type);
}

static bool is_channels_last(const struct cudnn_shape *shape)
{
    return shape->strides[1] == 1 && elements_from(shape, 2) > 1;
}

static bool is_depthwise(const struct convolution *convolution)
{
    return convolution->w.dimensions[1] == 1 && convolution->x.dimensions[1] > 1;
}

/* An image's channels. */
static bool is_first(const struct convolution *convolution)
{
    return convolution->w.dimensions[1] <= 3;
}

/* For a first layer there are kernels in NCHW, but not for large filters. */
static bool has_first_filter(const struct convolution *convolution)
{
    enum { FILTER_MAX = 16 };
    return is_first(convolution) && elements_from(&convolution->w, 2) <= FILTER_MAX;
}

static bool is_product(const struct convolution *convolution)
{
    return convolution->is_plain && elements_from(&convolution->w, 2) == 1;
}

/* --- what is taken --- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A gradient of a filter that is not complete: in single precision. */
static size_t part_bytes(const struct convolution *convolution)
{
    return elements_from(&convolution->w, 0) * sizeof(float);
}

/* For a product in NCHW an image's rows, one for each channel, must begin at multiples of 8 bytes. The gradient of its
 * filter has a part for each image if their channels fill vectors. */
static size_t product_bytes(const struct convolution *convolution)
{
    enum { ALIGNMENT = 8, VECTOR = 4 };
    const size_t row_bytes =
        elements_from(&convolution->x, 2) * cudnn_element_bytes(convolution->x.data_type);
    const size_t copies = tensor_bytes(&convolution->x) + tensor_bytes(&convolution->y);
    if (row_bytes % ALIGNMENT)
        return copies;
    if (convolution->direction != CONVOLUTION_FILTER)
        return 0;
    if (convolution->w.dimensions[0] % VECTOR)
        return copies;
    return smaller((size_t)convolution->x.dimensions[0] * part_bytes(convolution), copies);
}

/* As many parts as 64 KiB for each multiprocessor hold, but not more than this. */
static size_t partial_bytes(const struct convolution *convolution)
{
    enum { PARTS_MAX = 14, FIRST_PARTS_MAX = 160, MULTIPROCESSOR_BYTES = 64 << 10 };
    const size_t part = part_bytes(convolution);
    const size_t room =
        (size_t)device_attribute(cudaDevAttrMultiProcessorCount) * MULTIPROCESSOR_BYTES;
    const size_t parts_max = is_first(convolution) ? FIRST_PARTS_MAX : PARTS_MAX;
    if (convolution->direction != CONVOLUTION_FILTER ||
        (convolution->x.data_type != TYPE_FLOAT && !is_first(convolution)))
        return 0;
    return part && part <= room ? part * smaller(room / part, parts_max) : room;
}

/* One filter for each channel: in NHWC the gradient has a part for six pixels, if there are many. */
static size_t depthwise_bytes(const struct convolution *convolution)
{
    enum { PIXELS_MANY = 16384, PIXELS_FOR_PART = 6 };
    const size_t pixels = (size_t)convolution->x.dimensions[0] * elements_from(&convolution->x, 2);
    if (convolution->direction != CONVOLUTION_FILTER || convolution->x.data_type != TYPE_FLOAT ||
        !is_channels_last(&convolution->x) || pixels < PIXELS_MANY)
        return 0;
    return pixels / PIXELS_FOR_PART * part_bytes(convolution);
}

/* A 1x1 filter is the same in both layouts. */
static size_t copies_bytes(const struct convolution *convolution)
{
    enum { PIXEL_BYTES = 16 };
    const size_t element = cudnn_element_bytes(convolution->x.data_type);
    const bool is_padded = element < sizeof(float) || convolution->direction == CONVOLUTION_FILTER;
    const size_t granule = is_padded ? PIXEL_BYTES / element : 1;
    size_t bytes = copy_bytes(&convolution->x, granule) + copy_bytes(&convolution->y, granule);
    if (elements_from(&convolution->w, 2) > 1)
        bytes += copy_bytes(&convolution->w, granule);
    return bytes;
}

static size_t assumed_bytes(const struct convolution *convolution)
{
    if (is_depthwise(convolution))
        return depthwise_bytes(convolution);
    if (is_channels_last(&convolution->x))
        return partial_bytes(convolution);
    if (has_first_filter(convolution))
        return 0;
    if (is_product(convolution))
        return product_bytes(convolution);
    return copies_bytes(convolution) + partial_bytes(convolution);
}

size_t convolution_workspace(const struct convolution *convolution, bool on_tensor_cores)
{
    const char *text = getenv("GPUMEMTRACE_SIM_CONV_WORKSPACE");
    uint64_t bytes;
    struct err err;
    if (text && *text && !size_parse(text, &bytes, &err))
        return (size_t)bytes;
    return on_tensor_cores ? assumed_bytes(convolution) : 0;
}
