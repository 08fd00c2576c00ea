/* SPDX-License-Identifier: MIT */
/* Families of the driver: physical memory and the addresses it is mapped at. */
#include "matrix.h"

#define OBJECT_BYTES (4 * MIB) /* a multiple of every card's granularity */

static const CUmemAllocationProp on_device = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
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

/* Lives until its last handle is released and its last mapping gone: one allocation, one free. */
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

/* Two objects side by side, as an expandable segment has them: one call unmaps both. */
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

/* A handle got from an address is one more reference. */
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
