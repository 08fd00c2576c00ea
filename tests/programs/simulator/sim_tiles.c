/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests sparse arrays and arrays with deferred mapping on the simulated driver. The numbers of
 * sections are those of the CUDA Driver API.
 */
#include <stdint.h>

#include "sim_device.h"

#define TILE ((size_t)64 << 10)

static CUmemGenericAllocationHandle create(unsigned short usage)
{
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                            .allocFlags.usage = usage};
    CUmemGenericAllocationHandle handle;
    EXPECT(cuMemCreate(&handle, GRANULE, &properties, 0), 0);
    return handle;
}

static CUarray create_array(size_t width, size_t height, unsigned flags)
{
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Width = width,
                                                .Height = height,
                                                .Format = CU_AD_FORMAT_FLOAT,
                                                .NumChannels = 1,
                                                .Flags = flags};
    CUarray array;
    EXPECT(cuArray3DCreate_v2(&array, &descriptor), 0);
    return array;
}

static CUarrayMapInfo map_info(CUarray array, CUmemGenericAllocationHandle memory)
{
    return (CUarrayMapInfo){
        .resourceType = CU_RESOURCE_TYPE_ARRAY,
        .resource.array = array,
        .subresource.sparseLevel = {.extentWidth = 128, .extentHeight = 128, .extentDepth = 1},
        .memOperationType = memory ? CU_MEM_OPERATION_TYPE_MAP : CU_MEM_OPERATION_TYPE_UNMAP,
        .memHandle.memHandle = memory,
        .deviceBitMask = 1,
    };
}

/* 6.13 Memory Management, CUDA_ARRAY3D_SPARSE; 6.14 Virtual Memory Management, cuMemMapArrayAsync.
 */
PART(a_sparse_array_has_the_memory_that_is_mapped_into_it)
{
    CUDA_ARRAY_SPARSE_PROPERTIES told;
    begin_cuda();
    const size_t before = free_bytes();
    const CUarray array = create_array(1024, 1024, CUDA_ARRAY3D_SPARSE);
    EXPECT(free_bytes(), before);
    EXPECT(cuArrayGetSparseProperties(&told, array), 0);
    EXPECT(told.tileExtent.width, 128);
    EXPECT(told.tileExtent.height, 128);
    EXPECT(told.tileExtent.depth, 1);
    EXPECT(told.miptailSize, 0);
    const CUmemGenericAllocationHandle memory = create(CU_MEM_CREATE_USAGE_TILE_POOL);
    CUarrayMapInfo info = map_info(array, memory);
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), 0);
    EXPECT(cuMemRelease(memory), 0);
    EXPECT(free_bytes(), before - GRANULE); /* the array keeps the memory alive */
    const CUmemGenericAllocationHandle other = create(CU_MEM_CREATE_USAGE_TILE_POOL);
    info = map_info(array, other);
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), 0); /* replaces the first mapping */
    EXPECT(cuMemRelease(other), 0);
    EXPECT(free_bytes(), before - GRANULE);
    info = map_info(array, 0);
    EXPECT(cuMemMapArrayAsync_ptsz(&info, 1, NULL), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuArrayDestroy(array), 0);
}

/* 6.14, cuMemMapArrayAsync: CUDA_ERROR_INVALID_VALUE and CUDA_ERROR_INVALID_HANDLE. */
PART(a_mapping_says_which_tiles_of_which_memory)
{
    begin_cuda();
    const CUarray array = create_array(1000, 256, CUDA_ARRAY3D_SPARSE);
    const CUarray plain = create_array(1024, 1024, 0);
    const CUmemGenericAllocationHandle memory = create(CU_MEM_CREATE_USAGE_TILE_POOL);
    CUarrayMapInfo info = map_info(array, memory);
    info.subresource.sparseLevel.offsetX = 64;
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    info.subresource.sparseLevel.offsetX = 896;
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE); /* beyond the edge */
    info.subresource.sparseLevel.extentWidth = 1000 - 896;
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), 0);
    info = map_info(array, memory);
    info.subresource.sparseLevel.extentHeight = 0;
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    info = map_info(array, memory);
    info.deviceBitMask = 3;
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    info = map_info(array, memory);
    info.offset = GRANULE;
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    info.offset = GRANULE - TILE;
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), 0);
    info = map_info(plain, memory);
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    info = map_info(array, create(0));
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    info = map_info(array, 7);
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuMemMapArrayAsync(NULL, 0, NULL), 0);
}

