/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Allocates memory of the card in every way that the ledger knows, and prints the card's memory in
 * use: "peak BYTES" at the highest point, "failure BYTES" after an allocation that fails, and "end
 * BYTES" at the end.
 */
#include <stdint.h>
#include <stdio.h>

#include "gpumemtrace/cuda/abi.h"

#define MIB ((size_t)1 << 20)
#define SMALL 40

static int say(const char *when)
{
    size_t free_bytes, total_bytes;
    if (cuMemGetInfo_v2(&free_bytes, &total_bytes))
        return 1;
    printf("%s %zu\n", when, total_bytes - free_bytes);
    return 0;
}

/* Leaves memory in the driver's pool, which keeps memory that is freed. */
static int keep_in_pool(CUdeviceptr *kept)
{
    cuuint64_t threshold = UINT64_MAX;
    CUmemoryPool pool;
    CUdeviceptr freed;
    return cuDeviceGetDefaultMemPool(&pool, 0) ||
           cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold) ||
           cuMemAllocAsync(&freed, 30 * MIB, NULL) || cuMemAllocAsync(kept, 5 * MIB, NULL) ||
           cuMemFreeAsync(freed, NULL) || cuStreamSynchronize(NULL);
}

/* The pool gives the memory that it keeps back in cuStreamSynchronize, of which no event tells. */
static int give_back_unseen(void)
{
    cuuint64_t threshold = 0;
    CUmemoryPool pool;
    CUdeviceptr freed;
    return cuDeviceGetDefaultMemPool(&pool, 0) ||
           cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold) ||
           cuMemAllocAsync(&freed, MIB, NULL) || cuMemFreeAsync(freed, NULL) ||
           cuStreamSynchronize(NULL);
}

/* Leaves memory in the pool for graphs, which keeps the memory of a destroyed graph. */
static int keep_in_graph_pool(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS taken = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                        .bytesize = 20 * MIB};
    CUgraphNode alloc_node, free_node;
    CUgraphExec executable;
    CUgraph graph;
    return cuGraphCreate(&graph, 0) ||
           cuGraphAddMemAllocNode(&alloc_node, graph, NULL, 0, &taken) ||
           cuGraphAddMemFreeNode(&free_node, graph, &alloc_node, 1, taken.dptr) ||
           cuGraphInstantiateWithFlags(&executable, graph, 0) || cuGraphLaunch(executable, NULL) ||
           cuStreamSynchronize(NULL) || cuGraphExecDestroy(executable) || cuGraphDestroy(graph);
}

int main(void)
{
    const CUmemAllocationProp on_0 = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    static CUdeviceptr small[SMALL];
    CUdeviceptr large, odd, kept, refused;
    CUmemGenericAllocationHandle handle;
    CUcontext context;
    CUdevice device;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuCtxCreate_v2(&context, 0, device) ||
        keep_in_graph_pool())
        return 9;
    for (int i = 0; i < SMALL; i++)
        if (cuMemAlloc_v2(&small[i], 100000))
            return 8;
    if (cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 * MIB) || keep_in_pool(&kept) ||
        cuMemCreate(&handle, 6 * MIB, &on_0, 0) || cuMemAlloc_v2(&odd, 3 * MIB + 1) ||
        cuMemAlloc_v2(&large, 512 * MIB) || say("peak"))
        return 7;
    if (cuMemFree_v2(odd) || give_back_unseen() ||
        cuMemAlloc_v2(&refused, (size_t)64 << 30) != CUDA_ERROR_OUT_OF_MEMORY || say("failure"))
        return 6;
    for (int i = 0; i < SMALL / 2; i++)
        if (cuMemFree_v2(small[i]))
            return 5;
    return cuMemRelease(handle) || cuMemFree_v2(large) || say("end");
}
