/* SPDX-License-Identifier: MIT */
/* The assumed workspace. See workspace.h. */
#include "workspace.h"

#include <stdint.h>
#include <stdlib.h>

#include "common/numbers.h"
#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/err.h"

static int device_attribute(int attribute)
{
    int device = 0, value = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&value, attribute, device);
    return value;
}

static enum conv_type type_of(const struct convolution *convolution)
{
    enum { TYPE_FLOAT = 0, TYPE_HALF = 2, TYPE_BFLOAT16 = 9 }; /* cudnnDataType_t */

    switch (convolution->x.data_type) {
    case TYPE_FLOAT:
        return CONV_FLOAT;
    case TYPE_HALF:
        return CONV_HALF;
    case TYPE_BFLOAT16:
        return CONV_BFLOAT16;
    default:
        return CONV_OTHER;
    }
}

bool convolution_uses_tensor_cores(const struct convolution *convolution)
{
    return conv_has_tensor_cores(type_of(convolution),
                                 device_attribute(cudaDevAttrComputeCapabilityMajor));
}

static struct conv_tensor tensor_of(const struct cudnn_shape *shape)
{
    struct conv_tensor tensor = {.count = shape->count};
    for (int i = 0; i < shape->count && i < CONV_DIMENSIONS_MAX; i++)
        tensor.dimensions[i] = (uint64_t)shape->dimensions[i];
    return tensor;
}

static struct conv_call call_of(const struct convolution *convolution)
{
    struct conv_call call = {.direction = convolution->direction,
                             .type = type_of(convolution),
                             .element_bytes = cudnn_element_bytes(convolution->x.data_type),
                             .x = tensor_of(&convolution->x),
                             .w = tensor_of(&convolution->w),
                             .y = tensor_of(&convolution->y),
                             .is_plain = convolution->is_plain};
    uint64_t pixels = 1;
    for (int i = 2; i < call.x.count; i++)
        pixels *= call.x.dimensions[i];
    call.is_channels_last = convolution->x.strides[1] == 1 && pixels > 1;
    call.processor_count = (uint64_t)device_attribute(cudaDevAttrMultiProcessorCount);
    return call;
}

size_t convolution_workspace(const struct convolution *convolution, bool on_tensor_cores)
{
    const char *text = getenv("GPUMEMTRACE_SIM_CONV_WORKSPACE");
    uint64_t bytes;
    struct err err;
    if (text && *text && !size_parse(text, &bytes, &err))
        return (size_t)bytes;
    const struct conv_call call = call_of(convolution);
    return on_tensor_cores ? (size_t)conv_workspace_bytes(&call) : 0;
}
