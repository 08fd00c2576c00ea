/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Makes a call that fails for the cause that the program's argument names.
 * tests/oom/test_oom_runs.py has the expected answers. With GPUMEMTRACE_SIM_SHARED, a second
 * process, the neighbour, allocates memory of the same card on command.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpumemtrace/cuda/abi.h"

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static int to_neighbour[2], from_neighbour[2];

static int start(void)
{
    CUcontext context;
    return cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context);
}

static CUresult take(size_t bytes)
{
    CUdeviceptr address;
    return cuMemAlloc_v2(&address, bytes);
}

/* --- the other process --- */

static int live_next_door(void)
{
    size_t bytes;
    char answer;
    if (read(to_neighbour[0], &bytes, sizeof bytes) != sizeof bytes)
        return 0; /* the parent has ended */
    answer = (char)(start() || take(bytes));
    (void)!write(from_neighbour[1], &answer, 1);
    return (int)read(to_neighbour[0], &bytes, sizeof bytes); /* waits until the parent ends */
}

static int call_neighbour(size_t bytes)
{
    char answer = 1;
    return write(to_neighbour[1], &bytes, sizeof bytes) != sizeof bytes ||
           read(from_neighbour[0], &answer, 1) != 1 || answer;
}

/* --- ways to fail --- */

/* A size of 0 is a mistake in the call, not a lack of memory. */
static CUresult invalid(void)
{
    return take(0);
}

/* The host lacks this memory; the card is not involved. */
static CUresult pinned(void)
{
    void *address;
    return cuMemAllocHost_v2(&address, (size_t)1 << 60);
}

/* Tries to import memory of another process with an invalid handle. */
static CUresult imported(void)
{
    CUipcMemHandle handle;
    CUdeviceptr address;
    memset(&handle, 7, sizeof handle);
    return cuIpcOpenMemHandle_v2(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

/* Holds 6 GiB of managed memory, of which nobody knows whether it is on the card or on the host.
   A neighbour holds as much. */
static CUresult managed(void)
{
    CUdeviceptr address;
    return cuMemAllocManaged(&address, 6 * GIB, CU_MEM_ATTACH_GLOBAL) || take(9 * GIB) ||
                   call_neighbour(6 * GIB)
               ? CUDA_ERROR_UNKNOWN
               : take(2 * GIB);
}

/* 700 MiB are in use: the cause may be that this context has grown, or that the neighbour holds
   them. */
static CUresult small_neighbour(void)
{
    return take(14950 * MIB) || call_neighbour(400 * MIB) ? CUDA_ERROR_UNKNOWN : take(600 * MIB);
}

/* The neighbour holds more than any context grows by. */
static CUresult large_neighbour(void)
{
    return take(6 * GIB) || call_neighbour(8 * GIB) ? CUDA_ERROR_UNKNOWN : take(3 * GIB);
}

/* Fails while a capture is open, during which the card cannot be queried. */
static CUresult captured(void)
{
    CUstream stream;
    return take(GIB) || cuStreamCreate(&stream, 0) ||
                   cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) ||
                   call_neighbour(12 * GIB)
               ? CUDA_ERROR_UNKNOWN
               : take(3 * GIB);
}

/* Fills a pool of the driver that has a limit of 1 GiB, on a card with much more room. */
static CUresult full_pool(void)
{
    CUmemPoolProps properties;
    CUmemoryPool pool;
    CUdeviceptr address;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.maxSize = GIB;
    if (cuMemPoolCreate(&pool, &properties) ||
        cuMemAllocFromPoolAsync(&address, 900 * MIB, pool, NULL))
        return CUDA_ERROR_UNKNOWN;
    return cuMemAllocFromPoolAsync(&address, 900 * MIB, pool, NULL);
}

/* Allocates blocks of odd sizes and frees every second one. The driver's pool keeps these 5.8
   GiB in pieces. */
static CUresult odd_sizes(void)
{
    enum { BLOCKS = 7000 };
    static CUdeviceptr blocks[BLOCKS];
    cuuint64_t all = UINT64_MAX;
    CUmemoryPool pool;
    CUdeviceptr address;

    if (cuDeviceGetDefaultMemPool(&pool, 0) ||
        cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all))
        return CUDA_ERROR_UNKNOWN;
    for (size_t i = 0; i < BLOCKS; i++)
        if (cuMemAllocAsync(&blocks[i], (1 + i * 37 % 11) * 300000, NULL))
            return CUDA_ERROR_UNKNOWN;
    for (size_t i = 0; i < BLOCKS; i += 2)
        cuMemFreeAsync(blocks[i], NULL);
    return cuMemAllocAsync(&address, 5 * GIB, NULL);
}

static const struct {
    const char *name;
    CUresult (*fail)(void);
} ways[] = {
    {"invalid", invalid},
    {"pinned", pinned},
    {"imported", imported},
    {"managed", managed},
    {"small_neighbour", small_neighbour},
    {"large_neighbour", large_neighbour},
    {"captured", captured},
    {"full_pool", full_pool},
    {"odd_sizes", odd_sizes},
};

int main(int argc, char **argv)
{
    CUresult result = CUDA_SUCCESS;
    pid_t neighbour;
    if (argc != 2 || pipe(to_neighbour) || pipe(from_neighbour) || (neighbour = fork()) < 0)
        return 9;
    if (!neighbour) {
        close(to_neighbour[1]);
        return live_next_door();
    }
    if (start())
        return 8;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(ways[i].name, argv[1]))
            result = ways[i].fail();
    close(to_neighbour[1]);
    waitpid(neighbour, NULL, 0);
    printf("%d\n", (int)result);
    return result == CUDA_SUCCESS || result == CUDA_ERROR_UNKNOWN;
}
