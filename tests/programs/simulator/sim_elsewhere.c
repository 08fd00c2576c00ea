/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests memory of the simulated driver that takes no device memory: external memory, host memory,
 * managed pools. Also tests that graphics resources do not exist. The numbers of sections are those
 * of the CUDA Driver API.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim_device.h"

/* --- external memory --- */

static int file_of(size_t size_bytes)
{
    const int file = memfd_create("memory of another API", MFD_CLOEXEC);
    CHECK(file >= 0);
    EXPECT(ftruncate(file, (off_t)size_bytes), 0);
    return file;
}

static CUDA_EXTERNAL_MEMORY_HANDLE_DESC handle_of(int file, size_t size_bytes)
{
    return (CUDA_EXTERNAL_MEMORY_HANDLE_DESC){
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = file, .size = size_bytes};
}

/* 6.20 External Resource Interoperability, cuImportExternalMemory, cuExternalMemoryGetMappedBuffer,
 * cuDestroyExternalMemory. */
PART(external_memory_is_mapped_and_freed_and_not_the_device_s)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC part = {.offset = MIB, .size = 3 * MIB};
    CUexternalMemory memory;
    CUdeviceptr buffer = 0, other = 7;
    begin_cuda();
    const size_t before = free_bytes();
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC handle = handle_of(file_of(4 * MIB), 4 * MIB);
    EXPECT(cuImportExternalMemory(&memory, &handle), 0);
    EXPECT(fcntl(handle.handle.fd, F_GETFD), -1); /* the driver has closed it */
    EXPECT(cuExternalMemoryGetMappedBuffer(&buffer, memory, &part), 0);
    EXPECT(cuMemsetD8_v2(buffer, 0, 3 * MIB), 0);
    EXPECT(cuMemsetD8_v2(buffer, 0, 3 * MIB + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(free_bytes(), before);
    part.size = 4 * MIB;
    EXPECT(cuExternalMemoryGetMappedBuffer(&other, memory, &part), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuExternalMemoryGetMappedBuffer(&other, memory, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuDestroyExternalMemory(memory), 0);
    EXPECT(cuDestroyExternalMemory(memory), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuExternalMemoryGetMappedBuffer(&other, memory, &part), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(other, 7);
    EXPECT(cuMemFree_v2(buffer), 0); /* the program frees it */
    EXPECT(cuMemFree_v2(buffer), CUDA_ERROR_INVALID_VALUE);
    EXPECT(free_bytes(), before);
}

/* 6.20, cuExternalMemoryGetMappedMipmappedArray: freed by cuMipmappedArrayDestroy. */
PART(external_memory_is_mapped_as_an_array)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC part = {
        .arrayDesc = {256, 256, 0, CU_AD_FORMAT_FLOAT, 1, 0}, .numLevels = 3};
    CUexternalMemory memory;
    CUmipmappedArray mipmap;
    CUarray level;
    begin_cuda();
    const size_t before = free_bytes();
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC handle = handle_of(file_of(MIB), MIB);
    EXPECT(cuImportExternalMemory(&memory, &handle), 0);
    EXPECT(cuExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &part), 0);
    EXPECT(cuMipmappedArrayGetLevel(&level, mipmap, 2), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMipmappedArrayDestroy(mipmap), 0);
    EXPECT(cuMipmappedArrayDestroy(mipmap), CUDA_ERROR_INVALID_HANDLE);
    part.arrayDesc.Width = 4096;
    EXPECT(cuExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &part),
           CUDA_ERROR_INVALID_VALUE);
    part.arrayDesc.Width = 0;
    EXPECT(cuExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &part),
           CUDA_ERROR_INVALID_VALUE);
}

