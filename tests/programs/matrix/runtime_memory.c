/* SPDX-License-Identifier: MIT */
/* Families of the runtime: linear, pitched, managed, pinned and stream-ordered memory. */
#include "matrix.h"

#define TOO_MUCH_BYTES ((size_t)1 << 60)

void runtime_linear(void)
{
    void *first = NULL, *second = NULL;
    RUNTIME(cudaMalloc, (&first, 3 * MIB));
    book_alloc(MEMORY_LINEAR, bits(first), 3 * MIB);
    RUNTIME(cudaMalloc, (&second, 1000));
    book_alloc(MEMORY_LINEAR, bits(second), 1000);
    RUNTIME(cudaFree, (first));
    book_free(MEMORY_LINEAR, bits(first), 3 * MIB);
    RUNTIME(cudaFree, (second));
    book_free(MEMORY_LINEAR, bits(second), 1000);
}

void runtime_refused(void)
{
    void *address = &address;
    RUNTIME_FAILS(cudaErrorMemoryAllocation, cudaMalloc, (&address, TOO_MUCH_BYTES));
    book_failed(MEMORY_LINEAR, TOO_MUCH_BYTES);
    RUNTIME_FAILS(cudaErrorMemoryAllocation, cudaGetLastError, ());
    RUNTIME(cudaMalloc, (&address, 0));
    RUNTIME(cudaFree, (NULL));
    RUNTIME(cudaFreeHost, (NULL));
}

void runtime_pitched(void)
{
    void *address = NULL;
    size_t pitch_bytes = 0;
    RUNTIME(cudaMallocPitch, (&address, &pitch_bytes, 1001, 10));
    family_needs(pitch_bytes >= 1001, "the pitch is less than the width");
    book_alloc(MEMORY_PITCHED, bits(address), pitch_bytes * 10);
    RUNTIME(cudaFree, (address));
    book_free(MEMORY_PITCHED, bits(address), pitch_bytes * 10);
}

void runtime_managed(void)
{
    void *address = NULL;
    RUNTIME(cudaMallocManaged, (&address, 6 * MIB, cudaMemAttachGlobal));
    book_alloc(MEMORY_MANAGED, bits(address), 6 * MIB);
    RUNTIME(cudaFree, (address));
    book_free(MEMORY_MANAGED, bits(address), 6 * MIB);
}

void runtime_pinned(void)
{
    void *first = NULL, *second = NULL;
    RUNTIME(cudaMallocHost, (&first, 1 * MIB));
    book_alloc(MEMORY_PINNED, bits(first), 1 * MIB);
    RUNTIME(cudaHostAlloc, (&second, 2 * MIB, cudaHostAllocPortable));
    book_alloc(MEMORY_PINNED, bits(second), 2 * MIB);
    RUNTIME(cudaFreeHost, (first));
    book_free(MEMORY_PINNED, bits(first), 1 * MIB);
    RUNTIME(cudaFreeHost, (second));
    book_free(MEMORY_PINNED, bits(second), 2 * MIB);
}

void runtime_stream_ordered(void)
{
    cudaMemPool_t pool = NULL;
    void *address = NULL;
    RUNTIME(cudaDeviceGetDefaultMemPool, (&pool, 0));
    RUNTIME(cudaMallocAsync, (&address, 5 * MIB, NULL));
    book_alloc_of(MEMORY_ASYNC, bits(address), 5 * MIB, bits(pool));
    RUNTIME(cudaFreeAsync, (address, NULL));
    book_free(MEMORY_ASYNC, bits(address), 5 * MIB);
    RUNTIME(cudaStreamSynchronize, (NULL));
}

void runtime_kept(void)
{
    void *address = NULL, *pinned = NULL;
    RUNTIME(cudaMalloc, (&address, 11 * MIB));
    book_alloc(MEMORY_LINEAR, bits(address), 11 * MIB);
    RUNTIME(cudaHostAlloc, (&pinned, 12 * MIB, cudaHostAllocDefault));
    book_alloc(MEMORY_PINNED, bits(pinned), 12 * MIB);
}
