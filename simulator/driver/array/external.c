/* SPDX-License-Identifier: MIT */
/*
 * Memory of other APIs, which is imported from a file descriptor. After the import, the driver owns
 * the descriptor. Imports and their mappings charge no device.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "simulator/driver/machine/call.h"
#include "gpumemtrace/compiler.h"

struct external {
    struct object object;
    uint64_t size_bytes;
};

/* The external memory with this handle. NULL: the call's result is set. */
static struct external *external_find(struct call *call, CUexternalMemory handle)
{
    struct external *external = object_find(handle, OBJECT_EXTERNAL);
    if (!external)
        call->result = CUDA_ERROR_INVALID_HANDLE;
    return external;
}

static CUresult external_check(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *descriptor)
{
    struct stat status;
    if (!descriptor->size || descriptor->flags & ~(unsigned)CUDA_EXTERNAL_MEMORY_DEDICATED)
        return CUDA_ERROR_INVALID_VALUE;
    if (descriptor->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD &&
        descriptor->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (fstat(descriptor->handle.fd, &status))
        return CUDA_ERROR_INVALID_HANDLE;
    return S_ISREG(status.st_mode) && (uint64_t)status.st_size < descriptor->size
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

CUresult cuImportExternalMemory(CUexternalMemory *handle,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *descriptor)
{
    struct call call;
    if (!call_begin(&call, __func__, CALL_NEEDS_CONTEXT) ||
        !call_requires(&call, handle && descriptor))
        goto out;
    call.result = external_check(descriptor);
    if (call.result)
        goto out;
    struct external *external = object_new(OBJECT_EXTERNAL, call.context, sizeof *external);
    if (!external) {
        call.result = CUDA_ERROR_OUT_OF_MEMORY;
        goto out;
    }
    external->size_bytes = descriptor->size;
    close(descriptor->handle.fd);
    *handle = (CUexternalMemory)(void *)external;
out:
    return call_end(&call);
}

static bool is_inside(const struct external *external, uint64_t offset_bytes, uint64_t size_bytes)
{
    return size_bytes && offset_bytes <= external->size_bytes &&
           size_bytes <= external->size_bytes - offset_bytes;
}

static CUresult map_buffer(struct context *context, uint64_t size_bytes, CUdeviceptr *address)
{
    struct block model = {
        .kind = BLOCK_IMPORTED,
        .size_bytes = size_bytes,
        .device = context->device,
        .context = context,
    };
    const CUresult result = device_reserve(context->device, size_bytes, &model.span);
    if (result)
        return result;
    model.address = model.span->address;
    if (!block_new(&model)) {
        device_unreserve(context->device, model.span);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = model.address;
    return CUDA_SUCCESS;
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *address, CUexternalMemory handle,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *descriptor)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT)) {
        const struct external *external = external_find(&call, handle);
        if (external &&
            call_requires(&call, address && descriptor && !descriptor->flags &&
                                     is_inside(external, descriptor->offset, descriptor->size)))
            call.result = map_buffer(call.context, descriptor->size, address);
    }
    return call_end(&call);
}

static CUresult map_array(struct context *context, const struct external *external,
                          const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *descriptor,
                          CUmipmappedArray *handle)
{
    uint64_t size_bytes;
    struct mipmap *mipmap;
    const CUresult result =
        array_view(context, &descriptor->arrayDesc, descriptor->numLevels, &mipmap);
    if (result)
        return result;
    if (array_levels_bytes(&mipmap->descriptor, mipmap->level_count, &size_bytes) ||
        !is_inside(external, descriptor->offset, size_bytes)) {
        object_delete(mipmap);
        return CUDA_ERROR_INVALID_VALUE;
    }
    *handle = (CUmipmappedArray)(void *)mipmap;
    return CUDA_SUCCESS;
}

CUresult
cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *array, CUexternalMemory handle,
                                        const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *descriptor)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT)) {
        const struct external *external = external_find(&call, handle);
        if (external && call_requires(&call, array && descriptor &&
                                                 !array_is_mapped_into(&descriptor->arrayDesc)))
            call.result = map_array(call.context, external, descriptor, array);
    }
    return call_end(&call);
}

/* Mapped buffers stay until the program frees them. */
CUresult cuDestroyExternalMemory(CUexternalMemory handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT)) {
        struct external *external = external_find(&call, handle);
        if (external)
            object_delete(external);
    }
    return call_end(&call);
}
