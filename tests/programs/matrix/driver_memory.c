/* SPDX-License-Identifier: MIT */
/* Families of the driver: linear, pitched, managed, pinned, registered and stream-ordered memory.
 */
#include "matrix.h"

#include <stdlib.h>

#define TOO_MUCH_BYTES ((size_t)1 << 60)

void driver_linear(void)
{
    CUdeviceptr first = 0, second = 0;
    DRIVER(cuMemAlloc_v2, (&first, 3 * MIB));
    book_alloc(MEMORY_LINEAR, first, 3 * MIB);
    DRIVER(cuMemAlloc_v2, (&second, 1000));
    book_alloc(MEMORY_LINEAR, second, 1000);
    DRIVER(cuMemFree_v2, (first));
    book_free(MEMORY_LINEAR, first, 3 * MIB);
    DRIVER(cuMemFree_v2, (second));
    book_free(MEMORY_LINEAR, second, 1000);
}

/* The first forms of the functions return addresses of 32 bits; if there is no such address,
   they return no memory. */
void driver_linear_v1(void)
{
    CUdeviceptr_v1 address = 0;
    DRIVER(cuMemAlloc, (&address, 2 * MIB));
    book_alloc(MEMORY_LINEAR, address, 2 * MIB);
    DRIVER(cuMemFree, (address));
    book_free(MEMORY_LINEAR, address, 2 * MIB);
}

void driver_pitched_v1(void)
{
    CUdeviceptr_v1 address = 0;
    unsigned pitch_bytes = 0;
    DRIVER(cuMemAllocPitch, (&address, &pitch_bytes, 1001, 10, 16));
    book_alloc(MEMORY_PITCHED, address, pitch_bytes * 10);
    DRIVER(cuMemFree, (address));
    book_free(MEMORY_PITCHED, address, pitch_bytes * 10);
}

void driver_host_v1(void)
{
    void *address = NULL, *memory = aligned_alloc(64 * KIB, 3 * MIB);
    family_needs(memory != NULL, "no memory");
    DRIVER(cuMemAllocHost, (&address, 1 * MIB));
    book_alloc(MEMORY_PINNED, bits(address), 1 * MIB);
    DRIVER(cuMemFreeHost, (address));
    book_free(MEMORY_PINNED, bits(address), 1 * MIB);
    DRIVER(cuMemHostRegister, (memory, 3 * MIB, 0));
    book_alloc(MEMORY_REGISTERED, bits(memory), 3 * MIB);
    DRIVER(cuMemHostUnregister, (memory));
    book_free(MEMORY_REGISTERED, bits(memory), 3 * MIB);
    free(memory);
}

void driver_refused(void)
{
    CUdeviceptr address = 0;
    DRIVER_FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2, (&address, TOO_MUCH_BYTES));
    book_failed(MEMORY_LINEAR, TOO_MUCH_BYTES);
    DRIVER_FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2, (&address, 0));
    book_failed(MEMORY_LINEAR, 0);
    DRIVER(cuMemFree_v2, (0));
    DRIVER(cuMemFreeHost, (NULL));
}

void driver_pitched(void)
{
    CUdeviceptr address = 0;
    size_t pitch_bytes = 0;
    DRIVER(cuMemAllocPitch_v2, (&address, &pitch_bytes, 1001, 10, 16));
    family_needs(pitch_bytes >= 1001, "the pitch is less than the width");
    book_alloc(MEMORY_PITCHED, address, pitch_bytes * 10);
    DRIVER(cuMemFree_v2, (address));
    book_free(MEMORY_PITCHED, address, pitch_bytes * 10);
}

void driver_managed(void)
{
    CUdeviceptr address = 0;
    DRIVER(cuMemAllocManaged, (&address, 6 * MIB, CU_MEM_ATTACH_GLOBAL));
    book_alloc(MEMORY_MANAGED, address, 6 * MIB);
    DRIVER(cuMemFree_v2, (address));
    book_free(MEMORY_MANAGED, address, 6 * MIB);
}

void driver_pinned(void)
{
    void *first = NULL, *second = NULL;
    DRIVER(cuMemAllocHost_v2, (&first, 1 * MIB));
    book_alloc(MEMORY_PINNED, bits(first), 1 * MIB);
    DRIVER(cuMemHostAlloc, (&second, 2 * MIB, CU_MEMHOSTALLOC_PORTABLE));
    book_alloc(MEMORY_PINNED, bits(second), 2 * MIB);
    DRIVER(cuMemFreeHost, (first));
    book_free(MEMORY_PINNED, bits(first), 1 * MIB);
    DRIVER(cuMemFreeHost, (second));
    book_free(MEMORY_PINNED, bits(second), 2 * MIB);
}

