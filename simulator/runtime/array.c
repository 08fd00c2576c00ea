/* SPDX-License-Identifier: MIT */
/*
 * Arrays. A runtime array is the driver's array with the same handle. The runtime describes an
 * element by the number of bits of each channel, the driver by a format and the number of channels.
 */
#include "array.h"

#include <stddef.h>

#include "call.h"
#include "context.h"

enum { CHANNEL_LIMIT = 4 };

struct element {
    enum cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
};

static const struct element elements[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

enum { ELEMENT_COUNT = sizeof elements / sizeof *elements };

/* Counts the channels. 0: invalid, because the used channels have different sizes or follow an
 * unused one. */
static unsigned int count_channels(const struct cudaChannelFormatDesc *descriptor)
{
    const int bits[CHANNEL_LIMIT] = {descriptor->x, descriptor->y, descriptor->z, descriptor->w};
    unsigned int count = 0;
    while (count < CHANNEL_LIMIT && bits[count] != 0 && bits[count] == bits[0])
        count++;
    for (unsigned int i = count; i < CHANNEL_LIMIT; i++)
        if (bits[i] != 0)
            return 0;
    return count == 3 ? 0 : count;
}

cudaError_t array_describe(CUDA_ARRAY3D_DESCRIPTOR *description,
                           const struct cudaChannelFormatDesc *descriptor, struct cudaExtent extent,
                           unsigned int flags)
{
    const unsigned int channels = count_channels(descriptor);
    for (size_t i = 0; i < ELEMENT_COUNT && channels; i++) {
        if (elements[i].kind != descriptor->f || elements[i].bits != descriptor->x)
            continue;
        *description = (CUDA_ARRAY3D_DESCRIPTOR){extent.width,       extent.height, extent.depth,
                                                 elements[i].format, channels,      flags};
        return cudaSuccess;
    }
    return cudaErrorInvalidChannelDescriptor;
}

/* The channels of a driver format; all zero if the runtime cannot describe it. */
static struct cudaChannelFormatDesc channels_of(CUarray_format format, unsigned int channels)
{
    struct cudaChannelFormatDesc descriptor = {.f = cudaChannelFormatKindNone};
    for (size_t i = 0; i < ELEMENT_COUNT; i++) {
        if (elements[i].format != format)
            continue;
        descriptor.f = elements[i].kind;
        descriptor.x = elements[i].bits;
        descriptor.y = channels >= 2 ? elements[i].bits : 0;
        descriptor.z = descriptor.w = channels == CHANNEL_LIMIT ? elements[i].bits : 0;
    }
    return descriptor;
}

GMT_EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                              enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

static cudaError_t array_new(cudaArray_t *array, const struct cudaChannelFormatDesc *descriptor,
                             struct cudaExtent extent, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR description;
    CUarray created = NULL;
    cudaError_t error = array_describe(&description, descriptor, extent, flags);
    if (error == cudaSuccess)
        error = error_of_driver(call_driver()->cuArray3DCreate_v2(&created, &description));
    if (error == cudaSuccess)
        *array = (cudaArray_t)created;
    return error;
}

GMT_EXPORT cudaError_t cudaMallocArray(cudaArray_t *array,
                                       const struct cudaChannelFormatDesc *descriptor, size_t width,
                                       size_t height, unsigned int flags)
{
    const struct cudaExtent extent = {width, height, 0};
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(array && descriptor, array_new(array, descriptor, extent, flags)));
}

GMT_EXPORT cudaError_t cudaMalloc3DArray(cudaArray_t *array,
                                         const struct cudaChannelFormatDesc *descriptor,
                                         struct cudaExtent extent, unsigned int flags)
{
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(array && descriptor, array_new(array, descriptor, extent, flags)));
}

static cudaError_t create_mipmapped(cudaMipmappedArray_t *array,
                                    const struct cudaChannelFormatDesc *descriptor,
                                    struct cudaExtent extent, unsigned int level_count,
                                    unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR description;
    CUmipmappedArray created = NULL;
    cudaError_t error = array_describe(&description, descriptor, extent, flags);
    if (error == cudaSuccess)
        error = error_of_driver(
            call_driver()->cuMipmappedArrayCreate(&created, &description, level_count));
    if (error == cudaSuccess)
        *array = (cudaMipmappedArray_t)created;
    return error;
}

GMT_EXPORT cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array,
                                                const struct cudaChannelFormatDesc *descriptor,
                                                struct cudaExtent extent, unsigned int level_count,
                                                unsigned int flags)
{
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(array && descriptor,
                                 create_mipmapped(array, descriptor, extent, level_count, flags)));
}