/* 6.20, cuImportExternalMemory: CUDA_ERROR_INVALID_VALUE, _INVALID_HANDLE, _NOT_SUPPORTED. */
PART(an_import_says_what_it_imports)
{
    CUexternalMemory memory;
    begin_cuda();
    const int file = file_of(MIB);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC handle = handle_of(file, 0);
    EXPECT(cuImportExternalMemory(&memory, &handle), CUDA_ERROR_INVALID_VALUE);
    handle = handle_of(file, 2 * MIB);
    EXPECT(cuImportExternalMemory(&memory, &handle), CUDA_ERROR_INVALID_VALUE);
    handle = handle_of(-1, MIB);
    EXPECT(cuImportExternalMemory(&memory, &handle), CUDA_ERROR_INVALID_HANDLE);
    handle = handle_of(file, MIB);
    handle.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP;
    EXPECT(cuImportExternalMemory(&memory, &handle), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT(cuImportExternalMemory(&memory, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK(fcntl(file, F_GETFD) >= 0); /* still open */
}

/* 6.8 Context Management, cuCtxDestroy. */
PART(external_memory_ends_with_its_context)
{
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC part = {.size = MIB};
    CUexternalMemory memory;
    CUdeviceptr buffer;
    begin_cuda();
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC handle = handle_of(file_of(MIB), MIB);
    EXPECT(cuImportExternalMemory(&memory, &handle), 0);
    EXPECT(cuExternalMemoryGetMappedBuffer(&buffer, memory, &part), 0);
    EXPECT(cuCtxDestroy_v2(context), 0);
    begin_cuda();
    EXPECT(cuDestroyExternalMemory(memory), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuMemFree_v2(buffer), CUDA_ERROR_INVALID_VALUE);
}

/* --- host memory --- */

/* 6.14 Virtual Memory Management, cuMemCreate: CU_MEM_LOCATION_TYPE_HOST and _HOST_NUMA. */
PART(physical_memory_of_the_host_is_not_the_device_s)
{
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_HOST, 7}};
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_HOST, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle = 7;
    unsigned long long flags = 0;
    CUdeviceptr address;
    begin_cuda();
    const size_t before = free_bytes();
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    EXPECT(cuMemCreate(&handle, GRANULE, &properties, 0), CUDA_ERROR_INVALID_VALUE);
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    properties.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    EXPECT(cuMemCreate(&handle, GRANULE, &properties, 0), CUDA_ERROR_INVALID_VALUE);
    properties.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    EXPECT(cuMemCreate(&handle, GRANULE, &properties, 0), 0);
    EXPECT(cuMemRelease(handle), 0);
    properties.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 7};
    EXPECT(cuMemCreate(&handle, GRANULE, &properties, 0), 0);
    EXPECT(cuMemAddressReserve(&address, GRANULE, 0, 0, 0), 0);
    EXPECT(cuMemMap(address, GRANULE, 0, handle, 0), 0);
    EXPECT(cuMemSetAccess(address, GRANULE, &access, 1), 0);
    EXPECT(cuMemGetAccess(&flags, &access.location, address), 0);
    EXPECT(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT(free_bytes(), before);
}

static CUmemoryPool create_pool(CUmemAllocationType type, CUmemLocationType location)
{
    const CUmemPoolProps properties = {.allocType = type, .location = {location, 0}};
    CUmemoryPool pool;
    EXPECT(cuMemPoolCreate(&pool, &properties), 0);
    return pool;
}

static void expect_pool_beside_the_device(CUmemoryPool pool, CUmemorytype type, unsigned managed)
{
    CUdeviceptr piece;
    CUmemorytype told = (CUmemorytype)0;
    unsigned is_managed = 7;
    cuuint64_t reserved = 0;
    const size_t before = free_bytes();
    EXPECT(cuMemAllocFromPoolAsync(&piece, MIB, pool, NULL), 0);
    EXPECT(free_bytes(), before);
    memset((void *)(uintptr_t)piece, 5, MIB); /* the host can reach it */
    EXPECT(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, piece), 0);
    EXPECT(told, type);
    EXPECT(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, piece), 0);
    EXPECT(is_managed, managed);
    EXPECT(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved), 0);
    EXPECT(reserved, 32 * MIB);
    EXPECT(cuMemFreeAsync(piece, NULL), 0);
    EXPECT(cuMemPoolTrimTo(pool, 0), 0);
    EXPECT(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved), 0);
    EXPECT(reserved, 0);
    EXPECT(cuMemPoolDestroy(pool), 0);
}

