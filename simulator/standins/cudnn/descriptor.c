/* SPDX-License-Identifier: MIT */
/* Descriptors of cuDNN's older interface. See descriptor.h. */
#include "descriptor.h"

#include <string.h>

#include "simulator/standins/standin.h"
#include "status.h"

size_t cudnn_element_bytes(int data_type)
{
    /* By cudnnDataType_t: float, double, half, int8, int32, int8x4, uint8, uint8x4, int8x32,
     * bfloat16, int64, bool, fp8 e4m3, fp8 e5m2. */
    static const unsigned char bytes[] = {4, 8, 2, 1, 4, 4, 1, 4, 32, 2, 8, 1, 1, 1};
    return (size_t)data_type < sizeof bytes ? bytes[data_type] : 4;
}

void cudnn_shape_set_matrix(struct cudnn_shape *shape, int data_type, int rows, int columns)
{
    *shape =
        (struct cudnn_shape){data_type, 0, 3, {1, rows, columns}, {rows * columns, columns, 1}};
}

static int create(struct cudnn_shape **created)
{
    *created = calloc(1, sizeof **created);
    return *created ? CUDNN_SUCCESS : CUDNN_HOST_ALLOCATION_FAILED;
}

#define DESCRIPTOR(what)                                                                           \
    STANDIN(int, cudnnCreate##what##Descriptor, (struct cudnn_shape * *created))                   \
    {                                                                                              \
        return create(created);                                                                    \
    }                                                                                              \
    STANDIN_DESTROY(cudnnDestroy##what##Descriptor)
DESCRIPTOR(Tensor)
DESCRIPTOR(Filter)

/* Descriptors that programs set and nothing here reads. */
#define OPAQUE(what)                                                                               \
    STANDIN_CREATE(cudnnCreate##what##Descriptor, CUDNN_HOST_ALLOCATION_FAILED)                    \
    STANDIN_DESTROY(cudnnDestroy##what##Descriptor)
OPAQUE(Activation)
OPAQUE(CTCLoss)
OPAQUE(Pooling)
OPAQUE(SpatialTransformer)

static int set(struct cudnn_shape *shape, int data_type, int format, int count,
               const int *dimensions, const int *strides)
{
    if (!shape || !dimensions || count < 1 || count > CUDNN_DIMENSIONS_MAX)
        return CUDNN_BAD_PARAM;
    *shape = (struct cudnn_shape){.data_type = data_type, .format = format, .count = count};
    memcpy(shape->dimensions, dimensions, (size_t)count * sizeof *dimensions);
    if (strides)
        memcpy(shape->strides, strides, (size_t)count * sizeof *strides);
    return CUDNN_SUCCESS;
}

static int get(const struct cudnn_shape *shape, int wanted, int *count, int *dimensions,
               int *strides)
{
    if (!shape || wanted < 0)
        return CUDNN_BAD_PARAM;
    const size_t copied = (size_t)(wanted < shape->count ? wanted : shape->count);
    *count = shape->count;
    memcpy(dimensions, shape->dimensions, copied * sizeof *dimensions);
    if (strides)
        memcpy(strides, shape->strides, copied * sizeof *strides);
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnSetTensorNdDescriptor,
        (struct cudnn_shape * shape, int data_type, int count, const int *dimensions,
         const int *strides))
{
    return set(shape, data_type, 0, count, dimensions, strides);
}

STANDIN(int, cudnnGetTensorNdDescriptor,
        (const struct cudnn_shape *shape, int wanted, int *data_type, int *count, int *dimensions,
         int *strides))
{
    const int status = get(shape, wanted, count, dimensions, strides);
    if (!status)
        *data_type = shape->data_type;
    return status;
}

STANDIN(int, cudnnSetFilterNdDescriptor,
        (struct cudnn_shape * shape, int data_type, int format, int count, const int *dimensions))
{
    return set(shape, data_type, format, count, dimensions, NULL);
}

STANDIN(int, cudnnGetFilterNdDescriptor,
        (const struct cudnn_shape *shape, int wanted, int *data_type, int *format, int *count,
         int *dimensions))
{
    const int status = get(shape, wanted, count, dimensions, NULL);
    if (!status) {
        *data_type = shape->data_type;
        *format = shape->format;
    }
    return status;
}
