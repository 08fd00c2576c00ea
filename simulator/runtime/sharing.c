/* SPDX-License-Identifier: MIT */
/*
 * Memory of other processes and other APIs. The runtime's handles are the driver's handles. The
 * runtime's structs differ from the driver's only in names.
 */
#include <stdint.h>
#include <string.h>

#include "array.h"
#include "call.h"
#include "convert.h"

/* --- IPC handles --- */

_Static_assert(sizeof(CUipcMemHandle) == sizeof(cudaIpcMemHandle_t), "one is the other's bytes");

static cudaError_t get_handle(cudaIpcMemHandle_t *handle, void *address)
{
    CUipcMemHandle answer;
    const cudaError_t error =
        error_of_driver(call_driver()->cuIpcGetMemHandle(&answer, address_of(address)));
    if (error == cudaSuccess)
        memcpy(handle, &answer, sizeof answer);
    return error;
}

GMT_EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *address)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(handle, get_handle(handle, address)));
}

static cudaError_t open_handle(void **address, const cudaIpcMemHandle_t *handle, unsigned int flags)
{
    CUipcMemHandle converted;
    CUdeviceptr memory = 0;
    cudaError_t error;
    memcpy(&converted, handle, sizeof converted);
    error = error_of_driver(call_driver()->cuIpcOpenMemHandle_v2(&memory, converted, flags));
    if (error == cudaSuccess)
        *address = (void *)(uintptr_t)memory;
    return error;
}

GMT_EXPORT cudaError_t cudaIpcOpenMemHandle(void **address, cudaIpcMemHandle_t handle,
                                            unsigned int flags)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(address, open_handle(address, &handle, flags)));
}

GMT_EXPORT cudaError_t cudaIpcCloseMemHandle(void *address)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuIpcCloseMemHandle(address_of(address))));
}

/* --- pools and their pieces --- */

GMT_EXPORT cudaError_t cudaMemPoolExportToShareableHandle(void *shareable, cudaMemPool_t pool,
                                                          enum cudaMemAllocationHandleType type,
                                                          unsigned int flags)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuMemPoolExportToShareableHandle(
                                   shareable, pool, (CUmemAllocationHandleType)type, flags)));
}

GMT_EXPORT cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *shareable,
                                                            enum cudaMemAllocationHandleType type,
                                                            unsigned int flags)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuMemPoolImportFromShareableHandle(
                                   pool, shareable, (CUmemAllocationHandleType)type, flags)));
}

_Static_assert(sizeof(CUmemPoolPtrExportData) == sizeof(struct cudaMemPoolPtrExportData),
               "one is the other's bytes");

GMT_EXPORT cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *data,
                                                void *address)
{
    return CALL(NEEDS_DEVICES, error_of_driver(call_driver()->cuMemPoolExportPointer(
                                   (CUmemPoolPtrExportData *)(void *)data, address_of(address))));
}

static cudaError_t import_pointer(void **address, cudaMemPool_t pool,
                                  struct cudaMemPoolPtrExportData *data)
{
    CUdeviceptr memory = 0;
    const cudaError_t error = error_of_driver(call_driver()->cuMemPoolImportPointer(
        &memory, pool, (CUmemPoolPtrExportData *)(void *)data));
    if (error == cudaSuccess)
        *address = (void *)(uintptr_t)memory;
    return error;
}

GMT_EXPORT cudaError_t cudaMemPoolImportPointer(void **address, cudaMemPool_t pool,
                                                struct cudaMemPoolPtrExportData *data)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(address, import_pointer(address, pool, data)));
}

/* --- external memory --- */

static cudaError_t import_memory(cudaExternalMemory_t *memory,
                                 const struct cudaExternalMemoryHandleDesc *descriptor)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC converted = {
        .type = (CUexternalMemoryHandleType)descriptor->type,
        .size = descriptor->size,
        .flags = descriptor->flags,
    };
    memcpy(&converted.handle, &descriptor->handle, sizeof converted.handle);
    return error_of_driver(
        call_driver()->cuImportExternalMemory((CUexternalMemory *)memory, &converted));
}