/* 6.14, cuMemCreate: memory created for tiles backs sparse arrays only. */
PART(tiles_are_not_mapped_at_addresses)
{
    CUdeviceptr address;
    begin_cuda();
    EXPECT(cuMemAddressReserve(&address, GRANULE, 0, 0, 0), 0);
    EXPECT(cuMemMap(address, GRANULE, 0, create(CU_MEM_CREATE_USAGE_TILE_POOL), 0),
           CUDA_ERROR_INVALID_VALUE);
}

/* 6.13, CUDA_ARRAY3D_DEFERRED_MAPPING, cuArrayGetMemoryRequirements. */
PART(deferred_memory_is_mapped_as_a_whole)
{
    CUDA_ARRAY_MEMORY_REQUIREMENTS told;
    begin_cuda();
    const size_t before = free_bytes();
    const CUarray array = create_array(300, 100, CUDA_ARRAY3D_DEFERRED_MAPPING);
    const CUarray sparse = create_array(300, 100, CUDA_ARRAY3D_SPARSE);
    EXPECT(cuArrayGetMemoryRequirements(&told, array, 0), 0);
    EXPECT(told.size, 2 * TILE);
    EXPECT(told.alignment, TILE);
    EXPECT(cuArrayGetMemoryRequirements(&told, sparse, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuArrayGetMemoryRequirements(&told, array, 9), CUDA_ERROR_INVALID_DEVICE);
    EXPECT(cuArrayGetSparseProperties(&(CUDA_ARRAY_SPARSE_PROPERTIES){0}, array),
           CUDA_ERROR_INVALID_VALUE);
    const CUmemGenericAllocationHandle memory = create(CU_MEM_CREATE_USAGE_TILE_POOL);
    CUarrayMapInfo info = map_info(array, memory);
    info.subresource.sparseLevel.offsetX = 5; /* ignored */
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), 0);
    EXPECT(cuMemRelease(memory), 0);
    EXPECT(free_bytes(), before - GRANULE);
    EXPECT(cuArrayDestroy(array), 0);
    EXPECT(free_bytes(), before);
}

/* 6.13, cuMipmappedArrayGetSparseProperties; 6.14, the mip tail. */
PART(small_levels_are_a_tail)
{
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Width = 512,
                                                .Height = 256,
                                                .Format = CU_AD_FORMAT_FLOAT,
                                                .NumChannels = 1,
                                                .Flags = CUDA_ARRAY3D_SPARSE};
    CUDA_ARRAY_SPARSE_PROPERTIES told;
    CUmipmappedArray mipmap;
    CUarray level;
    begin_cuda();
    const size_t before = free_bytes();
    EXPECT(cuMipmappedArrayCreate(&mipmap, &descriptor, 10), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMipmappedArrayGetSparseProperties(&told, mipmap), 0);
    EXPECT(told.miptailFirstLevel, 2); /* 128 x 64 is smaller than a tile */
    EXPECT(told.miptailSize, TILE);
    CUarrayMapInfo info = {
        .resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
        .resource.mipmap = mipmap,
        .subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL,
        .subresource.miptail = {.size = TILE},
        .memOperationType = CU_MEM_OPERATION_TYPE_MAP,
        .memHandle.memHandle = create(CU_MEM_CREATE_USAGE_TILE_POOL),
        .deviceBitMask = 1,
    };
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), 0);
    info.subresource.miptail.offset = TILE;
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
    memset(&info.subresource, 0, sizeof info.subresource);
    info.subresource.sparseLevel.level = 2;
    info.subresource.sparseLevel.extentWidth = 128;
    info.subresource.sparseLevel.extentHeight = 64;
    info.subresource.sparseLevel.extentDepth = 1;
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE); /* in the tail */
    info.subresource.sparseLevel.level = 1;
    info.subresource.sparseLevel.extentHeight = 128;
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), 0);
    EXPECT(cuMipmappedArrayGetLevel(&level, mipmap, 0), 0);
    info = map_info(level, info.memHandle.memHandle);
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
}

/* 6.8 Context Management, cuCtxDestroy: arrays are destroyed and release their physical memory. */
PART(mapped_memory_is_let_go_with_the_context)
{
    begin_cuda();
    const size_t before = free_bytes();
    CUarrayMapInfo info = map_info(create_array(1024, 1024, CUDA_ARRAY3D_SPARSE),
                                   create(CU_MEM_CREATE_USAGE_TILE_POOL));
    EXPECT(cuMemMapArrayAsync(&info, 1, NULL), 0);
    EXPECT(cuMemRelease(info.memHandle.memHandle), 0);
    EXPECT(cuCtxDestroy_v2(context), 0);
    begin_cuda();
    EXPECT(free_bytes(), before);
}

SIM_MAIN()
