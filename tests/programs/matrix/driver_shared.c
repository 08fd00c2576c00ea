/* SPDX-License-Identifier: MIT */
/* Families of the driver: memory of other processes and other APIs. No process counts such
   memory twice. */
#include "matrix.h"

#include <unistd.h>

#include "lender.h"

#define PIECE_BYTES (4 * MIB)

/* Books another process's memory as imported, with the size of its block. */
static void booked_loan(struct lender *lender, CUdeviceptr address)
{
    book_alloc(MEMORY_IMPORTED, address, LENT_BYTES);
    DRIVER(cuIpcCloseMemHandle, (address));
    book_free(MEMORY_IMPORTED, address, LENT_BYTES);
    lender_stop(lender);
}

void driver_ipc(void)
{
    struct lender lender;
    CUipcMemHandle handle;
    CUdeviceptr address = 0;
    family_needs(lender_start(&lender, &handle), "no second process can lend memory");
    DRIVER(cuIpcOpenMemHandle_v2, (&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    booked_loan(&lender, address);
}

/* A second open returns the same block at the same address; each open needs a close. */
void driver_ipc_again(void)
{
    struct lender lender;
    CUipcMemHandle handle;
    CUdeviceptr first = 0, second = 0;
    family_needs(lender_start(&lender, &handle), "no second process can lend memory");
    DRIVER(cuIpcOpenMemHandle_v2, (&first, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    book_alloc(MEMORY_IMPORTED, first, LENT_BYTES);
    DRIVER(cuIpcOpenMemHandle_v2, (&second, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    book_take(MEMORY_IMPORTED, 0);
    book_event(EVENT_ALLOC, MEMORY_IMPORTED, first, LENT_BYTES, UNSAID);
    DRIVER(cuIpcCloseMemHandle, (first));
    book_free(MEMORY_IMPORTED, first, 0);
    DRIVER(cuIpcCloseMemHandle, (first));
    book_free(MEMORY_IMPORTED, first, LENT_BYTES);
    lender_stop(&lender);
}

void driver_ipc_v1(void)
{
    struct lender lender;
    CUipcMemHandle handle;
    CUdeviceptr address = 0;
    NEEDS_DRIVER(cuIpcOpenMemHandle);
    family_needs(lender_start(&lender, &handle), "no second process can lend memory");
    DRIVER(cuIpcOpenMemHandle, (&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    booked_loan(&lender, address);
}

/* An imported pool allocates nothing; its allocations are imported one by one. */
static CUmemoryPool import_of(CUmemoryPool pool)
{
    CUmemoryPool imported = NULL;
    int descriptor = -1;
    DRIVER(cuMemPoolExportToShareableHandle,
           (&descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    DRIVER(cuMemPoolImportFromShareableHandle,
           (&imported, (void *)(intptr_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    book_event(EVENT_POOL_CREATE, MEMORY_IMPORTED, UNSAID, UNSAID, bits(imported));
    close(descriptor);
    return imported;
}

static void destroy(CUmemoryPool pool)
{
    DRIVER(cuMemPoolDestroy, (pool));
    book_event(EVENT_POOL_DESTROY, MEMORY_NONE, UNSAID, UNSAID, bits(pool));
}

static void give_back(enum memory_kind memory, CUdeviceptr address)
{
    DRIVER(cuMemFreeAsync, (address, NULL));
    book_free(memory, address, PIECE_BYTES);
    DRIVER(cuStreamSynchronize, (NULL));
}

void driver_imported_pool(void)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemPoolPtrExportData data;
    CUmemoryPool pool = NULL;
    CUdeviceptr own = 0, address = 0;
    DRIVER(cuMemPoolCreate, (&pool, &properties));
    book_event(EVENT_POOL_CREATE, MEMORY_ASYNC, UNSAID, UNSAID, bits(pool));
    const CUmemoryPool imported = import_of(pool);
    DRIVER(cuMemAllocFromPoolAsync, (&own, PIECE_BYTES, pool, NULL));
    book_alloc_in_pool(MEMORY_ASYNC, own, PIECE_BYTES, bits(pool));
    DRIVER(cuMemPoolExportPointer, (&data, own));
    DRIVER(cuMemPoolImportPointer, (&address, imported, &data));
    book_alloc_of(MEMORY_IMPORTED, address, PIECE_BYTES, bits(imported));
    give_back(MEMORY_IMPORTED, address);
    give_back(MEMORY_ASYNC, own);
    destroy(imported);
    destroy(pool);
}

/* --- other APIs: the import is counted once, however it is mapped --- */

static CUexternalMemory import_external(uint64_t bytes)
{
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC descriptor = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
        .handle = {.fd = family_external_memory(bytes)},
        .size = bytes};
    CUexternalMemory memory = NULL;
    DRIVER(cuImportExternalMemory, (&memory, &descriptor));
    book_alloc(MEMORY_EXTERNAL, bits(memory), bytes);
    return memory;
}

static void destroy_external(CUexternalMemory memory, uint64_t bytes)
{
    DRIVER(cuDestroyExternalMemory, (memory));
    book_free(MEMORY_EXTERNAL, bits(memory), bytes);
}

void driver_external(void)
{
    const CUexternalMemory memory = import_external(8 * MIB);
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC part = {.offset = 2 * MIB, .size = 3 * MIB};
    CUdeviceptr address = 0;
    DRIVER(cuExternalMemoryGetMappedBuffer, (&address, memory, &part));
    book_alloc_of(MEMORY_MAPPED, address, 3 * MIB, bits(memory));
    DRIVER(cuMemFree_v2, (address));
    book_free(MEMORY_MAPPED, address, 3 * MIB);
    destroy_external(memory, 8 * MIB);
}

void driver_external_mipmap(void)
{
    const CUexternalMemory memory = import_external(8 * MIB);
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC part = {
        .arrayDesc = {.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1},
        .numLevels = 2};
    const uint64_t bytes = (64 * 64 + 32 * 32) * 4;
    CUmipmappedArray mipmap = NULL;
    DRIVER(cuExternalMemoryGetMappedMipmappedArray, (&mipmap, memory, &part));
    book_alloc_of(MEMORY_MAPPED_ARRAY, bits(mipmap), bytes, bits(memory));
    DRIVER(cuMipmappedArrayDestroy, (mipmap));
    book_free(MEMORY_MAPPED_ARRAY, bits(mipmap), bytes);
    destroy_external(memory, 8 * MIB);
}

/* No window exists whose resources could be registered. A failed mapping leaves nothing behind. */
void driver_graphics(void)
{
    CUgraphicsResource resource = NULL;
    family_needs_simulator("there is no window");
    DRIVER_FAILS(CUDA_ERROR_INVALID_HANDLE, cuGraphicsMapResources, (1, &resource, NULL));
    DRIVER_FAILS(CUDA_ERROR_INVALID_HANDLE, cuGraphicsUnmapResources, (1, &resource, NULL));
}
