/* SPDX-License-Identifier: MIT */
/*
 * Linear, pitched, managed and pinned memory. Only the cases that the driver rejects are handled
 * here (a size of 0, freeing NULL); the driver checks the rest.
 */
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "convert.h"

/* The device of a pointer unknown to CUDA. */
enum { NO_DEVICE = -2 };

static cudaError_t memory_allocate(void **address, size_t size_bytes)
{
    CUdeviceptr memory = 0;
    cudaError_t error = cudaSuccess;
    if (size_bytes)
        error = error_of_driver(call_driver()->cuMemAlloc_v2(&memory, size_bytes));
    if (error == cudaSuccess)
        *address = (void *)(uintptr_t)memory;
    return error;
}

GMT_EXPORT cudaError_t cudaMalloc(void **address, size_t size_bytes)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(address, memory_allocate(address, size_bytes)));
}

static cudaError_t memory_release(void *address)
{
    return address ? error_of_driver(call_driver()->cuMemFree_v2(address_of(address)))
                   : cudaSuccess;
}

GMT_EXPORT cudaError_t cudaFree(void *address)
{
    return CALL(NEEDS_CONTEXT, memory_release(address));
}

static cudaError_t allocate_pitch(void **address, size_t *pitch_bytes, size_t width_bytes,
                                  size_t height)
{
    enum { ELEMENT_BYTES = 4 }; /* all sizes that the driver accepts give the same pitch */
    CUdeviceptr memory = 0;
    size_t pitch = 0;
    cudaError_t error = cudaSuccess;
    if (width_bytes && height)
        error = error_of_driver(
            call_driver()->cuMemAllocPitch_v2(&memory, &pitch, width_bytes, height, ELEMENT_BYTES));
    if (error == cudaSuccess) {
        *address = (void *)(uintptr_t)memory;
        *pitch_bytes = pitch;
    }
    return error;
}

GMT_EXPORT cudaError_t cudaMallocPitch(void **address, size_t *pitch_bytes, size_t width_bytes,
                                       size_t height)
{
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(address && pitch_bytes,
                                 allocate_pitch(address, pitch_bytes, width_bytes, height)));
}

/* Allocates the rows of all slices as one pitched allocation. */
static cudaError_t allocate_3d(struct cudaPitchedPtr *pitched, struct cudaExtent extent)
{
    void *memory;
    size_t rows, pitch_bytes;
    cudaError_t error;
    if (GMT_MUL_OVERFLOWS(extent.height, extent.depth, &rows))
        return cudaErrorInvalidValue;
    error = allocate_pitch(&memory, &pitch_bytes, extent.width, rows);
    if (error == cudaSuccess)
        *pitched = (struct cudaPitchedPtr){memory, pitch_bytes, extent.width, extent.height};
    return error;
}

GMT_EXPORT cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(pitched, allocate_3d(pitched, extent)));
}

static cudaError_t allocate_managed(void **address, size_t size_bytes, unsigned int flags)
{
    CUdeviceptr memory = 0;
    const cudaError_t error =
        error_of_driver(call_driver()->cuMemAllocManaged(&memory, size_bytes, flags));
    if (error == cudaSuccess)
        *address = (void *)(uintptr_t)memory;
    return error;
}

GMT_EXPORT cudaError_t cudaMallocManaged(void **address, size_t size_bytes, unsigned int flags)
{
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(address, allocate_managed(address, size_bytes, flags)));
}

/*
 * Managed memory is in the same place whatever a hint says, so a hint only checks its range. The
 * parameters after the size differ between CUDA 12 and CUDA 13, and are not read.
 */
