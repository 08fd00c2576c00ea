/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests contexts of the simulated driver: primary contexts, contexts that the program creates,
 * current contexts, and the end of a context.
 */
#include <pthread.h>

#include "gpumemtrace/cuda/abi.h"
#include "sim_check.h"

static CUcontext current(void)
{
    CUcontext context = (CUcontext)8;
    EXPECT(cuCtxGetCurrent(&context), 0);
    return context;
}

static int is_active(void)
{
    unsigned flags;
    int active;
    EXPECT(cuDevicePrimaryCtxGetState(0, &flags, &active), 0);
    return active;
}

static size_t free_bytes(void)
{
    size_t left, total;
    EXPECT(cuMemGetInfo_v2(&left, &total), 0);
    return left;
}

/* 6.7 Primary Context Management, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRelease. */
PART(a_primary_context_lives_from_first_retain_to_last_release)
{
    CUcontext a, b;
    EXPECT(cuInit(0), 0);
    EXPECT(is_active(), 0);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuDevicePrimaryCtxRetain(&a, 0), 0);
    EXPECT(cuDevicePrimaryCtxRetain(&b, 0), 0);
    CHECK(a == b);
    EXPECT(is_active(), 1);
    CHECK(!current()); /* retaining does not make it current */
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
    EXPECT(is_active(), 1);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
    EXPECT(is_active(), 0);
    EXPECT(cuCtxSetCurrent(a), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuDevicePrimaryCtxRetain(&a, 0), 0);
    EXPECT(cuCtxDestroy_v2(a), CUDA_ERROR_INVALID_CONTEXT);
}

/* 6.7, cuDevicePrimaryCtxReset. */
PART(a_reset_frees_everything_and_leaves_the_retain)
{
    CUcontext context;
    CUdeviceptr address;
    EXPECT(cuInit(0), 0);
    EXPECT(cuDevicePrimaryCtxRetain(&context, 0), 0);
    EXPECT(cuCtxSetCurrent(context), 0);
    const size_t before = free_bytes();
    EXPECT(cuMemAlloc_v2(&address, 10 * MIB), 0);
    EXPECT(cuDevicePrimaryCtxReset_v2(0), 0);
    EXPECT(is_active(), 0);
    EXPECT(cuMemFree_v2(address), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT(cuDevicePrimaryCtxRetain(&context, 0), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
    EXPECT(is_active(), 1);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
    EXPECT(is_active(), 0);
}

/* 6.8 Context Management, cuCtxCreate, cuCtxDestroy. */
PART(destroying_a_context_frees_what_lived_in_it)
{
    CUcontext keeper, context;
    CUdeviceptr device, managed;
    CUarray array;
    CUstream stream;
    CUevent event;
    void *host;
    const CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 1 << 20, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&keeper, 0, 0), 0);
    const size_t before = free_bytes();
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(cuMemAlloc_v2(&device, 5 * MIB), 0);
    EXPECT(cuMemAllocManaged(&managed, 5 * MIB, CU_MEM_ATTACH_GLOBAL), 0);
    EXPECT(cuMemHostAlloc(&host, 5 * MIB, 0), 0);
    EXPECT(cuArrayCreate_v2(&array, &shape), 0);
    EXPECT(cuStreamCreate(&stream, 0), 0);
    EXPECT(cuEventCreate(&event, 0), 0);
    EXPECT(free_bytes(), before - 6 * MIB - 16 * MIB);
    EXPECT(cuCtxDestroy_v2(context), 0);
    CHECK(current() == keeper); /* destroying the current context pops it */
    EXPECT(free_bytes(), before);
    EXPECT(cuMemFree_v2(device), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFree_v2(managed), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuCtxDestroy_v2(context), CUDA_ERROR_INVALID_CONTEXT);
}

/* 6.8 and 6.7: every version of the functions that create, destroy, release or reset a context. */
PART(all_forms_create_and_end_contexts_alike)
{
    CUctxCreateParams nothing = {0};
    CUexecAffinityParam affinity = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT};
    CUctxCreateParams some = {.execAffinityParams = &affinity, .numExecAffinityParams = 1};
    CUcontext own = NULL;
    CUdeviceptr block;
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v3(&own, &affinity, 1, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    EXPECT(cuCtxCreate_v4(&own, &some, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    CHECK(!own);
    for (int form = 0; form < 5; form++) {
        EXPECT(form == 0   ? cuCtxCreate(&own, 0, 0)
               : form == 1 ? cuCtxCreate_v2(&own, 0, 0)
               : form == 2 ? cuCtxCreate_v3(&own, NULL, 0, 0, 0)
               : form == 3 ? cuCtxCreate_v4(&own, NULL, 0, 0)
                           : cuCtxCreate_v4(&own, &nothing, 0, 0),
               0);
        EXPECT(cuMemAlloc_v2(&block, MIB), 0);
        EXPECT(form % 2 ? cuCtxDestroy_v2(own) : cuCtxDestroy(own), 0);
        EXPECT(form % 2 ? cuCtxDestroy_v2(own) : cuCtxDestroy(own), CUDA_ERROR_INVALID_CONTEXT);
    }
    EXPECT(cuDevicePrimaryCtxRetain(&own, 0), 0);
    EXPECT(cuDevicePrimaryCtxRelease(0), 0);
    EXPECT(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuDevicePrimaryCtxReset(0), 0);
    EXPECT(cuDevicePrimaryCtxReset_v2(0), 0);
}

/* 6.8, cuCtxDestroy: what belongs to no context survives. */
PART(pools_and_virtual_memory_outlive_a_context)
{
    const CUmemPoolProps pool_properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUcontext keeper, context;
    CUmemoryPool pool;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&keeper, 0, 0), 0);
    const size_t before = free_bytes();
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(cuMemPoolCreate(&pool, &pool_properties), 0);
    EXPECT(cuMemAllocFromPoolAsync(&address, 64 * MIB, pool, NULL), 0);
    EXPECT(cuMemCreate(&handle, 4 * MIB, &properties, 0), 0);
    EXPECT(cuCtxDestroy_v2(context), 0);
    EXPECT(free_bytes(), before - 68 * MIB);
    EXPECT(cuMemRelease(handle), 0);
    EXPECT(cuMemFreeAsync(address, NULL), 0);
    EXPECT(cuMemPoolDestroy(pool), 0);
    EXPECT(free_bytes(), before);
}

