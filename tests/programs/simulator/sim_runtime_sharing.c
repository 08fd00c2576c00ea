/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Tests memory that the simulated runtime shares with other processes and APIs, and pools of the
 * host. The argument names a case. Exits 0, or prints a line with the failed check. The numbers of
 * sections are those of the CUDA Runtime API.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_runtime.h"

#ifndef RUNTIME
#define RUNTIME 13
#endif

static int pipe_ends[2];

/* Forks the importer before CUDA is initialized, because CUDA does not survive a fork. */
static pid_t begin(void (*import)(void))
{
    CHECK(pipe(pipe_ends) == 0);
    const pid_t importer = fork();
    if (importer)
        return importer;
    close(pipe_ends[1]); /* gives EOF when the exporter has ended */
    import();
    exit(0);
}

static void end(pid_t importer)
{
    int status = -1;
    CHECK(waitpid(importer, &status, 0) == importer);
    CHECK(status == 0);
}

static void open_and_close(void)
{
    cudaIpcMemHandle_t handle;
    void *block, *again;
    CHECK(read(pipe_ends[0], &handle, sizeof handle) == sizeof handle);
    const size_t before_bytes = free_bytes_now();
    SUCCEEDS(cudaIpcOpenMemHandle(&block, handle, cudaIpcMemLazyEnablePeerAccess));
    SUCCEEDS(cudaIpcOpenMemHandle(&again, handle, cudaIpcMemLazyEnablePeerAccess));
    CHECK(again == block && free_bytes_now() == before_bytes);
    SUCCEEDS(cudaIpcCloseMemHandle(block));
    SUCCEEDS(cudaIpcCloseMemHandle(block));
    GIVES(cudaIpcCloseMemHandle(block), cudaErrorInvalidValue);
}

/* 6.1 Device Management, cudaIpcGetMemHandle, cudaIpcOpenMemHandle, cudaIpcCloseMemHandle. */
CASE(a_handle_is_opened_elsewhere_and_not_here)
{
    cudaIpcMemHandle_t handle;
    void *block, *own;
    const pid_t importer = begin(open_and_close);
    SUCCEEDS(cudaMalloc(&block, MIB));
    SUCCEEDS(cudaIpcGetMemHandle(&handle, block));
    GIVES(cudaIpcOpenMemHandle(&own, handle, cudaIpcMemLazyEnablePeerAccess),
          cudaErrorDeviceUninitialized);
    GIVES(cudaIpcGetMemHandle(NULL, block), cudaErrorInvalidValue);
    CHECK(write(pipe_ends[1], &handle, sizeof handle) == sizeof handle);
    end(importer);
}

/* 6.12 Stream Ordered Memory Allocator, cudaMemPoolExportToShareableHandle,
   cudaMemPoolExportPointer and the corresponding imports, all in the same process. */
CASE(a_pool_s_piece_is_imported_by_its_name)
{
    const struct cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned,
                                                .handleTypes = cudaMemHandleTypePosixFileDescriptor,
                                                .location = {cudaMemLocationTypeDevice, 0}};
    struct cudaMemPoolPtrExportData data;
    cudaMemPool_t pool, imported;
    void *piece, *there;
    int descriptor = -1;
    SUCCEEDS(cudaMemPoolCreate(&pool, &properties));
    SUCCEEDS(cudaMallocFromPoolAsync(&piece, MIB, pool, 0));
    SUCCEEDS(cudaMemPoolExportToShareableHandle(&descriptor, pool,
                                                cudaMemHandleTypePosixFileDescriptor, 0));
    SUCCEEDS(cudaMemPoolExportPointer(&data, piece));
    SUCCEEDS(cudaMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)descriptor,
                                                  cudaMemHandleTypePosixFileDescriptor, 0));
    GIVES(cudaMallocFromPoolAsync(&there, MIB, imported, 0), cudaErrorInvalidValue);
    SUCCEEDS(cudaMemPoolImportPointer(&there, imported, &data));
    CHECK(there != piece);
    SUCCEEDS(cudaFreeAsync(there, 0));
    SUCCEEDS(cudaFree(piece));
}