static cudaError_t check_hint(const void *address, size_t size_bytes)
{
    return error_of_driver(call_driver()->cuMemAdvise((CUdeviceptr)(uintptr_t)address, size_bytes,
                                                      CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
}

#define HINT(name)                                                                                 \
    GMT_EXPORT cudaError_t name(const void *address, size_t size_bytes);                           \
    cudaError_t name(const void *address, size_t size_bytes)                                       \
    {                                                                                              \
        return CALL(NEEDS_CONTEXT, check_hint(address, size_bytes));                               \
    }

HINT(cudaMemAdvise)
HINT(cudaMemAdvise_v2)
HINT(cudaMemPrefetchAsync)
HINT(cudaMemPrefetchAsync_ptsz)
HINT(cudaMemPrefetchAsync_v2)
HINT(cudaMemPrefetchAsync_v2_ptsz)

static cudaError_t allocate_host(void **address, size_t size_bytes, unsigned int flags)
{
    void *memory = NULL;
    cudaError_t error = cudaSuccess;
    if (size_bytes)
        error = error_of_driver(call_driver()->cuMemHostAlloc(&memory, size_bytes, flags));
    if (error == cudaSuccess)
        *address = memory;
    return error;
}

GMT_EXPORT cudaError_t cudaMallocHost(void **address, size_t size_bytes)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(address, allocate_host(address, size_bytes, 0)));
}

GMT_EXPORT cudaError_t cudaHostAlloc(void **address, size_t size_bytes, unsigned int flags)
{
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(address, allocate_host(address, size_bytes, flags)));
}

static cudaError_t release_host(void *address)
{
    return address ? error_of_driver(call_driver()->cuMemFreeHost(address)) : cudaSuccess;
}

GMT_EXPORT cudaError_t cudaFreeHost(void *address)
{
    return CALL(NEEDS_CONTEXT, release_host(address));
}

GMT_EXPORT cudaError_t cudaHostRegister(void *address, size_t size_bytes, unsigned int flags)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuMemHostRegister_v2(address, size_bytes, flags)));
}

GMT_EXPORT cudaError_t cudaHostUnregister(void *address)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuMemHostUnregister(address)));
}

static cudaError_t get_device_pointer(void **device_address, void *address, unsigned int flags)
{
    CUdeviceptr memory = 0;
    const cudaError_t error =
        error_of_driver(call_driver()->cuMemHostGetDevicePointer_v2(&memory, address, flags));
    if (error == cudaSuccess)
        *device_address = (void *)(uintptr_t)memory;
    return error;
}

GMT_EXPORT cudaError_t cudaHostGetDevicePointer(void **device_address, void *address,
                                                unsigned int flags)
{
    return CALL(
        NEEDS_CONTEXT,
        CALL_UNLESS_NULL(device_address, get_device_pointer(device_address, address, flags)));
}

GMT_EXPORT cudaError_t cudaHostGetFlags(unsigned int *flags, void *address)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuMemHostGetFlags(flags, address)));
}

static enum cudaMemoryType type_of(CUmemorytype type, unsigned int is_managed)
{
    if (is_managed)
        return cudaMemoryTypeManaged;
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        return cudaMemoryTypeHost;
    case CU_MEMORYTYPE_DEVICE:
        return cudaMemoryTypeDevice;
    default:
        return cudaMemoryTypeUnregistered;
    }
}

static cudaError_t get_attributes(struct cudaPointerAttributes *attributes, const void *address)
{
    CUpointer_attribute asked[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER};
    enum { ASKED_COUNT = sizeof asked / sizeof *asked };
    CUmemorytype type = (CUmemorytype)0;
    unsigned int is_managed = 0;
    int device = NO_DEVICE;
    CUdeviceptr device_pointer = 0;
    void *host_pointer = NULL;
    void *answers[ASKED_COUNT] = {&type, &is_managed, &device, &device_pointer, &host_pointer};
    const cudaError_t error = error_of_driver(
        call_driver()->cuPointerGetAttributes(ASKED_COUNT, asked, answers, address_of(address)));
    if (error)
        return error;
    attributes->type = type_of(type, is_managed);
    attributes->device = device;
    attributes->devicePointer = (void *)(uintptr_t)device_pointer;
    attributes->hostPointer = host_pointer;
    if (attributes->type == cudaMemoryTypeUnregistered) {
        attributes->device = NO_DEVICE;
        attributes->devicePointer = NULL;
        attributes->hostPointer = (void *)(uintptr_t)address;
    }
    return cudaSuccess;
}

GMT_EXPORT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                                const void *address)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(attributes, get_attributes(attributes, address)));
}

GMT_EXPORT cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuMemGetInfo_v2(free_bytes, total_bytes)));
}
