/* SPDX-License-Identifier: MIT */
/*
 * Linear and pitched device memory, managed memory, and the free memory of a device. As in the real
 * driver, cuMemFree also frees memory of pools.
 */
#include "memory.h"

#include "simulator/driver/machine/call.h"
#include "gpumemtrace/compiler.h"
#include "graph_memory.h"
#include "simulator/driver/machine/host.h"
#include "simulator/driver/machine/progress.h"
#include "mempool.h"

#define PITCH_UNIT_BYTES ((uint64_t)512)
#define PITCH_LIMIT_BYTES ((uint64_t)0x7fffffff)

CUresult memory_linear(struct context *context, uint64_t size_bytes, memory_take *take,
                       CUdeviceptr *address)
{
    struct block model = {
        .kind = BLOCK_LINEAR,
        .size_bytes = size_bytes,
        .device = context->device,
        .context = context,
    };
    const CUresult result = take(context, size_bytes, &model.span);
    if (result)
        return result;
    model.address = model.span->address;
    if (!block_new(&model)) {
        context_give(context, model.span);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = model.address;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size_bytes)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE) &&
        call_requires(&call, address && size_bytes))
        call.result = memory_linear(call.context, size_bytes, context_take, address);
    return call_end(&call);
}

CUresult memory_pitched(struct context *context, uint64_t width_bytes, uint64_t height,
                        memory_take *take, CUdeviceptr *address, size_t *pitch_bytes)
{
    uint64_t rounded_bytes, size_bytes;
    if (round_up_overflows(width_bytes, PITCH_UNIT_BYTES, &rounded_bytes) ||
        rounded_bytes > PITCH_LIMIT_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    if (GMT_MUL_OVERFLOWS(rounded_bytes, height, &size_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = memory_linear(context, size_bytes, take, address);
    if (!result)
        *pitch_bytes = rounded_bytes;
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch_bytes, size_t width_bytes,
                            size_t height, unsigned int element_bytes)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE) &&
        call_requires(&call, address && pitch_bytes && width_bytes && height &&
                                 (element_bytes == 4 || element_bytes == 8 || element_bytes == 16)))
        call.result =
            memory_pitched(call.context, width_bytes, height, context_take, address, pitch_bytes);
    return call_end(&call);
}

CUresult memory_of_host(struct context *context, enum block_kind kind, uint64_t size_bytes,
                        unsigned flags, uint64_t *address)
{
    struct block model = {
        .kind = kind,
        .flags = flags,
        .address = host_map(size_bytes),
        .size_bytes = size_bytes,
        .device = context->device,
        .context = context,
    };
    if (!model.address)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!block_new(&model)) {
        host_unmap(model.address, size_bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = model.address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t size_bytes, unsigned int flags)
{
    struct call call;
    uint64_t place = 0;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE) &&
        call_requires(&call, address && size_bytes &&
                                 (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST)))
        call.result = memory_of_host(call.context, BLOCK_MANAGED, size_bytes, flags, &place);
    if (place)
        *address = place;
    return call_end(&call);
}

CUresult memory_free(uint64_t address)
{
    struct block *block = block_at(address);
    if (!address)
        return CUDA_SUCCESS;
    if (!block)
        return CUDA_ERROR_INVALID_VALUE;
    if (block->pool)
        mempool_free_block(block);
    else if (block->kind == BLOCK_LINEAR || block->kind == BLOCK_MANAGED ||
             block->kind == BLOCK_IMPORTED) {
        progress_wait_for_context(block->context);
        context_free_block(block);
    } else if (block->kind != BLOCK_GRAPH || !graph_memory_free_block(block))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE))
        call.result = memory_free(address);
    return call_end(&call);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, free_bytes && total_bytes)) {
        *free_bytes = device_free_bytes(call.context->device);
        *total_bytes = device_total_bytes(call.context->device);
    }
    return call_end(&call);
}

CUresult memory_find_range(const char *function, uint64_t address, struct memory_range *range)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT)) {
        const struct block *block = block_containing(address);
        if (block)
            *range = (struct memory_range){block->address, block->size_bytes};
        else
            call.result = CUDA_ERROR_NOT_FOUND;
    }
    return call_end(&call);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size_bytes, CUdeviceptr address)
{
    struct memory_range range = {0, 0};
    const CUresult result = memory_find_range(__func__, address, &range);
    if (!result && base)
        *base = range.address;
    if (!result && size_bytes)
        *size_bytes = range.size_bytes;
    return result;
}

/* Checks the range only: prefetches and advice have no effect, because the location of managed
 * memory is not simulated. */
static CUresult check_managed(uint64_t address, uint64_t size_bytes)
{
    const struct block *block = block_containing(address);
    return block && block->kind == BLOCK_MANAGED && size_bytes &&
                   size_bytes <= block->size_bytes - (address - block->address)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult managed_hint(const char *function, uint64_t address, uint64_t size_bytes)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT))
        call.result = check_managed(address, size_bytes);
    return call_end(&call);
}

static CUresult do_cuMemPrefetchAsync(const char *function, CUdeviceptr address, size_t size_bytes)
{
    return managed_hint(function, address, size_bytes);
}

static CUresult do_cuMemPrefetchAsync_v2(const char *function, CUdeviceptr address,
                                         size_t size_bytes)
{
    return managed_hint(function, address, size_bytes);
}

TWIN(_ptsz, cuMemPrefetchAsync,
     (CUdeviceptr address, size_t size_bytes, GMT_UNUSED CUdevice device,
      GMT_UNUSED CUstream stream),
     address, size_bytes)
TWIN(_ptsz, cuMemPrefetchAsync_v2,
     (CUdeviceptr address, size_t size_bytes, GMT_UNUSED CUmemLocation location,
      GMT_UNUSED unsigned int flags, GMT_UNUSED CUstream stream),
     address, size_bytes)

CUresult cuMemAdvise(CUdeviceptr address, size_t size_bytes, GMT_UNUSED CUmem_advise advice,
                     GMT_UNUSED CUdevice device)
{
    return managed_hint(__func__, address, size_bytes);
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size_bytes, GMT_UNUSED CUmem_advise advice,
                        GMT_UNUSED CUmemLocation location)
{
    return managed_hint(__func__, address, size_bytes);
}