void driver_registered(void)
{
    void *memory = aligned_alloc(64 * KIB, 3 * MIB);
    family_needs(memory != NULL, "no memory");
    DRIVER(cuMemHostRegister_v2, (memory, 3 * MIB, CU_MEMHOSTREGISTER_PORTABLE));
    book_alloc(MEMORY_REGISTERED, bits(memory), 3 * MIB);
    DRIVER(cuMemHostUnregister, (memory));
    book_free(MEMORY_REGISTERED, bits(memory), 3 * MIB);
    free(memory);
}

void driver_stream_ordered(void)
{
    CUmemoryPool pool = NULL;
    CUdeviceptr address = 0;
    DRIVER(cuDeviceGetDefaultMemPool, (&pool, 0));
    DRIVER(cuMemAllocAsync, (&address, 5 * MIB, NULL));
    book_alloc_of(MEMORY_ASYNC, address, 5 * MIB, bits(pool));
    DRIVER(cuMemFreeAsync, (address, NULL));
    book_free(MEMORY_ASYNC, address, 5 * MIB);
    DRIVER(cuStreamSynchronize, (NULL));
}

void driver_own_pool(void)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemoryPool pool = NULL;
    CUdeviceptr address = 0;
    DRIVER(cuMemPoolCreate, (&pool, &properties));
    book_event(EVENT_POOL_CREATE, MEMORY_ASYNC, UNSAID, UNSAID, bits(pool));
    DRIVER(cuMemAllocFromPoolAsync, (&address, 9 * MIB, pool, NULL));
    book_alloc_of(MEMORY_ASYNC, address, 9 * MIB, bits(pool));
    DRIVER(cuMemFreeAsync, (address, NULL));
    book_free(MEMORY_ASYNC, address, 9 * MIB);
    DRIVER(cuStreamSynchronize, (NULL));
    DRIVER(cuMemPoolTrimTo, (pool, 0));
    DRIVER(cuMemPoolDestroy, (pool));
    book_event(EVENT_POOL_DESTROY, MEMORY_NONE, UNSAID, UNSAID, bits(pool));
}

/* An allocation that names no pool comes from the device's current pool. */
void driver_current_pool(void)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemoryPool pool = NULL, usual = NULL;
    CUdeviceptr address = 0;
    DRIVER(cuDeviceGetMemPool, (&usual, 0));
    DRIVER(cuMemPoolCreate, (&pool, &properties));
    book_event(EVENT_POOL_CREATE, MEMORY_ASYNC, UNSAID, UNSAID, bits(pool));
    DRIVER(cuDeviceSetMemPool, (0, pool));
    DRIVER(cuMemAllocAsync, (&address, 3 * MIB, NULL));
    book_alloc_of(MEMORY_ASYNC, address, 3 * MIB, bits(pool));
    DRIVER(cuMemFree_v2, (address));
    book_free(MEMORY_ASYNC, address, 3 * MIB);
    DRIVER(cuDeviceSetMemPool, (0, usual));
    DRIVER(cuMemPoolDestroy, (pool));
    book_event(EVENT_POOL_DESTROY, MEMORY_NONE, UNSAID, UNSAID, bits(pool));
}

/* The kind of a pool's memory follows from its properties. */
static void pool_of(const CUmemPoolProps *properties, enum memory_kind memory)
{
    CUmemoryPool pool = NULL;
    CUdeviceptr address = 0;
    DRIVER(cuMemPoolCreate, (&pool, properties));
    book_event(EVENT_POOL_CREATE, memory, UNSAID, UNSAID, bits(pool));
    DRIVER(cuMemAllocFromPoolAsync, (&address, 4 * MIB, pool, NULL));
    book_alloc_in_pool(memory, address, 4 * MIB, bits(pool));
    DRIVER(cuMemFreeAsync, (address, NULL));
    book_free(memory, address, 4 * MIB);
    DRIVER(cuStreamSynchronize, (NULL));
    DRIVER(cuMemPoolDestroy, (pool));
    book_event(EVENT_POOL_DESTROY, MEMORY_NONE, UNSAID, UNSAID, bits(pool));
}

void driver_host_pool(void)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA}};
    int supported = 0;
    DRIVER(cuDeviceGetAttribute,
           (&supported, CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED, 0));
    family_needs(supported, "this device has no pools of host memory");
    pool_of(&properties, MEMORY_ASYNC_HOST);
}

void driver_managed_pool(void)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    int version = 0;
    DRIVER(cuDriverGetVersion, (&version));
    family_needs(version >= 13000, "this driver has no pools of managed memory");
    pool_of(&properties, MEMORY_ASYNC_MANAGED);
}

void driver_kept(void)
{
    CUdeviceptr address = 0;
    void *pinned = NULL;
    DRIVER(cuMemAlloc_v2, (&address, 11 * MIB));
    book_alloc(MEMORY_LINEAR, address, 11 * MIB);
    DRIVER(cuMemHostAlloc, (&pinned, 12 * MIB, 0));
    book_alloc(MEMORY_PINNED, bits(pinned), 12 * MIB);
}
