/* SPDX-License-Identifier: MIT */
/*
 * Exporting and importing pools and allocations from them. See share.h for the names.
 */
#include <string.h>

#include "simulator/driver/machine/call.h"
#include "simulator/driver/memory/mempool.h"

#define POSIX CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

_Static_assert(sizeof(struct share_name) <= sizeof(CUmemPoolPtrExportData), "a name fits in there");

static const struct device *device_of(const struct mempool *pool)
{
    return mempool_is_on_device(pool) ? pool->device : NULL;
}

CUresult cuMemPoolExportToShareableHandle(void *shareable, CUmemoryPool handle,
                                          CUmemAllocationHandleType type, unsigned long long flags)
{
    struct call call;
    if (!call_begin(&call, __func__, CALL_NEEDS_INIT))
        goto out;
    const struct mempool *pool = mempool_find(&call, handle);
    if (!pool || !call_requires(&call, shareable && !flags && type == POSIX &&
                                           pool->handle_types & POSIX && !pool->is_imported))
        goto out;
    const struct share_name name = share_name_of(SHARE_POOL, pool->id, 0, device_of(pool));
    const int descriptor = share_export(&name);
    if (descriptor < 0)
        call.result = CUDA_ERROR_OPERATING_SYSTEM;
    else
        memcpy(shareable, &descriptor, sizeof descriptor);
out:
    return call_end(&call);
}

static CUresult import_pool(const struct share_name *name, CUmemoryPool *handle)
{
    CUmemLocation location;
    const CUresult result = share_location(name, &location);
    if (result)
        return result;
    struct mempool *pool = mempool_new(CU_MEM_ALLOCATION_TYPE_PINNED, location);
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pool->is_imported = true;
    pool->name = *name;
    *handle = (CUmemoryPool)(void *)pool;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *handle, void *shareable,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags)
{
    struct call call;
    struct share_name name;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, handle && !flags && type == POSIX &&
                                 share_import((int)(intptr_t)shareable, SHARE_POOL, &name)))
        call.result = import_pool(&name, handle);
    return call_end(&call);
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct block *block = block_at(address);
        if (call_requires(&call, data && block && block->kind == BLOCK_POOL &&
                                     block->pool->handle_types)) {
            struct share_name name = share_name_of(SHARE_PIECE, block->pool->id, block->size_bytes,
                                                   device_of(block->pool));
            name.piece_id = block->id;
            memset(data, 0, sizeof *data);
            memcpy(data, &name, sizeof name);
        }
    }
    return call_end(&call);
}

/* An allocation must be imported through the pool that it was exported from. */
CUresult cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool handle,
                                CUmemPoolPtrExportData *data)
{
    struct call call;
    struct share_name name;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct mempool *pool = mempool_find(&call, handle);
        if (pool &&
            call_requires(&call, address && data && pool->is_imported &&
                                     share_read(data, SHARE_PIECE, &name)) &&
            call_requires(&call, name.id == pool->name.id && name.process == pool->name.process &&
                                     name.pid == pool->name.pid))
            call.result = mempool_import_piece(pool, &name, address);
    }
    return call_end(&call);
}
