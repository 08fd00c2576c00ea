/* SPDX-License-Identifier: MIT */
/* Families of the runtime: linear, pitched, managed, pinned, registered and stream-ordered memory.
 */
#include "matrix.h"

#include <stdlib.h>

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

void runtime_pitched_3d(void)
{
    struct cudaPitchedPtr pitched = {0};
    const struct cudaExtent extent = {.width = 1001, .height = 10, .depth = 3};
    RUNTIME(cudaMalloc3D, (&pitched, extent));
    book_alloc(MEMORY_PITCHED, bits(pitched.ptr), pitched.pitch * 10 * 3);
    RUNTIME(cudaFree, (pitched.ptr));
    book_free(MEMORY_PITCHED, bits(pitched.ptr), pitched.pitch * 10 * 3);
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

void runtime_registered(void)
{
    void *memory = aligned_alloc(64 * KIB, 3 * MIB);
    family_needs(memory != NULL, "no memory");
    RUNTIME(cudaHostRegister, (memory, 3 * MIB, cudaHostRegisterPortable));
    book_alloc(MEMORY_REGISTERED, bits(memory), 3 * MIB);
    RUNTIME(cudaHostUnregister, (memory));
    book_free(MEMORY_REGISTERED, bits(memory), 3 * MIB);
    free(memory);
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

void runtime_own_pool(void)
{
    const struct cudaMemPoolProps properties = {
        .allocType = cudaMemAllocationTypePinned,
        .location = {.type = cudaMemLocationTypeDevice, .id = 0}};
    cudaMemPool_t pool = NULL;
    void *address = NULL;
    RUNTIME(cudaMemPoolCreate, (&pool, &properties));
    book_event(EVENT_POOL_CREATE, MEMORY_ASYNC, UNSAID, UNSAID, bits(pool));
    RUNTIME(cudaMallocFromPoolAsync, (&address, 9 * MIB, pool, NULL));
    book_alloc_of(MEMORY_ASYNC, bits(address), 9 * MIB, bits(pool));
    RUNTIME(cudaFreeAsync, (address, NULL));
    book_free(MEMORY_ASYNC, bits(address), 9 * MIB);
    RUNTIME(cudaStreamSynchronize, (NULL));
    RUNTIME(cudaMemPoolTrimTo, (pool, 0));
    RUNTIME(cudaMemPoolDestroy, (pool));
    book_event(EVENT_POOL_DESTROY, MEMORY_NONE, UNSAID, UNSAID, bits(pool));
}

void runtime_kept(void)
{
    void *address = NULL, *pinned = NULL;
    RUNTIME(cudaMalloc, (&address, 11 * MIB));
    book_alloc(MEMORY_LINEAR, bits(address), 11 * MIB);
    RUNTIME(cudaHostAlloc, (&pinned, 12 * MIB, cudaHostAllocDefault));
    book_alloc(MEMORY_PINNED, bits(pinned), 12 * MIB);
}
