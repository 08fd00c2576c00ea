/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests memory pools of the simulated driver: how much memory a pool reserves, allocates, keeps and
 * releases, and when.
 */
#include <stdint.h>

#include "sim_device.h"

#define SEGMENT (32 * MIB) /* a pool reserves this much at a time */

static CUmemoryPool pool; /* the device's default pool */

static void begin(void)
{
    begin_cuda();
    EXPECT(cuDeviceGetDefaultMemPool(&pool, 0), 0);
}

static cuuint64_t get(CUmemoryPool which, CUmemPool_attribute attribute)
{
    cuuint64_t value = UINT64_MAX;
    EXPECT(cuMemPoolGetAttribute(which, attribute, &value), 0);
    return value;
}

static void set(CUmemoryPool which, CUmemPool_attribute attribute, cuuint64_t value)
{
    EXPECT(cuMemPoolSetAttribute(which, attribute, &value), 0);
}

static void expect_pool(CUmemoryPool which, cuuint64_t used, cuuint64_t reserved)
{
    EXPECT(get(which, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), used);
    EXPECT(get(which, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), reserved);
}

/* 6.15 Stream Ordered Memory Allocator, cuMemAllocAsync, cuMemFreeAsync;
 * CU_MEMPOOL_ATTR_USED_MEM_CURRENT and CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT. */
PART(used_and_reserved_are_told_apart)
{
    CUdeviceptr a, b;
    begin();
    const size_t before = free_bytes();
    expect_pool(pool, 0, 0);
    EXPECT(cuMemAllocAsync(&a, 1000, NULL), 0);
    expect_pool(pool, 1024, SEGMENT);
    EXPECT(cuMemAllocAsync(&b, 40 * MIB, NULL), 0);
    expect_pool(pool, 1024 + 40 * MIB, 3 * SEGMENT);
    EXPECT(free_bytes(), before - 3 * SEGMENT);
    EXPECT(cuMemFreeAsync(b, NULL), 0);
    expect_pool(pool, 1024, 3 * SEGMENT); /* kept until a synchronization */
    EXPECT(cuMemFreeAsync(a, NULL), 0);
    expect_pool(pool, 0, 3 * SEGMENT);
}

/* 6.15, cuMemPoolSetAttribute, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD. */
PART(a_synchronization_gives_back_down_to_the_threshold)
{
    CUdeviceptr blocks[4];
    begin();
    const size_t before = free_bytes();
    for (int i = 0; i < 4; i++)
        EXPECT(cuMemAllocAsync(&blocks[i], SEGMENT, NULL), 0);
    expect_pool(pool, 4 * SEGMENT, 4 * SEGMENT);
    EXPECT(cuMemFreeAsync(blocks[1], NULL), 0);
    EXPECT(cuMemFreeAsync(blocks[2], NULL), 0);
    set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 3 * SEGMENT);
    EXPECT(cuStreamSynchronize(NULL), 0);
    expect_pool(pool, 2 * SEGMENT, 3 * SEGMENT);
    set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 0);
    EXPECT(cuCtxSynchronize(), 0);
    expect_pool(pool, 2 * SEGMENT, 2 * SEGMENT); /* used memory stays reserved */
    EXPECT(free_bytes(), before - 2 * SEGMENT);
    EXPECT(cuMemFreeAsync(blocks[0], NULL), 0);
    EXPECT(cuMemFreeAsync(blocks[3], NULL), 0);
    set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX);
    EXPECT(cuCtxSynchronize(), 0);
    expect_pool(pool, 0, 2 * SEGMENT);
}

PART(a_segment_with_a_live_piece_stays)
{
    CUdeviceptr small, large;
    begin();
    EXPECT(cuMemAllocAsync(&large, SEGMENT - 512, NULL), 0);
    EXPECT(cuMemAllocAsync(&small, 1, NULL), 0);
    expect_pool(pool, SEGMENT, SEGMENT);
    EXPECT(cuMemFreeAsync(large, NULL), 0);
    EXPECT(cuCtxSynchronize(), 0);
    expect_pool(pool, 512, SEGMENT);
}

/* 6.15, cuMemPoolTrimTo. */
PART(trimming_keeps_no_less_than_it_is_told)
{
    CUdeviceptr blocks[4];
    begin();
    for (int i = 0; i < 4; i++)
        EXPECT(cuMemAllocAsync(&blocks[i], SEGMENT, NULL), 0);
    for (int i = 0; i < 4; i++)
        EXPECT(cuMemFreeAsync(blocks[i], NULL), 0);
    EXPECT(cuMemPoolTrimTo(pool, 5 * SEGMENT), 0);
    expect_pool(pool, 0, 4 * SEGMENT);
    EXPECT(cuMemPoolTrimTo(pool, 2 * SEGMENT + 1), 0);
    expect_pool(pool, 0, 3 * SEGMENT);
    EXPECT(cuMemPoolTrimTo(pool, 0), 0);
    expect_pool(pool, 0, 0);
}

/* 6.15, cuMemPoolSetAttribute, CU_MEMPOOL_ATTR_USED_MEM_HIGH and CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH.
 */
PART(high_water_marks_start_again_when_set_to_0)
{
    CUdeviceptr address;
    cuuint64_t one = 1;
    begin();
    EXPECT(cuMemAllocAsync(&address, 3 * SEGMENT, NULL), 0);
    EXPECT(cuMemFreeAsync(address, NULL), 0);
    EXPECT(cuCtxSynchronize(), 0);
    EXPECT(get(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 3 * SEGMENT);
    EXPECT(get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 3 * SEGMENT);
    set(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0);
    set(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0);
    EXPECT(get(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0);
    EXPECT(get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 0);
    EXPECT(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &one),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &one),
           CUDA_ERROR_INVALID_VALUE);
}

