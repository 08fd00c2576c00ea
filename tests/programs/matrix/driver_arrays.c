/* SPDX-License-Identifier: MIT */
/* Families of the driver: arrays of every shape, mipmaps, and arrays without memory of their own.
 */
#include "matrix.h"

#define FLOAT_BYTES 4

static CUarray array_of(CUDA_ARRAY3D_DESCRIPTOR shape, uint64_t bytes)
{
    CUarray array = NULL;
    shape.Format = CU_AD_FORMAT_FLOAT;
    DRIVER(cuArray3DCreate_v2, (&array, &shape));
    book_alloc(MEMORY_ARRAY, bits(array), bytes);
    return array;
}

static void destroy(CUarray array, uint64_t bytes)
{
    DRIVER(cuArrayDestroy, (array));
    book_free(MEMORY_ARRAY, bits(array), bytes);
}

/* Width x max(height, 1) x max(depth, 1) x channels x element. */
void driver_arrays(void)
{
    const CUDA_ARRAY_DESCRIPTOR line = {
        .Width = 1000, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    const CUDA_ARRAY_DESCRIPTOR plane = {
        .Width = 100, .Height = 30, .Format = CU_AD_FORMAT_HALF, .NumChannels = 4};
    CUarray first = NULL, second = NULL;
    DRIVER(cuArrayCreate_v2, (&first, &line));
    book_alloc(MEMORY_ARRAY, bits(first), 1000 * 2 * FLOAT_BYTES);
    DRIVER(cuArrayCreate_v2, (&second, &plane));
    book_alloc(MEMORY_ARRAY, bits(second), 100 * 30 * 4 * 2);
    destroy(first, 1000 * 2 * FLOAT_BYTES);
    destroy(second, 100 * 30 * 4 * 2);
}

void driver_arrays_3d(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR body = {.Width = 64, .Height = 32, .Depth = 8, .NumChannels = 1};
    const CUDA_ARRAY3D_DESCRIPTOR layers = {
        .Width = 64, .Depth = 5, .NumChannels = 1, .Flags = CUDA_ARRAY3D_LAYERED};
    const CUDA_ARRAY3D_DESCRIPTOR cube = {
        .Width = 32, .Height = 32, .Depth = 6, .NumChannels = 4, .Flags = CUDA_ARRAY3D_CUBEMAP};
    const CUarray first = array_of(body, 64 * 32 * 8 * FLOAT_BYTES);
    const CUarray second = array_of(layers, 64 * 5 * FLOAT_BYTES);
    const CUarray third = array_of(cube, 32 * 32 * 6 * 4 * FLOAT_BYTES);
    destroy(first, 64 * 32 * 8 * FLOAT_BYTES);
    destroy(second, 64 * 5 * FLOAT_BYTES);
    destroy(third, 32 * 32 * 6 * 4 * FLOAT_BYTES);
}

void driver_arrays_v1(void)
{
    const CUDA_ARRAY_DESCRIPTOR_v1 plane = {
        .Width = 200, .Height = 30, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    const CUDA_ARRAY3D_DESCRIPTOR_v1 body = {
        .Width = 64, .Height = 32, .Depth = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUarray first = NULL, second = NULL;
    DRIVER(cuArrayCreate, (&first, &plane));
    book_alloc(MEMORY_ARRAY, bits(first), 200 * 30 * 4);
    DRIVER(cuArray3DCreate, (&second, &body));
    book_alloc(MEMORY_ARRAY, bits(second), 64 * 32 * 4 * FLOAT_BYTES);
    destroy(first, 200 * 30 * 4);
    destroy(second, 64 * 32 * 4 * FLOAT_BYTES);
}

/* Every level counts: 64 x 64, 32 x 32, 16 x 16. A level is part of its mipmap. */
void driver_mipmap(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    const uint64_t bytes = (64 * 64 + 32 * 32 + 16 * 16) * FLOAT_BYTES;
    CUmipmappedArray mipmap = NULL;
    CUarray level = NULL;
    DRIVER(cuMipmappedArrayCreate, (&mipmap, &shape, 3));
    book_alloc(MEMORY_ARRAY, bits(mipmap), bytes);
    DRIVER(cuMipmappedArrayGetLevel, (&level, mipmap, 1));
    DRIVER(cuMipmappedArrayDestroy, (mipmap));
    book_free(MEMORY_ARRAY, bits(mipmap), bytes);
}

/* A sparse array is address space; what is mapped into it is the memory that was created. */
void driver_sparse_array(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 1024,
                                           .Height = 1024,
                                           .Format = CU_AD_FORMAT_FLOAT,
                                           .NumChannels = 1,
                                           .Flags = CUDA_ARRAY3D_SPARSE};
    const CUmemAllocationProp tiles = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                                       .allocFlags = {.usage = CU_MEM_CREATE_USAGE_TILE_POOL}};
    CUDA_ARRAY_SPARSE_PROPERTIES properties;
    CUmemGenericAllocationHandle handle = 0;
    CUarray array = NULL;
    int supported = 0;
    DRIVER(cuDeviceGetAttribute, (&supported, CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED, 0));
    family_needs(supported, "this device has no sparse arrays");
    DRIVER(cuArray3DCreate_v2, (&array, &shape));
    book_alloc(MEMORY_ARRAY, bits(array), 0);
    DRIVER(cuArrayGetSparseProperties, (&properties, array));
    DRIVER(cuMemCreate, (&handle, 2 * MIB, &tiles, 0));
    book_alloc(MEMORY_VMM, handle, 2 * MIB);

    CUarrayMapInfo tile = {
        .resourceType = CU_RESOURCE_TYPE_ARRAY,
        .resource = {.array = array},
        .subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL,
        .subresource = {.sparseLevel = {.extentWidth = properties.tileExtent.width,
                                        .extentHeight = properties.tileExtent.height,
                                        .extentDepth = properties.tileExtent.depth}},
        .memOperationType = CU_MEM_OPERATION_TYPE_MAP,
        .memHandleType = CU_MEM_HANDLE_TYPE_GENERIC,
        .memHandle = {.memHandle = handle},
        .deviceBitMask = 1};
    DRIVER(cuMemMapArrayAsync, (&tile, 1, NULL));
    book_event(EVENT_BIND, MEMORY_VMM, UNSAID, UNSAID, handle);
    DRIVER(cuMemRelease, (handle));
    book_release(handle);
    tile.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
    tile.memHandle.memHandle = 0;
    DRIVER(cuMemMapArrayAsync, (&tile, 1, NULL));
    book_event(EVENT_UNBIND, MEMORY_VMM, UNSAID, UNSAID, UNSAID);
    book_end(MEMORY_VMM, 2 * MIB);
    DRIVER(cuStreamSynchronize, (NULL));
    destroy(array, 0);
}
