/* SPDX-License-Identifier: MIT */
/* Families of the driver: arrays of every shape, mipmapped arrays, and arrays without memory of
   their own. */
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

/* The size is width x max(height, 1) x max(depth, 1) x channels x element. */
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

/* The size includes every level: 64 x 64, 32 x 32, 16 x 16. A level is part of its mipmapped
   array and is no allocation. */
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

/* --- arrays whose memory is created apart and mapped into them --- */

static CUmemGenericAllocationHandle create_tiles(uint64_t bytes)
{
    const CUmemAllocationProp tiles = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                                       .allocFlags = {.usage = CU_MEM_CREATE_USAGE_TILE_POOL}};
    CUmemGenericAllocationHandle handle = 0;
    DRIVER(cuMemCreate, (&handle, bytes, &tiles, 0));
    book_alloc(MEMORY_VMM, handle, bytes);
    return handle;
}

/* The handle is released while the memory is mapped, so the memory lives until it is unmapped. */
static void map_and_unmap(CUarrayMapInfo *part, CUmemGenericAllocationHandle handle, uint64_t bytes)
{
    part->memOperationType = CU_MEM_OPERATION_TYPE_MAP;
    part->memHandle.memHandle = handle;
    DRIVER(cuMemMapArrayAsync, (part, 1, NULL));
    book_event(EVENT_BIND, MEMORY_VMM, UNSAID, UNSAID, handle);
    DRIVER(cuMemRelease, (handle));
    book_release(handle);
    part->memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
    part->memHandle.memHandle = 0;
    DRIVER(cuMemMapArrayAsync, (part, 1, NULL));
    book_event(EVENT_UNBIND, MEMORY_VMM, UNSAID, UNSAID, UNSAID);
    book_end(MEMORY_VMM, bytes);
    DRIVER(cuStreamSynchronize, (NULL));
}

static void needs(CUdevice_attribute attribute)
{
    int supported = 0;
    DRIVER(cuDeviceGetAttribute, (&supported, attribute, 0));
    family_needs(supported, "this device has no arrays of this kind");
}

void driver_sparse_array(void)
{
    CUDA_ARRAY_SPARSE_PROPERTIES properties;
    needs(CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED);
    const CUarray array = array_of(
        (CUDA_ARRAY3D_DESCRIPTOR){
            .Width = 1024, .Height = 1024, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SPARSE},
        0);
    DRIVER(cuArrayGetSparseProperties, (&properties, array));
    CUarrayMapInfo tile = {
        .resourceType = CU_RESOURCE_TYPE_ARRAY,
        .resource = {.array = array},
        .subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL,
        .subresource = {.sparseLevel = {.extentWidth = properties.tileExtent.width,
                                        .extentHeight = properties.tileExtent.height,
                                        .extentDepth = properties.tileExtent.depth}},
        .deviceBitMask = 1};
    map_and_unmap(&tile, create_tiles(2 * MIB), 2 * MIB);
    destroy(array, 0);
}

void driver_deferred_array(void)
{
    CUDA_ARRAY_MEMORY_REQUIREMENTS needed;
    needs(CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED);
    const CUarray array = array_of(
        (CUDA_ARRAY3D_DESCRIPTOR){
            .Width = 300, .Height = 100, .NumChannels = 1, .Flags = CUDA_ARRAY3D_DEFERRED_MAPPING},
        0);
    DRIVER(cuArrayGetMemoryRequirements, (&needed, array, 0));
    family_needs(needed.size <= 2 * MIB, "the array needs more than was thought");
    CUarrayMapInfo whole = {
        .resourceType = CU_RESOURCE_TYPE_ARRAY, .resource = {.array = array}, .deviceBitMask = 1};
    map_and_unmap(&whole, create_tiles(2 * MIB), 2 * MIB);
    destroy(array, 0);
}
