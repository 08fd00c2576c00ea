/* SPDX-License-Identifier: MIT */
/* Families of the driver: physical memory, and the addresses at which it is mapped. */
#include "matrix.h"

#include <unistd.h>

#define OBJECT_BYTES (4 * MIB) /* a multiple of the granularity of every card */

static const CUmemAllocationProp on_device = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
static const CUmemAllocationProp to_be_shared = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};

static CUdeviceptr reserve(uint64_t bytes)
{
    CUdeviceptr address = 0;
    DRIVER(cuMemAddressReserve, (&address, bytes, 0, 0, 0));
    book_alloc(MEMORY_RESERVATION, address, bytes);
    return address;
}

static void give_back(CUdeviceptr address, uint64_t bytes)
{
    DRIVER(cuMemAddressFree, (address, bytes));
    book_free(MEMORY_RESERVATION, address, bytes);
}

static CUmemGenericAllocationHandle create(const CUmemAllocationProp *properties)
{
    CUmemGenericAllocationHandle handle = 0;
    DRIVER(cuMemCreate, (&handle, OBJECT_BYTES, properties, 0));
    book_alloc(MEMORY_VMM, handle, OBJECT_BYTES);
    return handle;
}

static void release(CUmemGenericAllocationHandle handle)
{
    DRIVER(cuMemRelease, (handle));
    book_release(handle);
}

static void map(CUdeviceptr address, CUmemGenericAllocationHandle handle)
{
    DRIVER(cuMemMap, (address, OBJECT_BYTES, 0, handle, 0));
    book_event(EVENT_MAP, MEMORY_VMM, address, OBJECT_BYTES, handle);
}

static void unmap(CUdeviceptr address, uint64_t bytes)
{
    DRIVER(cuMemUnmap, (address, bytes));
    book_event(EVENT_UNMAP, MEMORY_VMM, address, bytes, UNSAID);
}

/* Physical memory lives until its last handle is released and its last mapping is removed. It
   counts as one allocation and one free. */
void driver_virtual_memory(void)
{
    const CUmemGenericAllocationHandle handle = create(&on_device);
    const CUdeviceptr address = reserve(OBJECT_BYTES);
    map(address, handle);
    release(handle);
    unmap(address, OBJECT_BYTES);
    book_end(MEMORY_VMM, OBJECT_BYTES);
    give_back(address, OBJECT_BYTES);
}

/* Two adjacent objects, as in an expandable segment: one call unmaps both. */
void driver_virtual_parts(void)
{
    const CUdeviceptr address = reserve(2 * OBJECT_BYTES);
    const CUmemGenericAllocationHandle first = create(&on_device);
    map(address, first);
    const CUmemGenericAllocationHandle second = create(&on_device);
    map(address + OBJECT_BYTES, second);
    unmap(address, 2 * OBJECT_BYTES);
    release(first);
    book_end(MEMORY_VMM, OBJECT_BYTES);
    release(second);
    book_end(MEMORY_VMM, OBJECT_BYTES);
    give_back(address, 2 * OBJECT_BYTES);
}

/* Getting a handle from an address adds a reference. */
void driver_virtual_retained(void)
{
    const CUmemGenericAllocationHandle handle = create(&on_device);
    const CUdeviceptr address = reserve(OBJECT_BYTES);
    CUmemGenericAllocationHandle again = 0;
    map(address, handle);
    DRIVER(cuMemRetainAllocationHandle, (&again, (void *)(uintptr_t)address));
    book_event(EVENT_RETAIN, MEMORY_VMM, address, UNSAID, again);
    unmap(address, OBJECT_BYTES);
    release(handle);
    release(again);
    book_end(MEMORY_VMM, OBJECT_BYTES);
    give_back(address, OBJECT_BYTES);
}

