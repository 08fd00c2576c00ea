/* SPDX-License-Identifier: MIT */
/*
 * Memory of other processes, opened by IPC handles. Opening a handle again in the same context
 * returns the same address and increments the open count.
 */
#include <string.h>

#include "simulator/driver/machine/call.h"
#include "simulator/driver/machine/share.h"

_Static_assert(sizeof(struct share_name) <= sizeof(CUipcMemHandle), "a name fits into a handle");

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT)) {
        const struct block *block = block_at(address);
        if (call_requires(&call, handle && block && block->kind == BLOCK_LINEAR)) {
            const struct share_name name =
                share_name_of(SHARE_BLOCK, block->id, block->size_bytes, block->device);
            memset(handle, 0, sizeof *handle);
            memcpy(handle, &name, sizeof name);
        }
    }
    return call_end(&call);
}

static bool is_opened(const struct block *block, const void *name)
{
    return block->kind == BLOCK_OPENED && share_is_same(&block->name, name);
}

static CUresult ipc_map(struct context *context, const struct share_name *name,
                        CUdeviceptr *address)
{
    struct block model = {
        .kind = BLOCK_OPENED,
        .size_bytes = name->size_bytes,
        .device = share_device(name),
        .context = context,
        .name = *name,
        .open_count = 1,
    };
    if (!model.device || !share_is_exporter_alive(name) ||
        device_reserve(model.device, name->size_bytes, &model.span))
        return CUDA_ERROR_MAP_FAILED;
    model.address = model.span->address;
    if (!block_new(&model)) {
        device_unreserve(model.device, model.span);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = model.address;
    return CUDA_SUCCESS;
}

/* Only one context of each device can open the memory. */
static CUresult ipc_open(struct context *context, const struct share_name *name,
                         CUdeviceptr *address)
{
    if (share_is_own(name))
        return CUDA_ERROR_INVALID_CONTEXT;
    struct block *block = block_find_if(is_opened, name);
    if (!block)
        return ipc_map(context, name, address);
    if (block->context != context)
        return CUDA_ERROR_ALREADY_MAPPED;
    block->open_count++;
    *address = block->address;
    return CUDA_SUCCESS;
}

static CUresult open_handle(const char *function, CUdeviceptr *address,
                            const CUipcMemHandle *handle, unsigned flags)
{
    struct call call;
    struct share_name name;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) &&
        call_requires(&call, address && flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)) {
        if (share_read(handle, SHARE_BLOCK, &name))
            call.result = ipc_open(call.context, &name, address);
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
    }
    return call_end(&call);
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags)
{
    return open_handle(__func__, address, &handle, flags);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags)
{
    return open_handle(__func__, address, &handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT)) {
        struct block *block = block_at(address);
        if (call_requires(&call, block && block->kind == BLOCK_OPENED) && !--block->open_count)
            context_free_block(block);
    }
    return call_end(&call);
}
