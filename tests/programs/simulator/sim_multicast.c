/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests multicast objects of the simulated driver, on two devices that support them. The functions
 * are those of 6.16 Multicast Object Management of the CUDA Driver API.
 */
#include <stdint.h>

#include "sim_device.h"

static const CUmulticastObjectProp properties = {.numDevices = 2, .size = 2 * GRANULE};
static CUmemGenericAllocationHandle create_memory(CUdevice device)
{
    const CUmemAllocationProp memory = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                        .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUmemGenericAllocationHandle handle;
    EXPECT(cuMemCreate(&handle, 2 * GRANULE, &memory, 0), 0);
    return handle;
}

static CUmemGenericAllocationHandle create_object(void)
{
    CUmemGenericAllocationHandle handle;
    EXPECT(cuMulticastCreate(&handle, &properties), 0);
    EXPECT(cuMulticastAddDevice(handle, 0), 0);
    EXPECT(cuMulticastAddDevice(handle, 1), 0);
    return handle;
}

/* cuMulticastCreate, cuMulticastGetGranularity. */
PART(an_object_has_a_size_and_no_memory)
{
    CUmulticastObjectProp wrong = properties;
    CUmemGenericAllocationHandle handle = 7;
    size_t granularity = 0;
    begin_cuda();
    const size_t before = free_bytes();
    EXPECT(cuMulticastGetGranularity(&granularity, &properties, CU_MULTICAST_GRANULARITY_MINIMUM),
           0);
    EXPECT(granularity, GRANULE);
    wrong.size = GRANULE + 1;
    EXPECT(cuMulticastCreate(&handle, &wrong), CUDA_ERROR_INVALID_VALUE);
    wrong = properties;
    wrong.numDevices = 0;
    EXPECT(cuMulticastCreate(&handle, &wrong), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMulticastCreate(NULL, &properties), CUDA_ERROR_INVALID_VALUE);
    EXPECT(handle, 7);
    EXPECT(cuMulticastCreate(&handle, &properties), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMemRelease(handle), 0);
    EXPECT(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
}

/* cuMulticastAddDevice: each device is added once, and no more than numDevices.
   cuMulticastBindMem: all devices must be added first. */
PART(memory_is_bound_when_all_devices_are_there)
{
    CUmemGenericAllocationHandle handle;
    begin_cuda();
    const CUmemGenericAllocationHandle memory = create_memory(0);
    EXPECT(cuMulticastCreate(&handle, &properties), 0);
    EXPECT(cuMulticastAddDevice(handle, 0), 0);
    EXPECT(cuMulticastAddDevice(handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMulticastAddDevice(handle, 9), CUDA_ERROR_INVALID_DEVICE);
    EXPECT(cuMulticastAddDevice(memory, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMulticastBindMem(handle, 0, memory, 0, GRANULE, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMulticastAddDevice(handle, 1), 0);
    EXPECT(cuMulticastBindMem(handle, 0, memory, 0, GRANULE, 0), 0);
    EXPECT(cuMulticastBindMem(handle, 0, memory, 0, GRANULE, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMulticastBindMem(handle, GRANULE, memory, 0, 2 * GRANULE, 0),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMulticastBindMem(handle, GRANULE, memory, GRANULE, 2 * GRANULE, 0),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMulticastBindMem(handle, 0, handle, 0, GRANULE, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMulticastBindMem(handle, 0, create_memory(1), GRANULE, GRANULE, 0), 0);
}

/* cuMulticastBindMem, cuMulticastUnbind: bound memory stays alive, also memory of another
   device. */
PART(bound_memory_stays_until_it_is_unbound)
{
    begin_cuda();
    const size_t before = free_bytes();
    const CUmemGenericAllocationHandle handle = create_object(), memory = create_memory(0);
    EXPECT(cuMulticastBindMem(handle, 0, memory, 0, 2 * GRANULE, 0), 0);
    EXPECT(cuMemRelease(memory), 0);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    EXPECT(cuMulticastUnbind(handle, 1, 0, 2 * GRANULE), 0);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    EXPECT(cuMulticastUnbind(handle, 0, 0, 2 * GRANULE), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMulticastUnbind(memory, 0, 0, 2 * GRANULE), CUDA_ERROR_INVALID_VALUE);
}

/* cuMulticastBindAddr; 6.14 Virtual Memory Management, cuMemMap: an object is mapped like physical
 * memory. */
PART(a_mapped_object_holds_what_is_bound_to_it)
{
    CUdeviceptr address;
    CUmemAllocationProp told;
    begin_cuda();
    const size_t before = free_bytes();
    const CUmemGenericAllocationHandle handle = create_object(), memory = create_memory(0);
    EXPECT(cuMemAddressReserve(&address, 4 * GRANULE, 0, 0, 0), 0);
    EXPECT(cuMemMap(address, 2 * GRANULE, 0, memory, 0), 0);
    EXPECT(cuMulticastBindAddr(handle, 0, address + 512, GRANULE, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMulticastBindAddr(handle, 0, address, 2 * GRANULE, 0), 0);
    EXPECT(cuMemMap(address + 2 * GRANULE, 2 * GRANULE, 0, handle, 0), 0);
    EXPECT(cuMemGetAllocationPropertiesFromHandle(&told, handle), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemRelease(handle), 0);
    EXPECT(cuMemRelease(memory), 0);
    EXPECT(cuMemUnmap(address, 2 * GRANULE), 0);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    EXPECT(cuMemUnmap(address + 2 * GRANULE, 2 * GRANULE), 0);
    EXPECT(free_bytes(), before);
}

SIM_MAIN()