/* 6.15, cuMemPoolGetAttribute. */
PART(the_reuse_attributes_are_ints)
{
    int value = 7;
    begin();
    EXPECT(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &value), 0);
    EXPECT(value, 1);
    value = 0;
    EXPECT(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &value), 0);
    value = 7;
    EXPECT(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &value), 0);
    EXPECT(value, 0);
}

/* 6.15, cuMemFreeAsync; 6.13 Memory Management, cuMemFree. */
PART(a_freed_piece_is_used_again)
{
    CUdeviceptr first, second;
    begin();
    EXPECT(cuMemAllocAsync(&first, 5 * MIB, NULL), 0);
    EXPECT(cuMemFreeAsync(first, NULL), 0);
    EXPECT(cuMemAllocAsync(&second, 5 * MIB, NULL), 0);
    EXPECT(second, first);
    EXPECT(cuMemFree_v2(second), 0); /* cuMemFree also frees pieces of pools */
    expect_pool(pool, 0, SEGMENT);
    EXPECT(cuMemFreeAsync(second, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFreeAsync(0, NULL), 0);
}

/* 6.15, cuMemFreeAsync: CUDA_ERROR_INVALID_VALUE. */
PART(only_pieces_of_pools_are_freed_in_stream_order)
{
    CUdeviceptr address = 7;
    begin();
    EXPECT(cuMemAlloc_v2(&address, 100), 0);
    EXPECT(cuMemFreeAsync(address, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFree_v2(address), 0);
    EXPECT(cuMemAllocAsync(&address, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAllocAsync(&address, 1, (CUstream)&address), CUDA_ERROR_INVALID_HANDLE);
}

/* 6.15, cuMemPoolCreate, cuDeviceSetMemPool; 6.5 Device Management, cuDeviceGetMemPool. */
PART(a_pool_of_the_program_s_own_can_be_the_device_s)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool own, current;
    CUdeviceptr address;
    begin();
    EXPECT(cuMemPoolCreate(&own, &properties), 0);
    CHECK(own != pool);
    EXPECT(cuMemAllocFromPoolAsync(&address, 1000, own, NULL), 0);
    expect_pool(own, 1024, SEGMENT);
    expect_pool(pool, 0, 0);
    EXPECT(cuDeviceSetMemPool(0, own), 0);
    EXPECT(cuDeviceGetMemPool(&current, 0), 0);
    CHECK(current == own);
    EXPECT(cuMemAllocAsync(&address, 1000, NULL), 0);
    expect_pool(own, 2048, SEGMENT);
    EXPECT(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE); /* the default pool */
    EXPECT(cuMemPoolDestroy(own), 0);
    EXPECT(cuDeviceGetMemPool(&current, 0), 0);
    CHECK(current == pool);
}

/* 6.15, cuMemPoolDestroy. */
PART(a_destroyed_pool_goes_with_its_last_piece)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool own;
    CUdeviceptr address, other;
    begin();
    const size_t before = free_bytes();
    EXPECT(cuMemPoolCreate(&own, &properties), 0);
    EXPECT(cuMemAllocFromPoolAsync(&address, 1000, own, NULL), 0);
    EXPECT(cuMemPoolDestroy(own), 0);
    EXPECT(cuMemPoolDestroy(own), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAllocFromPoolAsync(&other, 1000, own, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(free_bytes(), before - SEGMENT);
    EXPECT(cuMemFreeAsync(address, NULL), 0);
    EXPECT(free_bytes(), before);
}

/* 6.15, cuMemPoolCreate, CUmemPoolProps::maxSize. */
PART(a_pool_keeps_its_limit)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                       .maxSize = 40 * MIB};
    CUmemoryPool own;
    CUdeviceptr a, b = 7;
    begin();
    EXPECT(cuMemPoolCreate(&own, &properties), 0);
    EXPECT(cuMemAllocFromPoolAsync(&a, 38 * MIB, own, NULL), 0);
    EXPECT(cuMemAllocFromPoolAsync(&b, 3 * MIB, own, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(b, 7);
    EXPECT(cuMemAllocFromPoolAsync(&b, 2 * MIB, own, NULL), 0);
}

PART(the_last_bytes_of_a_device_can_be_had)
{
    CUdeviceptr plain, piece, more = 7;
    begin();
    const size_t before = free_bytes();
    EXPECT(cuMemAlloc_v2(&plain, before - 10 * MIB), 0);
    EXPECT(cuMemAllocAsync(&piece, 9 * MIB, NULL), 0); /* a whole segment does not fit */
    expect_pool(pool, 9 * MIB, 10 * MIB);
    EXPECT(cuMemAllocAsync(&more, 2 * MIB, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(cuMemFreeAsync(piece, NULL), 0);
    EXPECT(cuMemAllocAsync(&piece, 10 * MIB, NULL), 0);
    EXPECT(free_bytes(), 0);
}

/* 6.15, cuMemAllocFromPoolAsync and the functions for per-thread default streams. */
PART(twins_for_per_thread_streams_do_the_same)
{
    CUdeviceptr address;
    begin();
    EXPECT(cuMemAllocAsync_ptsz(&address, 100, NULL), 0);
    expect_pool(pool, 512, SEGMENT);
    EXPECT(cuMemFreeAsync_ptsz(address, CU_STREAM_PER_THREAD), 0);
    EXPECT(cuMemAllocFromPoolAsync_ptsz(&address, 100, pool, CU_STREAM_LEGACY), 0);
    EXPECT(cuMemFreeAsync(address, NULL), 0);
    EXPECT(cuStreamSynchronize_ptsz(NULL), 0);
    expect_pool(pool, 0, 0);
}

SIM_MAIN()
