/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests arrays of the simulated driver: the memory that they take, including mipmap levels, and
 * invalid descriptors.
 */
#include <stdint.h>

#include "sim_device.h"

static size_t round_up(size_t size_bytes)
{
    return (size_bytes + GRANULE - 1) / GRANULE * GRANULE;
}

/* Creates and destroys an array of this shape, which must cost size_bytes, rounded up to
   granules. */
static void expect_cost(CUDA_ARRAY3D_DESCRIPTOR shape, size_t size_bytes)
{
    CUarray array;
    const size_t before = free_bytes();
    EXPECT(cuArray3DCreate_v2(&array, &shape), 0);
    EXPECT(before - free_bytes(), round_up(size_bytes));
    EXPECT(cuArrayDestroy(array), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
}

/* 6.13 Memory Management, cuArrayCreate, cuArray3DCreate, cuArrayDestroy. */
PART(an_array_costs_its_elements)
{
    begin_cuda();
    expect_cost((CUDA_ARRAY3D_DESCRIPTOR){3000000, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0},
                3000000);
    expect_cost((CUDA_ARRAY3D_DESCRIPTOR){1000, 1000, 0, CU_AD_FORMAT_FLOAT, 4, 0}, 16000000);
    expect_cost((CUDA_ARRAY3D_DESCRIPTOR){100, 200, 300, CU_AD_FORMAT_HALF, 2, 0}, 24000000);
    expect_cost((CUDA_ARRAY3D_DESCRIPTOR){1000, 1000, 0, CU_AD_FORMAT_UNORM_INT16X4, 4, 0},
                8000000);
    expect_cost((CUDA_ARRAY3D_DESCRIPTOR){1000, 1000, 6, CU_AD_FORMAT_SIGNED_INT32, 1,
                                          CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP},
                24000000);
}

/* 6.13, cuArray3DCreate: CUDA_ERROR_INVALID_VALUE. */
PART(what_is_no_shape_is_refused)
{
    CUarray array = (CUarray)8;
    CUDA_ARRAY3D_DESCRIPTOR shape = {1000, 1000, 0, CU_AD_FORMAT_FLOAT, 3, 0};
    begin_cuda();
    EXPECT(cuArray3DCreate_v2(&array, &shape), CUDA_ERROR_INVALID_VALUE);
    shape.NumChannels = 1;
    shape.Width = 0;
    EXPECT(cuArray3DCreate_v2(&array, &shape), CUDA_ERROR_INVALID_VALUE);
    shape.Width = 1000;
    shape.Format = (CUarray_format)0x77;
    EXPECT(cuArray3DCreate_v2(&array, &shape), CUDA_ERROR_INVALID_VALUE);
    shape.Format = CU_AD_FORMAT_FLOAT;
    shape.Width = SIZE_MAX / 2;
    EXPECT(cuArray3DCreate_v2(&array, &shape), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(array == (CUarray)8);
}

/* 6.13, cuArray3DGetDescriptor. */
PART(a_shape_is_told_again)
{
    const CUDA_ARRAY_DESCRIPTOR shape = {640, 480, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    CUDA_ARRAY_DESCRIPTOR flat;
    CUDA_ARRAY3D_DESCRIPTOR deep;
    CUarray array;
    begin_cuda();
    EXPECT(cuArrayCreate_v2(&array, &shape), 0);
    EXPECT(cuArrayGetDescriptor_v2(&flat, array), 0);
    EXPECT(memcmp(&flat, &shape, sizeof shape), 0);
    EXPECT(cuArray3DGetDescriptor_v2(&deep, array), 0);
    EXPECT(deep.Width * 1000000 + deep.Height * 1000 + deep.Depth, 640480000);
}

/* 6.13, cuMipmappedArrayCreate, cuMipmappedArrayDestroy. 1024 x 1024 x 4 bytes in 11 levels: about
 * a third more than the first level. */
PART(a_mipmap_is_one_allocation_of_all_its_levels)
{
    const CUDA_ARRAY3D_DESCRIPTOR shape = {1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    size_t expected = 0;
    CUmipmappedArray mipmap;
    CUarray level, again;
    CUDA_ARRAY3D_DESCRIPTOR told;
    begin_cuda();
    const size_t before = free_bytes();
    for (size_t side = 1024; side; side /= 2)
        expected += side * side * 4;
    EXPECT(cuMipmappedArrayCreate(&mipmap, &shape, 100), 0); /* clamped to the number of levels */
    EXPECT(before - free_bytes(), round_up(expected));
    EXPECT(cuMipmappedArrayGetLevel(&level, mipmap, 3), 0);
    EXPECT(cuMipmappedArrayGetLevel(&again, mipmap, 3), 0);
    CHECK(level == again);
    EXPECT(cuArray3DGetDescriptor_v2(&told, level), 0);
    EXPECT(told.Width, 128);
    EXPECT(cuMipmappedArrayGetLevel(&level, mipmap, 11), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuArrayDestroy(again), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuMipmappedArrayDestroy(mipmap), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuArray3DGetDescriptor_v2(&told, again), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuMipmappedArrayDestroy(mipmap), CUDA_ERROR_INVALID_HANDLE);
}

/* 6.13, cuMipmappedArrayGetLevel. Every level has all layers; the depth shrinks like width and
 * height. */
PART(layers_do_not_shrink_and_a_depth_does)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {256, 256, 64, CU_AD_FORMAT_FLOAT, 1, 0};
    const size_t first = (size_t)256 * 256 * 64 * 4;
    CUmipmappedArray mipmap;
    begin_cuda();
    const size_t before = free_bytes();
    EXPECT(cuMipmappedArrayCreate(&mipmap, &shape, 2), 0);
    EXPECT(before - free_bytes(), round_up(first + first / 8));
    EXPECT(cuMipmappedArrayDestroy(mipmap), 0);
    shape.Flags = CUDA_ARRAY3D_LAYERED;
    EXPECT(cuMipmappedArrayCreate(&mipmap, &shape, 2), 0);
    EXPECT(before - free_bytes(), round_up(first + first / 4));
    EXPECT(cuMipmappedArrayDestroy(mipmap), 0);
}

PART(a_copy_stays_inside_an_array)
{
    const CUDA_ARRAY_DESCRIPTOR shape = {100, 50, CU_AD_FORMAT_FLOAT, 1};
    static char host[100 * 50 * 4];
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = 400,
                          .Height = 50};
    begin_cuda();
    EXPECT(cuArrayCreate_v2(&copy.dstArray, &shape), 0);
    EXPECT(cuMemcpy2D_v2(&copy), 0);
    copy.dstY = 1;
    EXPECT(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
    copy.Height = 49;
    EXPECT(cuMemcpy2D_v2(&copy), 0);
    copy.dstXInBytes = 4;
    EXPECT(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuArrayDestroy(copy.dstArray), 0);
    EXPECT(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_HANDLE);
}

SIM_MAIN()
