/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests virtual memory management of the simulated driver: addresses, physical memory, mappings,
 * and the lifetime of physical memory.
 */
#include <stdint.h>

#include "sim_device.h"

static const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                               .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static CUmemGenericAllocationHandle create(size_t size_bytes)
{
    CUmemGenericAllocationHandle handle;
    EXPECT(cuMemCreate(&handle, size_bytes, &properties, 0), 0);
    return handle;
}

static CUdeviceptr reserve(size_t size_bytes)
{
    CUdeviceptr address;
    EXPECT(cuMemAddressReserve(&address, size_bytes, 0, 0, 0), 0);
    EXPECT(address % GRANULE, 0);
    return address;
}

/* 6.14 Virtual Memory Management, cuMemGetAllocationGranularity. */
PART(sizes_are_whole_granules)
{
    CUmemGenericAllocationHandle handle = 7;
    CUdeviceptr address = 7;
    size_t granularity = 0;
    begin_cuda();
    EXPECT(
        cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        0);
    EXPECT(granularity, GRANULE);
    EXPECT(cuMemCreate(&handle, GRANULE + 1, &properties, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemCreate(&handle, 0, &properties, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAddressReserve(&address, 1000, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(handle, 7);
    EXPECT(address, 7);
}

/* 6.14, cuMemAddressReserve, cuMemAddressFree, cuMemCreate. */
PART(addresses_cost_nothing_and_physical_memory_its_size)
{
    begin_cuda();
    const size_t before = free_bytes();
    const CUdeviceptr address = reserve(64 * GIB); /* more than the device has */
    EXPECT(free_bytes(), before);
    const CUmemGenericAllocationHandle handle = create(20 * MIB);
    EXPECT(free_bytes(), before - 20 * MIB);
    EXPECT(cuMemMap(address, 20 * MIB, 0, handle, 0), 0);
    EXPECT(free_bytes(), before - 20 * MIB);
    EXPECT(cuMemUnmap(address, 20 * MIB), 0);
    EXPECT(cuMemRelease(handle), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMemAddressFree(address, 64 * GIB), 0);
    EXPECT(cuMemAddressFree(address, 64 * GIB), CUDA_ERROR_INVALID_VALUE);
}

/* 6.14, cuMemRelease. */
PART(physical_memory_stays_while_it_is_mapped)
{
    begin_cuda();
    const size_t before = free_bytes();
    const CUdeviceptr address = reserve(4 * GRANULE);
    const CUmemGenericAllocationHandle handle = create(2 * GRANULE);
    EXPECT(cuMemMap(address, 2 * GRANULE, 0, handle, 0), 0);
    EXPECT(cuMemMap(address + 2 * GRANULE, 2 * GRANULE, 0, handle, 0), 0);
    EXPECT(cuMemRelease(handle), 0);
    EXPECT(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemUnmap(address, 2 * GRANULE), 0);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    EXPECT(cuMemUnmap(address + 2 * GRANULE, 2 * GRANULE), 0);
    EXPECT(free_bytes(), before);
}

/* 6.14, cuMemRetainAllocationHandle. */
PART(a_handle_can_be_had_again_from_a_mapping)
{
    CUmemGenericAllocationHandle again = 0;
    CUmemAllocationProp told;
    begin_cuda();
    const size_t before = free_bytes();
    const CUdeviceptr address = reserve(GRANULE);
    const CUmemGenericAllocationHandle handle = create(GRANULE);
    EXPECT(cuMemMap(address, GRANULE, 0, handle, 0), 0);
    EXPECT(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(address + 100)), 0);
    EXPECT(again, handle);
    EXPECT(cuMemRelease(handle), 0);
    EXPECT(cuMemUnmap(address, GRANULE), 0);
    EXPECT(free_bytes(), before - GRANULE); /* the second handle keeps the memory alive */
    EXPECT(cuMemGetAllocationPropertiesFromHandle(&told, again), 0);
    EXPECT(told.location.id, 0);
    EXPECT(cuMemRelease(again), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)address),
           CUDA_ERROR_INVALID_VALUE);
}

/* 6.14, cuMemMap. */
PART(a_mapping_lies_in_a_reservation_and_over_no_other)
{
    begin_cuda();
    const CUdeviceptr address = reserve(4 * GRANULE);
    const CUmemGenericAllocationHandle handle = create(2 * GRANULE);
    EXPECT(cuMemMap(address + 3 * GRANULE, 2 * GRANULE, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemMap(address, 4 * GRANULE, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemMap(address + 512, GRANULE, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemMap(address, GRANULE, GRANULE, handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemMap(address + GRANULE, 2 * GRANULE, 0, handle, 0), 0);
    EXPECT(cuMemMap(address, 2 * GRANULE, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemMap(address + 2 * GRANULE, GRANULE, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAddressFree(address, 4 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFree_v2(address + GRANULE), CUDA_ERROR_INVALID_VALUE);
}

/* 6.14, cuMemUnmap. */
PART(unmapping_takes_whole_mappings)
{
    begin_cuda();
    const CUdeviceptr address = reserve(6 * GRANULE);
    const CUmemGenericAllocationHandle handle = create(2 * GRANULE);
    for (int i = 0; i < 3; i++)
        EXPECT(cuMemMap(address + 2 * (size_t)i * GRANULE, 2 * GRANULE, 0, handle, 0), 0);
    EXPECT(cuMemUnmap(address, GRANULE), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemUnmap(address + GRANULE, 2 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemUnmap(address, 7 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemUnmap(address, 4 * GRANULE), 0);
    EXPECT(cuMemUnmap(address, 2 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemUnmap(address + 4 * GRANULE, 2 * GRANULE), 0);
}

/* 6.14, cuMemSetAccess, cuMemGetAccess. */
PART(access_is_kept_for_each_device)
{
    const CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                        there = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READ};
    unsigned long long flags = 7;
    begin_cuda();
    const CUdeviceptr address = reserve(GRANULE);
    EXPECT(cuMemSetAccess(address, GRANULE, &access, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemMap(address, GRANULE, 0, create(GRANULE), 0), 0);
    EXPECT(cuMemSetAccess(address, GRANULE, &access, 1), 0);
    EXPECT(cuMemGetAccess(&flags, &here, address), 0);
    EXPECT(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    EXPECT(cuMemGetAccess(&flags, &there, address), 0);
    EXPECT(flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    EXPECT(cuMemSetAccess(address, GRANULE, &access, 1), 0);
    EXPECT(cuMemGetAccess(&flags, &there, address), 0);
    EXPECT(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

PART(neighbouring_mappings_are_one_range_to_a_copy)
{
    static char host[2 * 2 * 1024 * 1024];
    begin_cuda();
    const CUdeviceptr address = reserve(3 * GRANULE);
    EXPECT(cuMemMap(address, GRANULE, 0, create(GRANULE), 0), 0);
    EXPECT(cuMemMap(address + GRANULE, GRANULE, 0, create(GRANULE), 0), 0);
    EXPECT(cuMemcpyHtoD_v2(address, host, sizeof host), 0);
    EXPECT(cuMemsetD8_v2(address, 1, 2 * GRANULE), 0);
    EXPECT(cuMemsetD8_v2(address + GRANULE, 1, 2 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD8_v2(address + 2 * GRANULE, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

/* 6.14, cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY. */
PART(physical_memory_runs_out)
{
    CUmemGenericAllocationHandle handle = 7;
    begin_cuda();
    const size_t before = free_bytes();
    EXPECT(cuMemCreate(&handle, 17 * GIB, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(handle, 7);
    create(before);
    EXPECT(free_bytes(), 0);
    EXPECT(cuMemCreate(&handle, GRANULE, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

SIM_MAIN()