void driver_virtual_host(void)
{
    const CUmemAllocationProp on_host = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                         .location = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA}};
    CUmemGenericAllocationHandle handle = 0;
    int supported = 0;
    DRIVER(cuDeviceGetAttribute,
           (&supported, CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    family_needs(supported, "this device maps no host memory");
    DRIVER(cuMemCreate, (&handle, OBJECT_BYTES, &on_host, 0));
    book_alloc(MEMORY_VMM_HOST, handle, OBJECT_BYTES);
    release(handle);
    book_end(MEMORY_VMM_HOST, OBJECT_BYTES);
}

/* An imported object is counted separately from the process's own memory; its size is the mapped
   bytes. */
void driver_virtual_shared(void)
{
    const CUmemGenericAllocationHandle handle = create(&to_be_shared);
    const CUdeviceptr address = reserve(OBJECT_BYTES);
    CUmemGenericAllocationHandle imported = 0;
    int descriptor = -1;
    DRIVER(cuMemExportToShareableHandle,
           (&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    DRIVER(cuMemImportFromShareableHandle,
           (&imported, (void *)(intptr_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    book_alloc(MEMORY_IMPORTED_VMM, imported, 0);
    close(descriptor);
    map(address, imported);
    book_grow(MEMORY_IMPORTED_VMM, OBJECT_BYTES);
    unmap(address, OBJECT_BYTES);
    release(imported);
    book_end(MEMORY_IMPORTED_VMM, OBJECT_BYTES);
    release(handle);
    book_end(MEMORY_VMM, OBJECT_BYTES);
    give_back(address, OBJECT_BYTES);
}

/* A multicast object has no memory of its own: its memory is the memory that is bound to it. */
static CUmemGenericAllocationHandle create_multicast(void)
{
    CUmulticastObjectProp properties = {
        .numDevices = 1, .size = OBJECT_BYTES, .handleTypes = to_be_shared.requestedHandleTypes};
    CUmemGenericAllocationHandle object = 0;
    size_t granule_bytes = 0;
    int supported = 0;
    DRIVER(cuDeviceGetAttribute, (&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
    family_needs(supported, "this device has no multicast objects");
    DRIVER(cuMulticastGetGranularity,
           (&granule_bytes, &properties, CU_MULTICAST_GRANULARITY_MINIMUM));
    family_needs(OBJECT_BYTES % granule_bytes == 0, "a multicast object must be larger here");
    DRIVER(cuMulticastCreate, (&object, &properties));
    book_alloc(MEMORY_MULTICAST, object, OBJECT_BYTES);
    DRIVER(cuMulticastAddDevice, (object, 0));
    return object;
}

static void unbind(CUmemGenericAllocationHandle object)
{
    DRIVER(cuMulticastUnbind, (object, 0, 0, OBJECT_BYTES));
    book_event(EVENT_UNBIND, MEMORY_NONE, 0, OBJECT_BYTES, UNSAID);
}

void driver_multicast(void)
{
    const CUmemGenericAllocationHandle object = create_multicast();
    const CUmemGenericAllocationHandle handle = create(&to_be_shared);
    DRIVER(cuMulticastBindMem, (object, 0, handle, 0, OBJECT_BYTES, 0));
    book_event(EVENT_BIND, MEMORY_VMM, 0, OBJECT_BYTES, handle);
    unbind(object);
    release(handle);
    book_end(MEMORY_VMM, OBJECT_BYTES);
    release(object);
    book_end(MEMORY_MULTICAST, OBJECT_BYTES);
}

/* Binds memory by its mapped address. */
void driver_multicast_address(void)
{
    const CUmemGenericAllocationHandle object = create_multicast();
    const CUmemGenericAllocationHandle handle = create(&to_be_shared);
    const CUdeviceptr address = reserve(OBJECT_BYTES);
    map(address, handle);
    DRIVER(cuMulticastBindAddr, (object, 0, address, OBJECT_BYTES, 0));
    book_event(EVENT_BIND, MEMORY_NONE, 0, OBJECT_BYTES, address);
    unbind(object);
    unmap(address, OBJECT_BYTES);
    release(handle);
    book_end(MEMORY_VMM, OBJECT_BYTES);
    give_back(address, OBJECT_BYTES);
    release(object);
    book_end(MEMORY_MULTICAST, OBJECT_BYTES);
}