/* 6.8, cuCtxPushCurrent, cuCtxPopCurrent, cuCtxSetCurrent. */
PART(the_stack_of_contexts_is_a_stack)
{
    CUcontext a, b, popped;
    CUdevice device = 7;
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxPopCurrent_v2(&popped), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuCtxCreate_v2(&a, 0, 0), 0);
    EXPECT(cuCtxCreate_v2(&b, 0, 1), 0);
    CHECK(current() == b);
    EXPECT(cuCtxGetDevice(&device), 0);
    EXPECT(device, 1);
    EXPECT(cuCtxPopCurrent_v2(&popped), 0);
    CHECK(popped == b && current() == a);
    EXPECT(cuCtxPushCurrent_v2(b), 0);
    EXPECT(cuCtxSetCurrent(a), 0); /* replaces b */
    EXPECT(cuCtxPopCurrent_v2(&popped), 0);
    CHECK(popped == a && current() == a);
    EXPECT(cuCtxSetCurrent(NULL), 0);
    CHECK(!current());
    EXPECT(cuCtxPushCurrent_v2((CUcontext)&device), CUDA_ERROR_INVALID_CONTEXT);
}

static void *find_none(void *unused)
{
    CHECK(!current());
    return unused;
}

/* 6.8, cuCtxGetCurrent. */
PART(what_is_current_is_each_thread_s_own)
{
    CUcontext context;
    pthread_t thread;
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(pthread_create(&thread, NULL, find_none, NULL), 0);
    EXPECT(pthread_join(thread, NULL), 0);
    CHECK(current() == context);
}

PART(devices_keep_their_memory_apart)
{
    CUcontext a, b;
    CUdeviceptr address;
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&a, 0, 0), 0);
    EXPECT(cuCtxCreate_v2(&b, 0, 1), 0);
    const size_t second = free_bytes();
    EXPECT(cuMemAlloc_v2(&address, 1 * GIB), 0);
    EXPECT(free_bytes(), second - 1 * GIB);
    EXPECT(cuCtxSetCurrent(a), 0);
    EXPECT(free_bytes(), second);
    EXPECT(cuMemFree_v2(address), 0); /* the context follows from the address */
    EXPECT(cuCtxSetCurrent(b), 0);
    EXPECT(free_bytes(), second);
}

/* 6.8, cuCtxSetLimit, cuCtxGetLimit and the settings of a context. */
PART(limits_and_settings_are_kept)
{
    CUcontext context;
    size_t value;
    unsigned long long id = 0;
    unsigned version = 0;
    CUfunc_cache cache;
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&context, CU_CTX_SCHED_SPIN, 0), 0);
    EXPECT(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE), 0);
    EXPECT(value, 8 * MIB);
    EXPECT(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096), 0);
    EXPECT(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), 0);
    EXPECT(value, 4096);
    EXPECT(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_UNSUPPORTED_LIMIT);
    EXPECT(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1), 0);
    EXPECT(cuCtxGetCacheConfig(&cache), 0);
    EXPECT(cache, CU_FUNC_CACHE_PREFER_L1);
    EXPECT(cuCtxGetId(NULL, &id), 0);
    CHECK(id != 0);
    EXPECT(cuCtxGetApiVersion(context, &version), 0);
    EXPECT(version, 3020);
}

/* 6.31 Peer Context Memory Access, cuCtxEnablePeerAccess. */
PART(peer_access_is_switched_once)
{
    CUcontext a, b;
    int can = 7;
    EXPECT(cuInit(0), 0);
    EXPECT(cuDeviceCanAccessPeer(&can, 0, 1), 0);
    EXPECT(can, 1);
    EXPECT(cuDeviceCanAccessPeer(&can, 0, 0), 0);
    EXPECT(can, 0);
    EXPECT(cuCtxCreate_v2(&b, 0, 1), 0);
    EXPECT(cuCtxCreate_v2(&a, 0, 0), 0);
    EXPECT(cuCtxDisablePeerAccess(b), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    EXPECT(cuCtxEnablePeerAccess(b, 0), 0);
    EXPECT(cuCtxEnablePeerAccess(b, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    EXPECT(cuCtxDisablePeerAccess(b), 0);
    EXPECT(cuCtxEnablePeerAccess(a, 0), CUDA_ERROR_INVALID_DEVICE);
}

SIM_MAIN()
