/* SPDX-License-Identifier: MIT */
/*
 * The forms that driver functions had before CUDA 3.2, with addresses and sizes of 32 bits. They
 * allocate below 4 GiB, and return "out of memory" when no address below 4 GiB is left. A size of 4
 * GiB or more is reported as the largest 32-bit number.
 */
#include <stdint.h>

#include "simulator/driver/array/array.h"
#include "simulator/driver/machine/call.h"
#include "simulator/driver/memory/memory.h"

static unsigned clamp(uint64_t size_bytes)
{
    return size_bytes > UINT32_MAX ? UINT32_MAX : (unsigned)size_bytes;
}

/* --- linear memory --- */

CUresult cuMemAlloc(CUdeviceptr_v1 *address, unsigned int size_bytes)
{
    struct call call;
    CUdeviceptr memory = 0;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE) &&
        call_requires(&call, address && size_bytes))
        call.result = memory_linear(call.context, size_bytes, context_take_low, &memory);
    if (!call.result)
        *address = (CUdeviceptr_v1)memory;
    return call_end(&call);
}

CUresult cuMemAllocPitch(CUdeviceptr_v1 *address, unsigned int *pitch_bytes,
                         unsigned int width_bytes, unsigned int height, unsigned int element_bytes)
{
    struct call call;
    CUdeviceptr memory = 0;
    size_t pitch = 0;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE) &&
        call_requires(&call, address && pitch_bytes && width_bytes && height &&
                                 (element_bytes == 4 || element_bytes == 8 || element_bytes == 16)))
        call.result =
            memory_pitched(call.context, width_bytes, height, context_take_low, &memory, &pitch);
    if (!call.result) {
        *address = (CUdeviceptr_v1)memory;
        *pitch_bytes = (unsigned)pitch;
    }
    return call_end(&call);
}

CUresult cuMemFree(CUdeviceptr_v1 address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NO_CAPTURE))
        call.result = memory_free(address);
    return call_end(&call);
}

CUresult cuMemGetInfo(unsigned int *free_bytes, unsigned int *total_bytes)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, free_bytes && total_bytes)) {
        *free_bytes = clamp(device_free_bytes(call.context->device));
        *total_bytes = clamp(device_spec()->total_bytes);
    }
    return call_end(&call);
}

CUresult cuMemGetAddressRange(CUdeviceptr_v1 *base, unsigned int *size_bytes,
                              CUdeviceptr_v1 address)
{
    struct memory_range range = {0, 0};
    const CUresult result = memory_find_range(__func__, address, &range);
    if (!result && base)
        *base = (CUdeviceptr_v1)range.address;
    if (!result && size_bytes)
        *size_bytes = clamp(range.size_bytes);
    return result;
}

/* --- arrays: only their descriptors differ --- */

CUresult cuArrayCreate(CUarray *handle, const CUDA_ARRAY_DESCRIPTOR_v1 *flat)
{
    if (!flat)
        return array_create(__func__, handle, NULL);
    const CUDA_ARRAY3D_DESCRIPTOR whole =
        array_flat(flat->Width, flat->Height, flat->Format, flat->NumChannels);
    return array_create(__func__, handle, &whole);
}

CUresult cuArray3DCreate(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR_v1 *descriptor)
{
    CUDA_ARRAY3D_DESCRIPTOR whole = {0};
    if (descriptor)
        whole = (CUDA_ARRAY3D_DESCRIPTOR){descriptor->Width,       descriptor->Height,
                                          descriptor->Depth,       descriptor->Format,
                                          descriptor->NumChannels, descriptor->Flags};
    return array_create(__func__, handle, descriptor ? &whole : NULL);
}

/* --- contexts: cuCtxAttach counts their users --- */

/* Returns the current context if it has this handle and the program created it. If not, sets the
 * call's result and returns NULL. */
static struct context *attached_context(struct call *call, CUcontext handle)
{
    struct context *context = call->context;
    if (context != context->device->primary && (!handle || context_find(handle) == context))
        return context;
    call->result = CUDA_ERROR_INVALID_CONTEXT;
    return NULL;
}

CUresult cuCtxAttach(CUcontext *handle, unsigned int flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, handle && !flags)) {
        struct context *context = attached_context(&call, NULL);
        if (context) {
            context->retain_count++;
            *handle = (CUcontext)(void *)context;
        }
    }
    return call_end(&call);
}

CUresult cuCtxDetach(CUcontext handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, handle != NULL)) {
        struct context *context = attached_context(&call, handle);
        if (context && !--context->retain_count)
            context_destroy(context);
    }
    return call_end(&call);
}