GMT_EXPORT cudaError_t cudaImportExternalMemory(
    cudaExternalMemory_t *memory, const struct cudaExternalMemoryHandleDesc *descriptor)
{
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(memory && descriptor, import_memory(memory, descriptor)));
}

static cudaError_t map_buffer(void **address, cudaExternalMemory_t memory,
                              const struct cudaExternalMemoryBufferDesc *descriptor)
{
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC converted = {
        .offset = descriptor->offset, .size = descriptor->size, .flags = descriptor->flags};
    CUdeviceptr buffer = 0;
    const cudaError_t error = error_of_driver(call_driver()->cuExternalMemoryGetMappedBuffer(
        &buffer, (CUexternalMemory)memory, &converted));
    if (error == cudaSuccess)
        *address = (void *)(uintptr_t)buffer;
    return error;
}

GMT_EXPORT cudaError_t
cudaExternalMemoryGetMappedBuffer(void **address, cudaExternalMemory_t memory,
                                  const struct cudaExternalMemoryBufferDesc *descriptor)
{
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(address && descriptor, map_buffer(address, memory, descriptor)));
}

static cudaError_t map_array(cudaMipmappedArray_t *array, cudaExternalMemory_t memory,
                             const struct cudaExternalMemoryMipmappedArrayDesc *descriptor)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC converted = {.offset = descriptor->offset,
                                                           .numLevels = descriptor->numLevels};
    CUmipmappedArray mapped = NULL;
    cudaError_t error = array_describe(&converted.arrayDesc, &descriptor->formatDesc,
                                       descriptor->extent, descriptor->flags);
    if (error == cudaSuccess)
        error = error_of_driver(call_driver()->cuExternalMemoryGetMappedMipmappedArray(
            &mapped, (CUexternalMemory)memory, &converted));
    if (error == cudaSuccess)
        *array = (cudaMipmappedArray_t)mapped;
    return error;
}

GMT_EXPORT cudaError_t cudaExternalMemoryGetMappedMipmappedArray(
    cudaMipmappedArray_t *array, cudaExternalMemory_t memory,
    const struct cudaExternalMemoryMipmappedArrayDesc *descriptor)
{
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(array && descriptor, map_array(array, memory, descriptor)));
}

GMT_EXPORT cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuDestroyExternalMemory((CUexternalMemory)memory)));
}

/* --- graphics: no resource handle is valid --- */

static cudaError_t change_resources(bool map, int count, cudaGraphicsResource_t *resources,
                                    cudaStream_t stream)
{
    CUgraphicsResource *handles = (CUgraphicsResource *)(void *)resources;
    const unsigned int number = count > 0 ? (unsigned int)count : 0;
    return error_of_driver(
        map ? call_driver()->cuGraphicsMapResources[LEGACY](number, handles, stream)
            : call_driver()->cuGraphicsUnmapResources[LEGACY](number, handles, stream));
}

GMT_EXPORT cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources,
                                                cudaStream_t stream)
{
    return CALL(NEEDS_CONTEXT, change_resources(true, count, resources, stream));
}

GMT_EXPORT cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources,
                                                  cudaStream_t stream)
{
    return CALL(NEEDS_CONTEXT, change_resources(false, count, resources, stream));
}

GMT_EXPORT cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuGraphicsUnregisterResource(
                                   (CUgraphicsResource)resource)));
}

static cudaError_t get_pointer(void **address, size_t *size_bytes, cudaGraphicsResource_t resource)
{
    CUdeviceptr memory = 0;
    const cudaError_t error = error_of_driver(call_driver()->cuGraphicsResourceGetMappedPointer_v2(
        &memory, size_bytes, (CUgraphicsResource)resource));
    if (error == cudaSuccess)
        *address = (void *)(uintptr_t)memory;
    return error;
}

GMT_EXPORT cudaError_t cudaGraphicsResourceGetMappedPointer(void **address, size_t *size_bytes,
                                                            cudaGraphicsResource_t resource)
{
    return CALL(NEEDS_CONTEXT,
                CALL_UNLESS_NULL(address, get_pointer(address, size_bytes, resource)));
}
