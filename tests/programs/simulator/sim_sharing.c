/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests memory that processes share on the simulated driver: IPC handles, handles of physical
 * memory, memory pools and their pieces. Each part forks a process that imports the memory. The
 * numbers of sections are those of the CUDA Driver API.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_device.h"

#define POSIX CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define LAZY CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

static int pipe_ends[2];
static pid_t importer, exporter;

/* Forks the importer before CUDA is initialized, because CUDA does not survive a fork. */
static void begin(void (*import)(void))
{
    exporter = getpid();
    EXPECT(pipe(pipe_ends), 0);
    importer = fork();
    if (!importer) {
        close(pipe_ends[1]); /* gives EOF when the exporter has ended */
        begin_cuda();
        import();
        exit(0);
    }
    CHECK(importer > 0);
    begin_cuda();
}

static void send(const void *data, size_t size_bytes)
{
    EXPECT(write(pipe_ends[1], data, size_bytes), size_bytes);
}

static void receive(void *data, size_t size_bytes)
{
    EXPECT(read(pipe_ends[0], data, size_bytes), size_bytes);
}

/* Opens the other process's descriptor by its path in /proc. */
static int receive_descriptor(void)
{
    char path[64];
    int number;
    receive(&number, sizeof number);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)exporter, number);
    const int own = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(own >= 0);
    return own;
}

static void finish(void)
{
    int status = -1;
    EXPECT(waitpid(importer, &status, 0), importer);
    EXPECT(status, 0);
}

/* --- IPC handles --- */

