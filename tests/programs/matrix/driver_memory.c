/* SPDX-License-Identifier: MIT */
/* Families of the driver: linear, pitched, managed, pinned and stream-ordered memory. */
#include "matrix.h"

#define TOO_MUCH_BYTES ((size_t)1 << 60)

void driver_linear(void)
{
    CUdeviceptr first = 0, second = 0;
    DRIVER(cuMemAlloc_v2, (&first, 3 * MIB));
    book_alloc(MEMORY_LINEAR, first, 3 * MIB);
    DRIVER(cuMemAlloc_v2, (&second, 1000));
    book_alloc(MEMORY_LINEAR, second, 1000);
    DRIVER(cuMemFree_v2, (first));
    book_free(MEMORY_LINEAR, first, 3 * MIB);
    DRIVER(cuMemFree_v2, (second));
    book_free(MEMORY_LINEAR, second, 1000);
}

void driver_refused(void)
{
    CUdeviceptr address = 77;
    DRIVER_FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2, (&address, TOO_MUCH_BYTES));
    book_failed(MEMORY_LINEAR, TOO_MUCH_BYTES);
    family_needs(address == 77, "the address of a failed allocation was written");
    DRIVER_FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2, (&address, 0));
    book_failed(MEMORY_LINEAR, 0);
    DRIVER(cuMemFree_v2, (0));
    DRIVER(cuMemFreeHost, (NULL));
}

void driver_pitched(void)
{
    CUdeviceptr address = 0;
    size_t pitch_bytes = 0;
    DRIVER(cuMemAllocPitch_v2, (&address, &pitch_bytes, 1001, 10, 16));
    family_needs(pitch_bytes >= 1001, "the pitch is less than the width");
    book_alloc(MEMORY_PITCHED, address, pitch_bytes * 10);
    DRIVER(cuMemFree_v2, (address));
    book_free(MEMORY_PITCHED, address, pitch_bytes * 10);
}

void driver_managed(void)
{
    CUdeviceptr address = 0;
    DRIVER(cuMemAllocManaged, (&address, 6 * MIB, CU_MEM_ATTACH_GLOBAL));
    book_alloc(MEMORY_MANAGED, address, 6 * MIB);
    DRIVER(cuMemFree_v2, (address));
    book_free(MEMORY_MANAGED, address, 6 * MIB);
}

void driver_pinned(void)
{
    void *first = NULL, *second = NULL;
    DRIVER(cuMemAllocHost_v2, (&first, 1 * MIB));
    book_alloc(MEMORY_PINNED, bits(first), 1 * MIB);
    DRIVER(cuMemHostAlloc, (&second, 2 * MIB, CU_MEMHOSTALLOC_PORTABLE));
    book_alloc(MEMORY_PINNED, bits(second), 2 * MIB);
    DRIVER(cuMemFreeHost, (first));
    book_free(MEMORY_PINNED, bits(first), 1 * MIB);
    DRIVER(cuMemFreeHost, (second));
    book_free(MEMORY_PINNED, bits(second), 2 * MIB);
}

void driver_stream_ordered(void)
{
    CUmemoryPool pool = NULL;
    CUdeviceptr address = 0;
    DRIVER(cuDeviceGetDefaultMemPool, (&pool, 0));
    DRIVER(cuMemAllocAsync, (&address, 5 * MIB, NULL));
    book_alloc_of(MEMORY_ASYNC, address, 5 * MIB, bits(pool));
    DRIVER(cuMemFreeAsync, (address, NULL));
    book_free(MEMORY_ASYNC, address, 5 * MIB);
    DRIVER(cuStreamSynchronize, (NULL));
}

void driver_kept(void)
{
    CUdeviceptr address = 0;
    void *pinned = NULL;
    DRIVER(cuMemAlloc_v2, (&address, 11 * MIB));
    book_alloc(MEMORY_LINEAR, address, 11 * MIB);
    DRIVER(cuMemHostAlloc, (&pinned, 12 * MIB, 0));
    book_alloc(MEMORY_PINNED, bits(pinned), 12 * MIB);
}