/* 6.15 Stream Ordered Memory Allocator, cuMemPoolCreate. */
PART(pools_of_the_host_and_managed_ones_are_not_the_device_s)
{
    CUmemPoolProps wrong = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0}};
    CUmemoryPool pool;
    begin_cuda();
    expect_pool_beside_the_device(
        create_pool(CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_HOST), CU_MEMORYTYPE_HOST,
        0);
    expect_pool_beside_the_device(
        create_pool(CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_HOST_NUMA),
        CU_MEMORYTYPE_HOST, 0);
    expect_pool_beside_the_device(
        create_pool(CU_MEM_ALLOCATION_TYPE_MANAGED, CU_MEM_LOCATION_TYPE_NONE),
        CU_MEMORYTYPE_DEVICE, 1);
    expect_pool_beside_the_device(
        create_pool(CU_MEM_ALLOCATION_TYPE_MANAGED, CU_MEM_LOCATION_TYPE_DEVICE),
        CU_MEMORYTYPE_DEVICE, 1);
    EXPECT(cuMemPoolCreate(&pool, &wrong), CUDA_ERROR_INVALID_VALUE);
    wrong.location.type = CU_MEM_LOCATION_TYPE_NONE;
    EXPECT(cuMemPoolCreate(&pool, &wrong), CUDA_ERROR_INVALID_VALUE);
    wrong.location.type = CU_MEM_LOCATION_TYPE_HOST;
    wrong.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    EXPECT(cuMemPoolCreate(&pool, &wrong), CUDA_ERROR_INVALID_VALUE);
}

/* 6.15, cuMemGetDefaultMemPool, cuMemGetMemPool, cuMemSetMemPool. */
PART(each_place_has_a_pool_of_its_own)
{
    CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0}, card = {CU_MEM_LOCATION_TYPE_DEVICE, 1},
                  none = {CU_MEM_LOCATION_TYPE_NONE, 0};
    const CUmemAllocationType pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
    CUmemoryPool first, second, managed, own, later;
    begin_cuda();
    EXPECT(cuMemGetDefaultMemPool(&first, &card, pinned), 0);
    EXPECT(cuDeviceGetDefaultMemPool(&second, 1), 0);
    CHECK(first == second);
    EXPECT(cuMemGetDefaultMemPool(&managed, &card, CU_MEM_ALLOCATION_TYPE_MANAGED), 0);
    EXPECT(cuMemGetDefaultMemPool(&first, &host, pinned), 0);
    EXPECT(cuMemGetDefaultMemPool(&own, &none, pinned), CUDA_ERROR_INVALID_VALUE);
    CHECK(first != second && managed != second && managed != first);
    own = create_pool(pinned, CU_MEM_LOCATION_TYPE_HOST);
    EXPECT(cuMemSetMemPool(&card, pinned, own), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemSetMemPool(&host, pinned, own), 0);
    EXPECT(cuMemGetMemPool(&second, &host, pinned), 0);
    CHECK(second == own);
    later = create_pool(pinned, CU_MEM_LOCATION_TYPE_HOST);
    EXPECT(cuMemSetMemPool(&host, pinned, later), 0);
    EXPECT(cuMemSetMemPool(&host, pinned, own), 0);
    EXPECT(cuMemGetMemPool(&second, &host, pinned), 0);
    CHECK(second == own);
    EXPECT(cuMemPoolDestroy(own), 0);
    EXPECT(cuMemGetMemPool(&second, &host, pinned), 0);
    CHECK(second == first);
    EXPECT(cuMemPoolDestroy(first), CUDA_ERROR_INVALID_VALUE);
}

/* 6.32 Graphics Interoperability: nothing can be registered, so no resource is valid. */
PART(no_graphics_resource_is_a_valid_one)
{
    CUgraphicsResource resource = (CUgraphicsResource)&resource;
    CUdeviceptr address = 7;
    size_t size_bytes = 7;
    begin_cuda();
    EXPECT(cuGraphicsMapResources(1, &resource, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuGraphicsMapResources(0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphicsUnmapResources(1, &resource, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuGraphicsResourceGetMappedPointer_v2(&address, &size_bytes, resource),
           CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuGraphicsUnregisterResource(resource), CUDA_ERROR_INVALID_HANDLE);
    CHECK(address == 7 && size_bytes == 7);
}

SIM_MAIN()
