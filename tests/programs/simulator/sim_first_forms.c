/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests driver functions older than CUDA 3.2, which have addresses and sizes of 32 bits, and
 * contexts whose attachments cuCtxAttach counts. The numbers of sections are those of the CUDA
 * Driver API.
 */
#include <stdint.h>

#include "sim_device.h"

static void begin(void)
{
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate(&context, 0, 0), 0);
}

/* 6.13 Memory Management, cuMemAlloc and cuMemFree: the same with 32-bit numbers. */
PART(linear_memory_lies_where_32_bits_reach)
{
    CUdeviceptr_v1 block = 7, base = 0;
    unsigned size_bytes = 0;
    begin();
    const size_t before = free_bytes();
    EXPECT(cuMemAlloc(&block, 3 * MIB), 0);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    EXPECT(cuMemGetAddressRange(&base, &size_bytes, block + 5), 0);
    EXPECT(base, block);
    EXPECT(size_bytes, 3 * MIB);
    EXPECT(cuMemsetD8_v2(block, 1, 3 * MIB), 0); /* newer functions also accept this address */
    EXPECT(cuMemFree(block), 0);
    EXPECT(cuMemFree(block), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFree(0), 0);
    EXPECT(free_bytes(), before);
}

/* 6.13 Memory Management, cuMemAlloc: CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY. */
PART(what_cannot_be_said_in_32_bits_is_out_of_memory)
{
    CUdeviceptr_v1 blocks[8], more = 7;
    size_t count = 0;
    begin();
    EXPECT(cuMemAlloc(&more, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAlloc(NULL, 1), CUDA_ERROR_INVALID_VALUE);
    while (count < 8 && !cuMemAlloc(&blocks[count], (unsigned)GIB))
        count++;
    CHECK(count < 4);
    EXPECT(cuMemAlloc(&more, (unsigned)GIB), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(more, 7);
    CHECK(free_bytes() > 10 * GIB);
    while (count)
        EXPECT(cuMemFree(blocks[--count]), 0);
}

/* 6.13 Memory Management, cuMemAllocPitch. */
PART(pitched_memory_lies_there_too)
{
    CUdeviceptr_v1 block;
    unsigned pitch_bytes = 0;
    begin();
    EXPECT(cuMemAllocPitch(&block, &pitch_bytes, 1000, 10, 4), 0);
    EXPECT(pitch_bytes, 1024);
    EXPECT(cuMemFree(block), 0);
    EXPECT(cuMemAllocPitch(&block, &pitch_bytes, 1000, 10, 3), CUDA_ERROR_INVALID_VALUE);
}

/* 6.13 Memory Management, cuMemGetInfo. */
PART(sizes_are_said_as_far_as_32_bits_go)
{
    unsigned left = 0, total = 0;
    begin();
    EXPECT(cuMemGetInfo(&left, &total), 0);
    EXPECT(left, UINT32_MAX);
    EXPECT(total, UINT32_MAX);
}

/* 6.13 Memory Management, cuMemAllocHost and cuMemHostRegister. */
PART(host_memory_is_the_same_as_today_s)
{
    static char own[4096];
    void *pinned;
    begin();
    EXPECT(cuMemAllocHost(&pinned, 4096), 0);
    memset(pinned, 1, 4096);
    EXPECT(cuMemFreeHost(pinned), 0);
    EXPECT(cuMemHostRegister(own, sizeof own, 0), 0);
    EXPECT(cuMemHostRegister(own, sizeof own, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    EXPECT(cuMemHostUnregister(own), 0);
}

/* 6.13 Memory Management, cuArrayCreate and cuArray3DCreate. */
PART(arrays_are_what_32_bits_describe)
{
    const CUDA_ARRAY_DESCRIPTOR_v1 flat = {64, 32, CU_AD_FORMAT_FLOAT, 2};
    const CUDA_ARRAY3D_DESCRIPTOR_v1 deep = {16, 8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
    CUDA_ARRAY_DESCRIPTOR told_flat;
    CUDA_ARRAY3D_DESCRIPTOR told_deep;
    CUarray first, second;
    begin();
    const size_t before = free_bytes();
    EXPECT(cuArrayCreate(&first, &flat), 0);
    EXPECT(cuArray3DCreate(&second, &deep), 0);
    EXPECT(cuArrayGetDescriptor_v2(&told_flat, first), 0);
    CHECK(told_flat.Width == 64 && told_flat.Height == 32 && told_flat.NumChannels == 2);
    EXPECT(told_flat.Format, CU_AD_FORMAT_FLOAT);
    EXPECT(cuArray3DGetDescriptor_v2(&told_deep, second), 0);
    CHECK(told_deep.Width == 16 && told_deep.Height == 8 && told_deep.Depth == 4);
    CHECK(told_deep.Format == CU_AD_FORMAT_UNSIGNED_INT8 && told_deep.NumChannels == 4);
    EXPECT(cuArrayDestroy(first), 0);
    EXPECT(cuArrayDestroy(second), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuArrayGetDescriptor_v2(&told_flat, first), CUDA_ERROR_INVALID_HANDLE);
}

/* 6.9 Context Management [DEPRECATED], cuCtxAttach and cuCtxDetach. */
PART(a_context_goes_with_its_last_attachment)
{
    CUcontext again = NULL, primary;
    CUdeviceptr block;
    begin();
    EXPECT(cuMemAlloc_v2(&block, MIB), 0);
    EXPECT(cuCtxAttach(&again, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuCtxAttach(&again, 0), 0);
    CHECK(again == context);
    EXPECT(cuCtxDetach(context), 0);
    EXPECT(cuMemFree_v2(block), 0);
    EXPECT(cuCtxDetach(context), 0);
    EXPECT(cuMemAlloc_v2(&block, MIB), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuDevicePrimaryCtxRetain(&primary, 0), 0);
    EXPECT(cuCtxSetCurrent(primary), 0);
    EXPECT(cuCtxAttach(&again, 0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuCtxDetach(context), CUDA_ERROR_INVALID_CONTEXT);
}

/* 6.24 Graph Management, cuGraphInstantiate and cuGraphInstantiate_v2 until CUDA 11: with the
 * failing node and a log, both optional, instead of today's flags. */
PART(a_graph_is_instantiated_with_room_for_a_log)
{
    CUgraph graph;
    CUgraphExec first = NULL, second = NULL;
    CUgraphNode wrong = NULL;
    char log[64] = "none";
    begin();
    EXPECT(cuGraphCreate(&graph, 0), 0);
    EXPECT(cuGraphInstantiate_v2(&first, graph, NULL, NULL, 0), 0);
    EXPECT(cuGraphInstantiate_v2(&second, graph, &wrong, log, sizeof log), 0);
    CHECK(first && second && first != second && !wrong);
    EXPECT(cuGraphInstantiate_v2(NULL, graph, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphExecDestroy(first), 0);
    EXPECT(cuGraphExecDestroy(second), 0);
    EXPECT(cuGraphDestroy(graph), 0);
}

SIM_MAIN()
