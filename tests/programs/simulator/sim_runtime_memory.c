/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Tests memory, copies and pools of the simulated runtime. The argument names a case. Exits 0, or
 * prints a line with the failed check.
 */
#include "sim_runtime.h"

/* --- memory --- */

/* CUDA Runtime API, 6.10 Memory Management, cudaMalloc, cudaFree. */
CASE(memory_is_taken_and_given_back)
{
    const size_t before_bytes = free_bytes_now();
    void *block;
    SUCCEEDS(cudaMalloc(&block, 16 * MIB));
    CHECK(block != NULL);
    CHECK(before_bytes - free_bytes_now() == 16 * MIB);
    SUCCEEDS(cudaFree(block));
    CHECK(free_bytes_now() == before_bytes);
}

/* 6.10, cudaFree, cudaFreeHost, cudaFreeArray of NULL. */
CASE(nothing_is_a_block_of_no_bytes)
{
    void *block = &block;
    SUCCEEDS(cudaMalloc(&block, 0));
    CHECK(block == NULL);
    SUCCEEDS(cudaFree(NULL));
    SUCCEEDS(cudaFreeHost(NULL));
    SUCCEEDS(cudaFreeArray(NULL));
    GIVES(cudaMallocManaged(&block, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
}

cudaError_t cudaMemPrefetchAsync(const void *address, size_t size_bytes,
                                 struct cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream);

/* 6.10, cudaMemPrefetchAsync of CUDA 13. */
CASE(managed_memory_takes_hints)
{
    const struct cudaMemLocation device = {.type = cudaMemLocationTypeDevice};
    void *managed;
    SUCCEEDS(cudaMallocManaged(&managed, MIB, cudaMemAttachHost));
    SUCCEEDS(cudaMemPrefetchAsync(managed, MIB, device, 0, NULL));
    GIVES(cudaMemPrefetchAsync(managed, 2 * MIB, device, 0, NULL), cudaErrorInvalidValue);
    SUCCEEDS(cudaFree(managed));
}

/* 6.10, cudaMalloc: cudaErrorMemoryAllocation. */
CASE(too_much_fails_and_leaves_everything_as_it_was)
{
    const size_t before_bytes = free_bytes_now();
    void *block = &block;
    GIVES(cudaMalloc(&block, before_bytes + 1), cudaErrorMemoryAllocation);
    CHECK(block == (void *)&block);
    CHECK(free_bytes_now() == before_bytes);
    SUCCEEDS(cudaMalloc(&block, before_bytes / 2));
}

/* 6.10, cudaFree: cudaErrorInvalidValue. */
CASE(a_block_is_freed_once)
{
    void *block;
    SUCCEEDS(cudaMalloc(&block, MIB));
    SUCCEEDS(cudaFree(block));
    GIVES(cudaFree(block), cudaErrorInvalidValue);
    GIVES(cudaFree(&block), cudaErrorInvalidValue);
}

/* 6.10: cudaErrorInvalidValue. */
CASE(null_parameters_are_invalid_values)
{
    GIVES(cudaMalloc(NULL, 1), cudaErrorInvalidValue);
    GIVES(cudaMallocHost(NULL, 1), cudaErrorInvalidValue);
    GIVES(cudaMallocPitch(NULL, NULL, 1, 1), cudaErrorInvalidValue);
    GIVES(cudaMallocAsync(NULL, 1, 0), cudaErrorInvalidValue);
    GIVES(cudaGetDevice(NULL), cudaErrorInvalidValue);
    GIVES(cudaGetDeviceCount(NULL), cudaErrorInvalidValue);
    GIVES(cudaMemPoolCreate(NULL, NULL), cudaErrorInvalidValue);
    GIVES(cudaPointerGetAttributes(NULL, NULL), cudaErrorInvalidValue);
}

/* 6.10, cudaMallocPitch, cudaMalloc3D. */
CASE(rows_are_padded_to_a_pitch)
{
    struct cudaPitchedPtr cube;
    size_t pitch_bytes;
    void *plane;
    SUCCEEDS(cudaMallocPitch(&plane, &pitch_bytes, 1000, 100));
    CHECK(pitch_bytes >= 1000 && pitch_bytes % 512 == 0);
    SUCCEEDS(cudaMalloc3D(&cube, (struct cudaExtent){1000, 20, 5}));
    CHECK(cube.pitch == pitch_bytes && cube.xsize == 1000 && cube.ysize == 20);
    SUCCEEDS(cudaMemset2D(cube.ptr, cube.pitch, 0, cube.xsize, 20 * 5));
    GIVES(cudaMalloc3D(&cube, (struct cudaExtent){1, SIZE_MAX, 2}), cudaErrorInvalidValue);
    SUCCEEDS(cudaFree(plane));
    SUCCEEDS(cudaFree(cube.ptr));
}

/* 6.13 Unified Addressing, cudaPointerGetAttributes. */
CASE(a_pointer_says_what_it_is)
{
    struct cudaPointerAttributes of;
    void *device, *managed, *pinned;
    SUCCEEDS(cudaMalloc(&device, MIB));
    SUCCEEDS(cudaMallocManaged(&managed, MIB, cudaMemAttachGlobal));
    SUCCEEDS(cudaHostAlloc(&pinned, MIB, cudaHostAllocMapped));
    SUCCEEDS(cudaPointerGetAttributes(&of, (char *)device + 100));
    CHECK(of.type == cudaMemoryTypeDevice && of.device == 0 && of.hostPointer == NULL);
    CHECK(of.devicePointer == (char *)device + 100);
    SUCCEEDS(cudaPointerGetAttributes(&of, managed));
    CHECK(of.type == cudaMemoryTypeManaged && of.hostPointer == managed);
    SUCCEEDS(cudaPointerGetAttributes(&of, pinned));
    CHECK(of.type == cudaMemoryTypeHost && of.hostPointer == pinned);
    SUCCEEDS(cudaPointerGetAttributes(&of, &of));
    CHECK(of.type == cudaMemoryTypeUnregistered && of.devicePointer == NULL);
}

CASE(copies_between_host_and_pinned_memory_are_real)
{
    const char text[] = "carried";
    char arrived[sizeof text] = "";
    void *pinned, *device;
    SUCCEEDS(cudaMallocHost(&pinned, sizeof text));
    SUCCEEDS(cudaMalloc(&device, sizeof text));
    SUCCEEDS(cudaMemcpy(pinned, text, sizeof text, cudaMemcpyHostToHost));
    SUCCEEDS(cudaMemcpyAsync(arrived, pinned, sizeof text, cudaMemcpyDefault, 0));
    CHECK(memcmp(arrived, text, sizeof text) == 0);
    SUCCEEDS(cudaMemset(pinned, 'x', 3));
    CHECK(memcmp(pinned, "xxx", 3) == 0);
    SUCCEEDS(cudaMemcpy(device, text, sizeof text, cudaMemcpyHostToDevice));
    SUCCEEDS(cudaMemcpy_ptds(arrived, device, sizeof text, cudaMemcpyDeviceToHost));
}

CASE(copies_are_refused_where_they_make_no_sense)
{
    char from[16] = "", to[16];
    void *block;
    GIVES(cudaMemcpy(to, from, 1, (enum cudaMemcpyKind)7), cudaErrorInvalidMemcpyDirection);
    GIVES(cudaMemcpy2D(to, 4, from, 8, 5, 2, cudaMemcpyHostToHost), cudaErrorInvalidPitchValue);
    SUCCEEDS(cudaMalloc(&block, MIB));
    GIVES(cudaMemcpy(block, from, 2 * MIB, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    SUCCEEDS(cudaMemcpy(NULL, NULL, 0, cudaMemcpyDeviceToHost));
}

/* 6.10, cudaMallocArray, cudaArrayGetInfo, cudaFreeArray. */
CASE(arrays_remember_their_channels)
{
    struct cudaChannelFormatDesc asked =
        cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
    struct cudaChannelFormatDesc told;
    struct cudaExtent extent;
    unsigned int flags = 9;
    cudaArray_t array;
    SUCCEEDS(cudaMallocArray(&array, &asked, 64, 32, cudaArraySurfaceLoadStore));
    SUCCEEDS(cudaArrayGetInfo(&told, &extent, &flags, array));
    CHECK(memcmp(&told, &asked, sizeof told) == 0);
    CHECK(extent.width == 64 && extent.height == 32 && extent.depth == 0);
    CHECK(flags == cudaArraySurfaceLoadStore);
    SUCCEEDS(cudaFreeArray(array));
    GIVES(cudaFreeArray(array), cudaErrorInvalidResourceHandle);
}

/* 6.10, cudaMalloc3DArray. */
CASE(an_array_of_three_dimensions_costs_its_elements)
{
    const struct cudaChannelFormatDesc asked = {32, 32, 0, 0, cudaChannelFormatKindFloat};
    const size_t before_bytes = free_bytes_now();
    struct cudaExtent extent;
    cudaArray_t array;
    SUCCEEDS(cudaMalloc3DArray(&array, &asked, (struct cudaExtent){128, 64, 32}, 0));
    CHECK(before_bytes - free_bytes_now() == 2 * MIB);
    SUCCEEDS(cudaArrayGetInfo(NULL, &extent, NULL, array));
    CHECK(extent.width == 128 && extent.height == 64 && extent.depth == 32);
    GIVES(cudaMalloc3DArray(&array, NULL, extent, 0), cudaErrorInvalidValue);
    GIVES(cudaMalloc3DArray(&array, &asked, (struct cudaExtent){0, 0, 0}, 0),
          cudaErrorInvalidValue);
    SUCCEEDS(cudaFreeArray(array));
    CHECK(free_bytes_now() == before_bytes);
}

/* 6.10, cudaHostRegister, cudaHostUnregister, cudaHostGetDevicePointer. */
CASE(the_program_s_own_memory_is_registered)
{
    static char own[8192];
    unsigned int flags = 0;
    void *device = NULL;
    const size_t before_bytes = free_bytes_now();
    SUCCEEDS(cudaHostRegister(own, sizeof own, cudaHostRegisterMapped));
    CHECK(free_bytes_now() == before_bytes);
    SUCCEEDS(cudaHostGetFlags(&flags, own));
    CHECK(flags == cudaHostRegisterMapped);
    SUCCEEDS(cudaHostGetDevicePointer(&device, own, 0));
    CHECK(device == own);
    GIVES(cudaHostRegister(own, sizeof own, 0), cudaErrorHostMemoryAlreadyRegistered);
    SUCCEEDS(cudaHostUnregister(own));
    GIVES(cudaHostUnregister(own), cudaErrorHostMemoryNotRegistered);
    GIVES(cudaHostRegister(NULL, 1, 0), cudaErrorInvalidValue);
}

/* 6.10, cudaMallocArray. */
CASE(channels_have_to_agree)
{
    const struct cudaChannelFormatDesc three = {8, 8, 8, 0, cudaChannelFormatKindUnsigned};
    const struct cudaChannelFormatDesc mixed = {8, 16, 0, 0, cudaChannelFormatKindUnsigned};
    const struct cudaChannelFormatDesc bytes = {8, 0, 0, 0, cudaChannelFormatKindFloat};
    cudaArray_t array;
    GIVES(cudaMallocArray(&array, &three, 1, 1, 0), cudaErrorInvalidChannelDescriptor);
    GIVES(cudaMallocArray(&array, &mixed, 1, 1, 0), cudaErrorInvalidChannelDescriptor);
    GIVES(cudaMallocArray(&array, &bytes, 1, 1, 0), cudaErrorInvalidChannelDescriptor);
}

/* 6.10, cudaMallocMipmappedArray, cudaFreeMipmappedArray. */
CASE(mipmapped_arrays_have_levels)
{
    const struct cudaChannelFormatDesc bytes = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    struct cudaExtent extent;
    cudaMipmappedArray_t pyramid;
    cudaArray_t level;
    SUCCEEDS(cudaMallocMipmappedArray(&pyramid, &bytes, (struct cudaExtent){64, 64, 0}, 3, 0));
    SUCCEEDS(cudaGetMipmappedArrayLevel(&level, pyramid, 1));
    SUCCEEDS(cudaArrayGetInfo(NULL, &extent, NULL, level));
    CHECK(extent.width == 32 && extent.height == 32);
    SUCCEEDS(cudaFreeMipmappedArray(pyramid));
}

/* --- stream-ordered memory --- */

static uint64_t pool_value(cudaMemPool_t pool, enum cudaMemPoolAttr attribute)
{
    uint64_t value;
    SUCCEEDS(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

/* 6.12 Stream Ordered Memory Allocator, cudaMallocAsync, cudaFreeAsync. */
CASE(the_default_pool_counts_what_is_used)
{
    cudaMemPool_t pool;
    void *legacy, *own;
    SUCCEEDS(cudaDeviceGetDefaultMemPool(&pool, 0));
    SUCCEEDS(cudaMallocAsync(&legacy, MIB, 0));
    SUCCEEDS(cudaMallocAsync_ptsz(&own, MIB, 0));
    CHECK(pool_value(pool, cudaMemPoolAttrUsedMemCurrent) == 2 * MIB);
    CHECK(pool_value(pool, cudaMemPoolAttrReservedMemCurrent) >= 2 * MIB);
    SUCCEEDS(cudaFreeAsync(legacy, 0));
    SUCCEEDS(cudaFreeAsync_ptsz(own, 0));
    CHECK(pool_value(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    CHECK(pool_value(pool, cudaMemPoolAttrUsedMemHigh) == 2 * MIB);
}

/* 6.12, cudaMemPoolCreate, cudaMallocFromPoolAsync, cudaMemPoolTrimTo, cudaMemPoolDestroy. */
CASE(a_pool_of_ones_own_keeps_up_to_its_threshold)
{
    struct cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned,
                                          .location = {cudaMemLocationTypeDevice, 0}};
    uint64_t threshold_bytes = UINT64_MAX;
    cudaMemPool_t pool;
    void *block;
    SUCCEEDS(cudaMemPoolCreate(&pool, &properties));
    SUCCEEDS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold_bytes));
    SUCCEEDS(cudaMallocFromPoolAsync(&block, 8 * MIB, pool, 0));
    SUCCEEDS(cudaFreeAsync(block, 0));
    SUCCEEDS(cudaDeviceSynchronize());
    CHECK(pool_value(pool, cudaMemPoolAttrReservedMemCurrent) >= 8 * MIB);
    SUCCEEDS(cudaMemPoolTrimTo(pool, 0));
    CHECK(pool_value(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    SUCCEEDS(cudaMemPoolDestroy(pool));
    properties.location.id = 99;
    GIVES(cudaMemPoolCreate(&pool, &properties), cudaErrorInvalidDevice);
}

SIM_MAIN()
