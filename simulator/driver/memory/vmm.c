/* SPDX-License-Identifier: MIT */
/*
 * Virtual memory management: reserved addresses, and mappings of physical memory (physical.h) at
 * them.
 */
#include <stdlib.h>

#include "gpumemtrace/compiler.h"
#include "physical.h"
#include "vmm.h"

struct reservation {
    struct tree_node by_address;
    uint64_t size_bytes;
};

static struct tree reservations;

/* --- addresses --- */

static struct reservation *reservation_of(uint64_t address, uint64_t size_bytes)
{
    struct tree_node *node = tree_at_most(&reservations, (struct tree_key){address, 0});
    struct reservation *found = node ? TREE_ENTRY(node, struct reservation, by_address) : NULL;
    if (!found)
        return NULL;
    const uint64_t offset_bytes = address - found->by_address.key.first;
    return offset_bytes < found->size_bytes && size_bytes <= found->size_bytes - offset_bytes
               ? found
               : NULL;
}

bool vmm_is_reserved(uint64_t address)
{
    return reservation_of(address, 1) != NULL;
}

static CUresult vmm_reserve(uint64_t size_bytes, uint64_t alignment_bytes, uint64_t wish,
                            CUdeviceptr *address)
{
    struct reservation *reservation = calloc(1, sizeof *reservation);
    if (!reservation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (alignment_bytes < GRANULE_BYTES)
        alignment_bytes = GRANULE_BYTES;
    const uint64_t place = addresses_reserve(size_bytes, alignment_bytes, wish);
    if (!place) {
        free(reservation);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    reservation->size_bytes = size_bytes;
    tree_insert(&reservations, &reservation->by_address, (struct tree_key){place, 0});
    *address = place;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size_bytes, size_t alignment_bytes,
                             CUdeviceptr wish, unsigned long long flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, address && physical_is_granular(size_bytes) && !flags &&
                                 !(alignment_bytes & (alignment_bytes - 1))))
        call.result = vmm_reserve(size_bytes, alignment_bytes, wish, address);
    return call_end(&call);
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size_bytes)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct reservation *reservation = reservation_of(address, size_bytes);
        if (call_requires(&call, reservation && reservation->size_bytes == size_bytes &&
                                     !block_overlaps(address, size_bytes))) {
            tree_remove(&reservations, &reservation->by_address);
            addresses_release(address, size_bytes);
            free(reservation);
        }
    }
    return call_end(&call);
}

/* --- mappings --- */

/* The mapping that contains this address; NULL: none. */
static struct block *mapping_at(uint64_t address)
{
    struct block *block = block_containing(address);
    return block && block->kind == BLOCK_MAPPED ? block : NULL;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct block *block = mapping_at((uint64_t)(uintptr_t)address);
        if (call_requires(&call, handle && block)) {
            block->physical->handle_count++;
            *handle = physical_handle(block->physical);
        }
    }
    return call_end(&call);
}

static CUresult vmm_map(uint64_t address, uint64_t size_bytes, struct physical *physical)
{
    const struct block model = {
        .kind = BLOCK_MAPPED,
        .address = address,
        .size_bytes = size_bytes,
        .device = physical->device ? physical->device : device_at(0),
        .physical = physical,
    };
    if (!block_new(&model))
        return CUDA_ERROR_OUT_OF_MEMORY;
    physical_hold(physical);
    return CUDA_SUCCESS;
}

/* False for memory created for tiles, which can be mapped only into arrays. */
static bool is_for_addresses(const struct physical *physical)
{
    return !(physical->properties.allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL);
}

CUresult cuMemMap(CUdeviceptr address, size_t size_bytes, size_t offset_bytes,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct physical *physical = physical_find(handle);
        if (call_requires(
                &call, physical && is_for_addresses(physical) && physical_is_granular(size_bytes) &&
                           !offset_bytes && !flags && size_bytes <= physical->size_bytes &&
                           address % GRANULE_BYTES == 0 && reservation_of(address, size_bytes) &&
                           !block_overlaps(address, size_bytes)))
            call.result = vmm_map(address, size_bytes, physical);
    }
    return call_end(&call);
}

/* Whether mappings cover the range exactly and without a gap. */
static bool is_mapped(uint64_t address, uint64_t size_bytes)
{
    while (size_bytes) {
        const struct block *block = mapping_at(address);
        if (!block || block->address != address || block->size_bytes > size_bytes)
            return false;
        address += block->size_bytes;
        size_bytes -= block->size_bytes;
    }
    return true;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size_bytes)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, size_bytes && is_mapped(address, size_bytes)))
        while (size_bytes) {
            struct block *block = mapping_at(address);
            struct physical *physical = block->physical;
            address += block->size_bytes;
            size_bytes -= block->size_bytes;
            block_delete(block);
            physical_drop(physical);
        }
    return call_end(&call);
}

/* One bit for each device; the last bit is for the host. */
static uint64_t bit_of(const CUmemLocation *location)
{
    return (uint64_t)1 << (location->type == CU_MEM_LOCATION_TYPE_DEVICE ? location->id
                                                                         : SIM_DEVICE_LIMIT - 1);
}

static void set_access(struct block *block, const CUmemAccessDesc *access)
{
    const uint64_t bit = bit_of(&access->location);
    block->readers &= ~bit;
    block->writers &= ~bit;
    if (access->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
        block->readers |= bit;
    if (access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        block->writers |= bit;
}

static bool is_place(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_DEVICE
               ? device_at(location->id) != NULL
               : location->type == CU_MEM_LOCATION_TYPE_HOST ||
                     location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

static bool are_places(const CUmemAccessDesc *accesses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_place(&accesses[i].location))
            return false;
    return true;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size_bytes, const CUmemAccessDesc *accesses,
                        size_t count)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, size_bytes && accesses && is_mapped(address, size_bytes) &&
                                 are_places(accesses, count)))
        for (const uint64_t end = address + size_bytes; address < end;) {
            struct block *block = mapping_at(address);
            for (size_t i = 0; i < count; i++)
                set_access(block, &accesses[i]);
            address += block->size_bytes;
        }
    return call_end(&call);
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                        CUdeviceptr address)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        const struct block *block = mapping_at(address);
        if (call_requires(&call, flags && location && block && is_place(location))) {
            const uint64_t bit = bit_of(location);
            *flags = block->writers & bit   ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                     : block->readers & bit ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                            : CU_MEM_ACCESS_FLAGS_PROT_NONE;
        }
    }
    return call_end(&call);
}