static void open_twice_and_close_twice(void)
{
    CUipcMemHandle handle, wrong = {{0}};
    CUdeviceptr first = 0, second = 0, base = 0, other = 7;
    size_t size_bytes = 0;
    CUcontext another;
    receive(&handle, sizeof handle);
    const size_t before = free_bytes();
    EXPECT(cuIpcOpenMemHandle_v2(&other, handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuIpcOpenMemHandle_v2(&other, wrong, LAZY), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(other, 7);
    EXPECT(cuIpcOpenMemHandle_v2(&first, handle, LAZY), 0);
    EXPECT(cuIpcOpenMemHandle(&second, handle, LAZY), 0);
    EXPECT(second, first);
    EXPECT(cuMemGetAddressRange_v2(&base, &size_bytes, first + 5), 0);
    EXPECT(size_bytes, 10 * MIB);
    EXPECT(free_bytes(), before);
    EXPECT(cuMemsetD8_v2(first, 1, 10 * MIB), 0);
    EXPECT(cuMemFree_v2(first), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuCtxCreate_v2(&another, 0, 0), 0);
    EXPECT(cuIpcOpenMemHandle_v2(&other, handle, LAZY), CUDA_ERROR_ALREADY_MAPPED);
    EXPECT(cuCtxSetCurrent(context), 0);
    EXPECT(cuIpcCloseMemHandle(first), 0);
    EXPECT(cuMemsetD8_v2(first, 1, 1), 0); /* opened twice */
    EXPECT(cuIpcCloseMemHandle(first), 0);
    EXPECT(cuIpcCloseMemHandle(first), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD8_v2(first, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

/* 6.13 Memory Management, cuIpcGetMemHandle, cuIpcOpenMemHandle, cuIpcCloseMemHandle. */
PART(an_ipc_handle_is_opened_by_another_process)
{
    CUipcMemHandle handle, again;
    CUdeviceptr block, own = 7;
    begin(open_twice_and_close_twice);
    EXPECT(cuMemAlloc_v2(&block, 10 * MIB), 0);
    EXPECT(cuIpcGetMemHandle(&handle, block + 512), CUDA_ERROR_INVALID_VALUE); /* not the base */
    EXPECT(cuIpcGetMemHandle(NULL, block), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuIpcGetMemHandle(&handle, block), 0);
    EXPECT(cuIpcGetMemHandle(&again, block), 0);
    EXPECT(memcmp(&handle, &again, sizeof handle), 0);
    EXPECT(cuIpcOpenMemHandle_v2(&own, handle, LAZY), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(own, 7);
    send(&handle, sizeof handle);
    finish();
}

static void do_nothing(void)
{
}

/* 6.13, cuIpcGetMemHandle: the memory must be of cuMemAlloc, and new memory at an old address
   has a new handle. cuIpcOpenMemHandle: CUDA_ERROR_MAP_FAILED. */
PART(a_handle_is_of_one_allocation_of_a_living_process)
{
    CUipcMemHandle handle, again;
    CUdeviceptr block, managed;
    begin(do_nothing);
    EXPECT(cuMemAllocManaged(&managed, MIB, CU_MEM_ATTACH_GLOBAL), 0);
    EXPECT(cuIpcGetMemHandle(&handle, managed), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAlloc_v2(&block, MIB), 0);
    EXPECT(cuIpcGetMemHandle(&handle, block), 0);
    EXPECT(cuMemFree_v2(block), 0);
    EXPECT(cuMemAlloc_v2(&managed, MIB), 0);
    EXPECT(managed, block);
    EXPECT(cuIpcGetMemHandle(&again, block), 0);
    CHECK(memcmp(&handle, &again, sizeof handle));
    finish();
    memcpy(handle.reserved + 12, &importer, sizeof importer); /* a process that has ended */
    EXPECT(cuIpcOpenMemHandle_v2(&managed, handle, LAZY), CUDA_ERROR_MAP_FAILED);
}

static void end_the_context_while_it_is_open(void)
{
    CUipcMemHandle handle;
    CUdeviceptr block;
    receive(&handle, sizeof handle);
    EXPECT(cuIpcOpenMemHandle_v2(&block, handle, LAZY), 0);
    EXPECT(cuCtxDestroy_v2(context), 0);
    begin_cuda();
    EXPECT(cuIpcOpenMemHandle_v2(&block, handle, LAZY), 0);
    EXPECT(cuIpcCloseMemHandle(block), 0);
}

/* 6.8 Context Management, cuCtxDestroy: memory opened in a context is closed with it. */
PART(what_was_opened_ends_with_its_context)
{
    CUipcMemHandle handle;
    CUdeviceptr block;
    begin(end_the_context_while_it_is_open);
    EXPECT(cuMemAlloc_v2(&block, MIB), 0);
    EXPECT(cuIpcGetMemHandle(&handle, block), 0);
    send(&handle, sizeof handle);
    finish();
}

/* --- physical memory --- */

static CUmemAllocationProp shareable(void)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = POSIX,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
}

static void map_what_is_imported(void)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp told;
    CUdeviceptr address;
    const int descriptor = receive_descriptor();
    const size_t before = free_bytes();
    EXPECT(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)descriptor, POSIX), 0);
    EXPECT(cuMemGetAllocationPropertiesFromHandle(&told, handle), 0);
    EXPECT(told.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    EXPECT(told.location.id, 0);
    EXPECT(cuMemAddressReserve(&address, 2 * GRANULE, 0, 0, 0), 0);
    EXPECT(cuMemMap(address, 2 * GRANULE, 0, handle, 0), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMemUnmap(address, 2 * GRANULE), 0);
    EXPECT(cuMemRelease(handle), 0);
    EXPECT(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    EXPECT(free_bytes(), before);
}

/* 6.14 Virtual Memory Management, cuMemExportToShareableHandle, cuMemImportFromShareableHandle. */
PART(physical_memory_is_imported_by_its_descriptor)
{
    CUmemAllocationProp properties = shareable();
    CUmemGenericAllocationHandle handle;
    int descriptor = -1;
    begin(map_what_is_imported);
    EXPECT(cuMemCreate(&handle, 2 * GRANULE, &properties, 0), 0);
    EXPECT(cuMemExportToShareableHandle(&descriptor, handle, POSIX, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(descriptor, -1);
    EXPECT(cuMemExportToShareableHandle(&descriptor, handle, POSIX, 0), 0);
    send(&descriptor, sizeof descriptor);
    finish();
    EXPECT(close(descriptor), 0);
    EXPECT(cuMemRelease(handle), 0);
}

/* 6.14, cuMemImportFromShareableHandle: the handle may differ, the memory is the same. */
PART(what_a_process_imports_from_itself_is_the_same_memory)
{
    CUmemAllocationProp properties = shareable();
    CUmemGenericAllocationHandle handle, imported = 0;
    int descriptor, no_memory;
    begin(do_nothing);
    const size_t before = free_bytes();
    EXPECT(cuMemCreate(&handle, GRANULE, &properties, 0), 0);
    EXPECT(cuMemExportToShareableHandle(&descriptor, handle, POSIX, 0), 0);
    EXPECT(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)descriptor, POSIX), 0);
    CHECK(imported != handle);
    EXPECT(free_bytes(), before - GRANULE);
    EXPECT(cuMemRelease(handle), 0);
    EXPECT(free_bytes(), before - GRANULE); /* the import keeps it alive */
    EXPECT(cuMemRelease(imported), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMemImportFromShareableHandle(&imported, (void *)-1, POSIX), CUDA_ERROR_INVALID_VALUE);
    no_memory = open("/dev/null", O_RDONLY);
    EXPECT(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)no_memory, POSIX),
           CUDA_ERROR_INVALID_VALUE);
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    EXPECT(cuMemCreate(&handle, GRANULE, &properties, 0), 0);
    EXPECT(cuMemExportToShareableHandle(&descriptor, handle, POSIX, 0), CUDA_ERROR_INVALID_VALUE);
    finish();
}

/* --- pools --- */

static void import_a_pool_and_a_piece(void)
{
    CUmemPoolPtrExportData data, others;
    CUmemoryPool pool, own;
    CUdeviceptr piece, other;
    const int descriptor = receive_descriptor();
    receive(&data, sizeof data);
    receive(&others, sizeof others);
    const size_t before = free_bytes();
    EXPECT(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)descriptor, POSIX, 0), 0);
    EXPECT(cuMemAllocFromPoolAsync(&other, MIB, pool, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemPoolImportPointer(&piece, pool, &data), 0);
    EXPECT(cuMemsetD8_v2(piece, 0, 3 * MIB), 0);
    EXPECT(cuMemsetD8_v2(piece, 0, 3 * MIB + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(free_bytes(), before);
    EXPECT(cuDeviceGetDefaultMemPool(&own, 0), 0);
    EXPECT(cuMemPoolImportPointer(&other, own, &data), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemPoolImportPointer(&other, pool, &others), CUDA_ERROR_INVALID_VALUE);
    memset(&others, 0, sizeof others);
    EXPECT(cuMemPoolImportPointer(&other, pool, &others), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFreeAsync(piece, NULL), 0);
    EXPECT(cuMemFreeAsync(piece, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemPoolImportPointer(&other, pool, &data), 0);
    EXPECT(other, piece); /* its addresses were released */
    EXPECT(cuMemFree_v2(other), 0);
    EXPECT(cuMemPoolDestroy(pool), 0);
}

/* 6.15 Stream Ordered Memory Allocator, cuMemPoolExportToShareableHandle, cuMemPoolExportPointer,
 * cuMemPoolImportFromShareableHandle, cuMemPoolImportPointer. */
PART(a_pool_s_piece_is_imported_by_another_process)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .handleTypes = POSIX,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemPoolPtrExportData data;
    CUmemoryPool pool, plain, second;
    CUdeviceptr piece, other;
    int descriptor = -1;
    begin(import_a_pool_and_a_piece);
    EXPECT(cuMemPoolCreate(&pool, &properties), 0);
    EXPECT(cuMemAllocFromPoolAsync(&piece, 3 * MIB, pool, NULL), 0);
    EXPECT(cuDeviceGetDefaultMemPool(&plain, 0), 0);
    EXPECT(cuMemPoolExportToShareableHandle(&descriptor, plain, POSIX, 0),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAllocAsync(&other, MIB, NULL), 0);
    EXPECT(cuMemPoolExportPointer(&data, other), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemPoolExportToShareableHandle(&descriptor, pool, POSIX, 0), 0);
    EXPECT(cuMemPoolExportPointer(&data, piece), 0);
    send(&descriptor, sizeof descriptor);
    send(&data, sizeof data);
    EXPECT(cuMemPoolCreate(&second, &properties), 0);
    EXPECT(cuMemAllocFromPoolAsync(&other, MIB, second, NULL), 0);
    EXPECT(cuMemPoolExportPointer(&data, other), 0);
    send(&data, sizeof data);
    finish();
}

SIM_MAIN()
