/* SPDX-License-Identifier: MIT */
/* Families of the runtime: memory of other processes and other APIs. */
#include "matrix.h"

#include <string.h>
#include <unistd.h>

#include "lender.h"

#define PIECE_BYTES (4 * MIB)

void runtime_ipc(void)
{
    struct lender lender;
    CUipcMemHandle lent;
    cudaIpcMemHandle_t handle;
    void *address = NULL;
    family_needs(lender_start(&lender, &lent), "no second process can lend memory");
    memcpy(&handle, &lent, sizeof handle);
    RUNTIME(cudaIpcOpenMemHandle, (&address, handle, cudaIpcMemLazyEnablePeerAccess));
    book_alloc(MEMORY_IMPORTED, bits(address), LENT_BYTES);
    RUNTIME(cudaIpcCloseMemHandle, (address));
    book_free(MEMORY_IMPORTED, bits(address), LENT_BYTES);
    lender_stop(&lender);
}

static cudaMemPool_t import_of(cudaMemPool_t pool)
{
    cudaMemPool_t imported = NULL;
    int descriptor = -1;
    RUNTIME(cudaMemPoolExportToShareableHandle,
            (&descriptor, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    RUNTIME(cudaMemPoolImportFromShareableHandle,
            (&imported, (void *)(intptr_t)descriptor, cudaMemHandleTypePosixFileDescriptor, 0));
    book_event(EVENT_POOL_CREATE, MEMORY_IMPORTED, UNSAID, UNSAID, bits(imported));
    close(descriptor);
    return imported;
}

static void destroy(cudaMemPool_t pool)
{
    RUNTIME(cudaMemPoolDestroy, (pool));
    book_event(EVENT_POOL_DESTROY, MEMORY_NONE, UNSAID, UNSAID, bits(pool));
}

static void give_back(enum memory_kind memory, void *address)
{
    RUNTIME(cudaFreeAsync, (address, NULL));
    book_free(memory, bits(address), PIECE_BYTES);
    RUNTIME(cudaStreamSynchronize, (NULL));
}

void runtime_imported_pool(void)
{
    const struct cudaMemPoolProps properties = {
        .allocType = cudaMemAllocationTypePinned,
        .handleTypes = cudaMemHandleTypePosixFileDescriptor,
        .location = {.type = cudaMemLocationTypeDevice, .id = 0}};
    struct cudaMemPoolPtrExportData data;
    cudaMemPool_t pool = NULL;
    void *own = NULL, *address = NULL;
    RUNTIME(cudaMemPoolCreate, (&pool, &properties));
    book_event(EVENT_POOL_CREATE, MEMORY_ASYNC, UNSAID, UNSAID, bits(pool));
    const cudaMemPool_t imported = import_of(pool);
    RUNTIME(cudaMallocFromPoolAsync, (&own, PIECE_BYTES, pool, NULL));
    book_alloc_in_pool(MEMORY_ASYNC, bits(own), PIECE_BYTES, bits(pool));
    RUNTIME(cudaMemPoolExportPointer, (&data, own));
    RUNTIME(cudaMemPoolImportPointer, (&address, imported, &data));
    book_alloc_of(MEMORY_IMPORTED, bits(address), PIECE_BYTES, bits(imported));
    give_back(MEMORY_IMPORTED, address);
    give_back(MEMORY_ASYNC, own);
    destroy(imported);
    destroy(pool);
}

/* --- other APIs --- */

static cudaExternalMemory_t import_external(uint64_t bytes)
{
    const struct cudaExternalMemoryHandleDesc descriptor = {
        .type = cudaExternalMemoryHandleTypeOpaqueFd,
        .handle = {.fd = family_external_memory(bytes)},
        .size = bytes};
    cudaExternalMemory_t memory = NULL;
    RUNTIME(cudaImportExternalMemory, (&memory, &descriptor));
    book_alloc(MEMORY_EXTERNAL, bits(memory), bytes);
    return memory;
}

static void destroy_external(cudaExternalMemory_t memory, uint64_t bytes)
{
    RUNTIME(cudaDestroyExternalMemory, (memory));
    book_free(MEMORY_EXTERNAL, bits(memory), bytes);
}

void runtime_external(void)
{
    const cudaExternalMemory_t memory = import_external(8 * MIB);
    const struct cudaExternalMemoryBufferDesc part = {.offset = 2 * MIB, .size = 3 * MIB};
    void *address = NULL;
    RUNTIME(cudaExternalMemoryGetMappedBuffer, (&address, memory, &part));
    book_alloc_of(MEMORY_MAPPED, bits(address), 3 * MIB, bits(memory));
    RUNTIME(cudaFree, (address));
    book_free(MEMORY_MAPPED, bits(address), 3 * MIB);
    destroy_external(memory, 8 * MIB);
}

void runtime_external_mipmap(void)
{
    const cudaExternalMemory_t memory = import_external(8 * MIB);
    const struct cudaExternalMemoryMipmappedArrayDesc part = {
        .formatDesc = {.x = 32, .f = cudaChannelFormatKindFloat},
        .extent = {64, 64, 0},
        .numLevels = 2};
    const uint64_t bytes = (64 * 64 + 32 * 32) * 4;
    cudaMipmappedArray_t mipmap = NULL;
    RUNTIME(cudaExternalMemoryGetMappedMipmappedArray, (&mipmap, memory, &part));
    book_alloc_of(MEMORY_MAPPED_ARRAY, bits(mipmap), bytes, bits(memory));
    RUNTIME(cudaFreeMipmappedArray, (mipmap));
    book_free(MEMORY_MAPPED_ARRAY, bits(mipmap), bytes);
    destroy_external(memory, 8 * MIB);
}

void runtime_graphics(void)
{
    cudaGraphicsResource_t resource = NULL;
    family_needs_simulator("there is no window");
    RUNTIME_FAILS(cudaErrorInvalidResourceHandle, cudaGraphicsMapResources, (1, &resource, NULL));
    RUNTIME_FAILS(cudaErrorInvalidResourceHandle, cudaGraphicsUnmapResources, (1, &resource, NULL));
}