static cudaError_t get_level(cudaArray_t *level_array, CUmipmappedArray array, unsigned int level)
{
    CUarray found = NULL;
    const cudaError_t error =
        error_of_driver(call_driver()->cuMipmappedArrayGetLevel(&found, array, level));
    if (error == cudaSuccess)
        *level_array = (cudaArray_t)found;
    return error;
}

GMT_EXPORT cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level_array,
                                                  cudaMipmappedArray_const_t array,
                                                  unsigned int level)
{
    return CALL(
        NEEDS_CONTEXT,
        CALL_UNLESS_NULL(level_array, get_level(level_array, (CUmipmappedArray)array, level)));
}

static cudaError_t array_delete(cudaArray_t array)
{
    return array ? error_of_driver(call_driver()->cuArrayDestroy((CUarray)array)) : cudaSuccess;
}

GMT_EXPORT cudaError_t cudaFreeArray(cudaArray_t array)
{
    return CALL(NEEDS_CONTEXT, array_delete(array));
}

static cudaError_t destroy_mipmapped(cudaMipmappedArray_t array)
{
    return array ? error_of_driver(call_driver()->cuMipmappedArrayDestroy((CUmipmappedArray)array))
                 : cudaSuccess;
}

GMT_EXPORT cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
    return CALL(NEEDS_CONTEXT, destroy_mipmapped(array));
}

/* Any of the output parameters may be NULL. */
static cudaError_t get_info(struct cudaChannelFormatDesc *descriptor, struct cudaExtent *extent,
                            unsigned int *flags, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR description;
    const cudaError_t error =
        error_of_driver(call_driver()->cuArray3DGetDescriptor_v2(&description, array));
    if (error)
        return error;
    if (descriptor)
        *descriptor = channels_of(description.Format, description.NumChannels);
    if (extent)
        *extent = (struct cudaExtent){description.Width, description.Height, description.Depth};
    if (flags)
        *flags = description.Flags;
    return cudaSuccess;
}

GMT_EXPORT cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *descriptor,
                                        struct cudaExtent *extent, unsigned int *flags,
                                        cudaArray_t array)
{
    return CALL(NEEDS_CONTEXT, get_info(descriptor, extent, flags, (CUarray)array));
}

GMT_EXPORT cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *descriptor,
                                          cudaArray_const_t array)
{
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(descriptor, get_info(descriptor, NULL, NULL, (CUarray)array)));
}

/* --- sparse arrays and deferred mapping --- */

_Static_assert(sizeof(CUDA_ARRAY_SPARSE_PROPERTIES) == sizeof(struct cudaArraySparseProperties),
               "one is the other's bytes");
_Static_assert(sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS) == sizeof(struct cudaArrayMemoryRequirements),
               "one is the other's bytes");

GMT_EXPORT cudaError_t cudaArrayGetSparseProperties(struct cudaArraySparseProperties *properties,
                                                    cudaArray_t array)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuArrayGetSparseProperties(
                                   (void *)properties, (CUarray)array)));
}

GMT_EXPORT cudaError_t cudaMipmappedArrayGetSparseProperties(
    struct cudaArraySparseProperties *properties, cudaMipmappedArray_t array)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuMipmappedArrayGetSparseProperties(
                                   (void *)properties, (CUmipmappedArray)array)));
}

static cudaError_t memory_requirements(struct cudaArrayMemoryRequirements *requirements,
                                       CUarray array, int ordinal)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error
                 : error_of_driver(call_driver()->cuArrayGetMemoryRequirements((void *)requirements,
                                                                               array, device));
}

GMT_EXPORT cudaError_t cudaArrayGetMemoryRequirements(
    struct cudaArrayMemoryRequirements *requirements, cudaArray_t array, int device)
{
    return CALL(NEEDS_CONTEXT, memory_requirements(requirements, (CUarray)array, device));
}

static cudaError_t require_all(struct cudaArrayMemoryRequirements *requirements,
                               CUmipmappedArray array, int ordinal)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error
                 : error_of_driver(call_driver()->cuMipmappedArrayGetMemoryRequirements(
                       (void *)requirements, array, device));
}

GMT_EXPORT cudaError_t cudaMipmappedArrayGetMemoryRequirements(
    struct cudaArrayMemoryRequirements *requirements, cudaMipmappedArray_t array, int device)
{
    return CALL(NEEDS_CONTEXT, require_all(requirements, (CUmipmappedArray)array, device));
}
