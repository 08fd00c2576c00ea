/* SPDX-License-Identifier: MIT */
/*
 * Pinned memory, allocated by the driver or registered by the program.
 */
#include "simulator/driver/machine/call.h"
#include "gpumemtrace/compiler.h"
#include "simulator/driver/machine/host.h"
#include "simulator/driver/machine/progress.h"
#include "memory.h"

#define ALLOC_FLAGS                                                                                \
    (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED)
#define REGISTER_FLAGS                                                                             \
    (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY |    \
     CU_MEMHOSTREGISTER_READ_ONLY)

static CUresult host_allocate(const char *function, void **address, size_t size_bytes,
                              unsigned flags)
{
    struct call call;
    uint64_t place = 0;
    if (call_begin(&call, function, CALL_NEEDS_NO_CAPTURE) &&
        call_requires(&call, address && size_bytes && !(flags & ~(unsigned)ALLOC_FLAGS)))
        call.result = memory_of_host(call.context, BLOCK_PINNED, size_bytes, flags, &place);
    if (place)
        *address = host_pointer(place);
    return call_end(&call);
}

CUresult cuMemHostAlloc(void **address, size_t size_bytes, unsigned int flags)
{
    return host_allocate(__func__, address, size_bytes, flags);
}

CUresult cuMemAllocHost_v2(void **address, size_t size_bytes)
{
    return host_allocate(__func__, address, size_bytes, 0);
}

/* The block of this kind that starts at this address; NULL: none. */
static struct block *host_block_at(const void *address, enum block_kind kind)
{
    struct block *block = block_at((uint64_t)(uintptr_t)address);
    return block && block->kind == kind ? block : NULL;
}

CUresult cuMemFreeHost(void *address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE) && address) {
        struct block *block = host_block_at(address, BLOCK_PINNED);
        if (call_requires(&call, block != NULL)) {
            progress_wait_for_context(block->context);
            context_free_block(block);
        }
    }
    return call_end(&call);
}

static CUresult registered_new(struct context *context, void *address, uint64_t size_bytes,
                               unsigned flags)
{
    const struct block model = {
        .kind = BLOCK_REGISTERED,
        .flags = flags,
        .address = (uint64_t)(uintptr_t)address,
        .size_bytes = size_bytes,
        .device = context->device,
        .context = context,
    };
    uint64_t end;
    if (GMT_ADD_OVERFLOWS(model.address, size_bytes, &end))
        return CUDA_ERROR_INVALID_VALUE;
    if (block_overlaps(model.address, size_bytes))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    return block_new(&model) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult host_register(const char *function, void *address, size_t size_bytes,
                              unsigned flags)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, address && size_bytes && !(flags & ~(unsigned)REGISTER_FLAGS)))
        call.result = registered_new(call.context, address, size_bytes, flags);
    return call_end(&call);
}

CUresult cuMemHostRegister_v2(void *address, size_t size_bytes, unsigned int flags)
{
    return host_register(__func__, address, size_bytes, flags);
}

CUresult cuMemHostRegister(void *address, size_t size_bytes, unsigned int flags)
{
    return host_register(__func__, address, size_bytes, flags);
}

CUresult cuMemHostUnregister(void *address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, address != NULL)) {
        struct block *block = host_block_at(address, BLOCK_REGISTERED);
        if (block)
            block_delete(block);
        else
            call.result = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    return call_end(&call);
}

/* The pinned or registered block that contains this address; its host and device addresses are the
 * same. NULL: none. */
static const struct block *mapped_block_of(const void *address)
{
    const struct block *block = block_containing((uint64_t)(uintptr_t)address);
    return block && (block->kind == BLOCK_PINNED || block->kind == BLOCK_REGISTERED) ? block : NULL;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device_address, void *address,
                                      unsigned int flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, device_address && !flags && mapped_block_of(address)))
        *device_address = (CUdeviceptr)(uintptr_t)address;
    return call_end(&call);
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, flags && mapped_block_of(address)))
        *flags = mapped_block_of(address)->flags;
    return call_end(&call);
}

/* --- functions older than CUDA 3.2 --- */

CUresult cuMemAllocHost(void **address, unsigned int size_bytes)
{
    return host_allocate(__func__, address, size_bytes, 0);
}