/* 6.6 External Resource Interoperability. */
CASE(external_memory_is_mapped_twice_and_freed)
{
    struct cudaExternalMemoryHandleDesc handle = {.type = cudaExternalMemoryHandleTypeOpaqueFd,
                                                  .size = MIB};
    const struct cudaExternalMemoryBufferDesc buffer = {.offset = 0, .size = MIB};
    const struct cudaExternalMemoryMipmappedArrayDesc levels = {
        .formatDesc = {32, 0, 0, 0, cudaChannelFormatKindFloat},
        .extent = {128, 128, 0},
        .numLevels = 2,
    };
    cudaMipmappedArray_t array;
    cudaExternalMemory_t memory;
    void *mapped;
    const size_t before_bytes = free_bytes_now();
    handle.handle.fd = memfd_create("memory of another API", MFD_CLOEXEC);
    CHECK(ftruncate(handle.handle.fd, MIB) == 0);
    SUCCEEDS(cudaImportExternalMemory(&memory, &handle));
    SUCCEEDS(cudaExternalMemoryGetMappedBuffer(&mapped, memory, &buffer));
    SUCCEEDS(cudaExternalMemoryGetMappedMipmappedArray(&array, memory, &levels));
    CHECK(free_bytes_now() == before_bytes);
    SUCCEEDS(cudaDestroyExternalMemory(memory));
    GIVES(cudaDestroyExternalMemory(memory), cudaErrorInvalidResourceHandle);
    SUCCEEDS(cudaFree(mapped));
    GIVES(cudaFree(mapped), cudaErrorInvalidValue);
    SUCCEEDS(cudaFreeMipmappedArray(array));
    GIVES(cudaImportExternalMemory(&memory, NULL), cudaErrorInvalidValue);
}

/* 6.10 Memory Management, cudaArrayGetSparseProperties, cudaArrayGetMemoryRequirements. */
CASE(arrays_that_are_mapped_into_say_what_they_need)
{
    const struct cudaChannelFormatDesc bytes = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    struct cudaArraySparseProperties properties;
    struct cudaArrayMemoryRequirements requirements;
    cudaArray_t sparse, deferred;
    const size_t before_bytes = free_bytes_now();
    SUCCEEDS(cudaMallocArray(&sparse, &bytes, 512, 512, cudaArraySparse));
    SUCCEEDS(cudaMallocArray(&deferred, &bytes, 512, 512, cudaArrayDeferredMapping));
    CHECK(free_bytes_now() == before_bytes);
    SUCCEEDS(cudaArrayGetSparseProperties(&properties, sparse));
    CHECK(properties.tileExtent.width == 256 && properties.tileExtent.height == 256);
    SUCCEEDS(cudaArrayGetMemoryRequirements(&requirements, deferred, 0));
    CHECK(requirements.size == 512 * 512);
    GIVES(cudaArrayGetMemoryRequirements(&requirements, sparse, 0), cudaErrorInvalidValue);
    GIVES(cudaArrayGetMemoryRequirements(&requirements, deferred, 9), cudaErrorInvalidDevice);
    SUCCEEDS(cudaFreeArray(sparse));
}

/* 6.25 Graphics Interoperability: nothing can be registered. */
CASE(no_graphics_resource_is_known)
{
    cudaGraphicsResource_t resource = NULL;
    GIVES(cudaGraphicsMapResources(1, &resource, 0), cudaErrorInvalidResourceHandle);
    GIVES(cudaGraphicsMapResources(-1, &resource, 0), cudaErrorInvalidValue);
    GIVES(cudaGraphicsUnmapResources(1, &resource, 0), cudaErrorInvalidResourceHandle);
    GIVES(cudaGraphicsUnregisterResource(resource), cudaErrorInvalidResourceHandle);
}

#if RUNTIME == 13
/* 6.12, cudaMemGetDefaultMemPool, cudaMemSetMemPool, since CUDA 13. */
CASE(the_host_has_a_pool_of_its_own)
{
    const enum cudaMemAllocationType pinned = cudaMemAllocationTypePinned;
    const struct cudaMemPoolProps properties = {.allocType = pinned,
                                                .location = {cudaMemLocationTypeHost, 0}};
    struct cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    cudaMemPool_t first, own, current;
    void *piece;
    SUCCEEDS(cudaMemGetDefaultMemPool(&first, &host, pinned));
    SUCCEEDS(cudaMemPoolCreate(&own, &properties));
    SUCCEEDS(cudaMemSetMemPool(&host, pinned, own));
    SUCCEEDS(cudaMemGetMemPool(&current, &host, pinned));
    CHECK(current == own && own != first);
    const size_t before_bytes = free_bytes_now();
    SUCCEEDS(cudaMallocFromPoolAsync(&piece, MIB, own, 0));
    CHECK(free_bytes_now() == before_bytes);
    SUCCEEDS(cudaFreeAsync(piece, 0));
}
#endif

SIM_MAIN()
