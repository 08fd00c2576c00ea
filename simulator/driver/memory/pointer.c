/* SPDX-License-Identifier: MIT */
/*
 * Pointer attributes: properties of the allocation that contains an address.
 */
#include <string.h>

#include "simulator/driver/machine/call.h"

struct answer {
    const void *value;
    size_t size_bytes;
};

static CUmemorytype type_of(const struct block *block)
{
    return block->kind == BLOCK_PINNED || block->kind == BLOCK_REGISTERED || block->is_host_pool
               ? CU_MEMORYTYPE_HOST
               : CU_MEMORYTYPE_DEVICE;
}

/* All attributes of one address, in the types that the API documents. */
struct facts {
    CUcontext context;
    CUmemorytype type;
    CUdeviceptr device_address, start;
    void *host_address;
    unsigned is_managed, sync_memops, handle_types, no;
    unsigned char is_mapped;
    int ordinal;
    size_t size_bytes;
    unsigned long long id;
    CUmemoryPool pool;
    CUmemAccess_flags access;
};

static void facts_gather(const struct block *block, uint64_t address, struct facts *facts)
{
    *facts = (struct facts){
        .context = (CUcontext)(void *)block->context,
        .type = type_of(block),
        .device_address = address,
        .start = block->address,
        .host_address = block_is_host(block) ? (void *)(uintptr_t)address : NULL,
        .is_managed = block->kind == BLOCK_MANAGED || block->is_managed_pool,
        .is_mapped = 1,
        .ordinal = block->device->ordinal,
        .size_bytes = block->size_bytes,
        .id = block->id,
        .pool = (CUmemoryPool)(void *)block->pool,
        .access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
}

/* {NULL, 0}: the attribute cannot be queried. */
static struct answer facts_answer(const struct facts *facts, CUpointer_attribute attribute)
{
#define ANSWER(member) ((struct answer){&facts->member, sizeof facts->member})
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return ANSWER(context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return ANSWER(type);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return ANSWER(device_address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return ANSWER(host_address);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return ANSWER(sync_memops);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return ANSWER(id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return ANSWER(is_managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return ANSWER(ordinal);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return ANSWER(start);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return ANSWER(size_bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return ANSWER(is_mapped);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return ANSWER(handle_types);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return ANSWER(access);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return ANSWER(pool);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return ANSWER(no);
    default:
        return (struct answer){NULL, 0};
    }
#undef ANSWER
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct block *block = block_containing(address);
        struct facts facts;
        if (!call_requires(&call, data && block))
            goto out;
        facts_gather(block, address, &facts);
        const struct answer found = facts_answer(&facts, attribute);
        if (call_requires(&call, found.value != NULL))
            memcpy(data, found.value, found.size_bytes);
    }
out:
    return call_end(&call);
}

/* Unlike cuPointerGetAttribute, succeeds with zeros for memory that is unknown to the driver. */
CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, attributes && data && count)) {
        const struct block *block = block_containing(address);
        struct facts facts;
        memset(&facts, 0, sizeof facts);
        if (block)
            facts_gather(block, address, &facts);
        else
            facts.ordinal = -2;
        for (unsigned i = 0; i < count; i++) {
            const struct answer found = facts_answer(&facts, attributes[i]);
            if (call_requires(&call, found.value && data[i]))
                memcpy(data[i], found.value, found.size_bytes);
        }
    }
    return call_end(&call);
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT))
        call_requires(&call, value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                                 block_containing(address));
    return call_end(&call);
}
