/* SPDX-License-Identifier: MIT */
/* link: cudart13 cuda */
/*
 * Makes one allocation of each family, in one thread, and keeps its own books. At the end it
 * prints, as JSON, the figures that a report must give for the accounts device, managed and host.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpumemtrace/cuda/abi.h"

#define MIB ((size_t)1 << 20)

struct account {
    const char *name;
    uint64_t live_bytes, peak_bytes, allocations, frees, implicit_frees;
};

static struct account device = {.name = "driver"};
static struct account managed = {.name = "managed"};
static struct account host = {.name = "host"};

static void took(struct account *account, uint64_t bytes)
{
    account->allocations++;
    account->live_bytes += bytes;
    if (account->live_bytes > account->peak_bytes)
        account->peak_bytes = account->live_bytes;
}

static void gave(struct account *account, uint64_t bytes)
{
    account->frees++;
    account->live_bytes -= bytes;
}

static void must(int status, const char *what)
{
    if (status == 0)
        return;
    fprintf(stderr, "families: %s: error %d\n", what, status);
    exit(9);
}

/* --- runtime --- */

static void linear_and_pitched(void)
{
    void *linear = NULL, *pitched = NULL, *nothing = &nothing;
    size_t pitch = 0;
    must((int)cudaMalloc(&linear, 3 * MIB), "cudaMalloc");
    took(&device, 3 * MIB);
    must((int)cudaMalloc(&nothing, 0), "cudaMalloc of nothing");
    must((int)cudaFree(NULL), "cudaFree of nothing");
    must((int)cudaMallocPitch(&pitched, &pitch, 1000, 10), "cudaMallocPitch");
    took(&device, pitch * 10);
    must((int)cudaFree(linear), "cudaFree");
    gave(&device, 3 * MIB);
}

static void managed_and_pinned(void)
{
    void *shared = NULL, *first = NULL, *second = NULL;
    must((int)cudaMallocManaged(&shared, 6 * MIB, cudaMemAttachGlobal), "cudaMallocManaged");
    took(&managed, 6 * MIB);
    must((int)cudaFree(shared), "cudaFree of managed memory");
    gave(&managed, 6 * MIB);
    must((int)cudaMallocHost(&first, 1 * MIB), "cudaMallocHost");
    took(&host, 1 * MIB);
    must((int)cudaHostAlloc(&second, 2 * MIB, cudaHostAllocDefault), "cudaHostAlloc");
    took(&host, 2 * MIB);
    must((int)cudaFreeHost(first), "cudaFreeHost");
    gave(&host, 1 * MIB);
}

static void stream_ordered(void)
{
    void *block = NULL;
    must((int)cudaMallocAsync(&block, 5 * MIB, NULL), "cudaMallocAsync");
    took(&device, 5 * MIB);
    must((int)cudaFreeAsync(block, NULL), "cudaFreeAsync");
    gave(&device, 5 * MIB);
}

/* --- driver --- */

static void own_pool(void)
{
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemoryPool pool = NULL;
    CUdeviceptr block = 0;
    must((int)cuMemPoolCreate(&pool, &properties), "cuMemPoolCreate");
    must((int)cuMemAllocFromPoolAsync(&block, 9 * MIB, pool, NULL), "cuMemAllocFromPoolAsync");
    took(&device, 9 * MIB);
    must((int)cuMemFreeAsync(block, NULL), "cuMemFreeAsync");
    gave(&device, 9 * MIB);
    must((int)cuMemPoolDestroy(pool), "cuMemPoolDestroy");
}

/* Virtual memory lives until its handle is released and the memory is unmapped. It counts as one
   allocation and one free. */
static void virtual_memory(void)
{
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr address = 0;
    must((int)cuMemCreate(&handle, 4 * MIB, &properties, 0), "cuMemCreate");
    took(&device, 4 * MIB);
    must((int)cuMemAddressReserve(&address, 4 * MIB, 0, 0, 0), "cuMemAddressReserve");
    must((int)cuMemMap(address, 4 * MIB, 0, handle, 0), "cuMemMap");
    must((int)cuMemRelease(handle), "cuMemRelease");
    must((int)cuMemUnmap(address, 4 * MIB), "cuMemUnmap");
    gave(&device, 4 * MIB);
    must((int)cuMemAddressFree(address, 4 * MIB), "cuMemAddressFree");
}

/* Destroying a context frees the memory of this context only. */
static void own_context(void)
{
    CUcontext context = NULL;
    CUdeviceptr block = 0;
    void *pinned = NULL;
    must((int)cuCtxCreate_v2(&context, 0, 0), "cuCtxCreate");
    must((int)cuMemAlloc_v2(&block, 7 * MIB), "cuMemAlloc");
    took(&device, 7 * MIB);
    must((int)cuMemHostAlloc(&pinned, 8 * MIB, 0), "cuMemHostAlloc");
    took(&host, 8 * MIB);
    must((int)cuCtxDestroy_v2(context), "cuCtxDestroy");
    device.live_bytes -= 7 * MIB;
    device.implicit_frees++;
    host.live_bytes -= 8 * MIB;
    host.implicit_frees++;
}

static void print(const struct account *account, const char *end)
{
    printf("\"%s\": {\"peak_bytes\": %llu, \"live_at_exit_bytes\": %llu, \"allocations\": %llu, "
           "\"frees\": %llu, \"implicit_frees\": %llu, \"failed\": 0}%s",
           account->name, (unsigned long long)account->peak_bytes,
           (unsigned long long)account->live_bytes, (unsigned long long)account->allocations,
           (unsigned long long)account->frees, (unsigned long long)account->implicit_frees, end);
}

int main(void)
{
    linear_and_pitched();
    managed_and_pinned();
    stream_ordered();
    own_pool();
    virtual_memory();
    own_context();
    printf("{");
    print(&device, ", ");
    print(&managed, ", ");
    print(&host, "}\n");
    return 0;
}
