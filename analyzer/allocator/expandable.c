/* SPDX-License-Identifier: MIT */
/*
 * Expandable segments. Each is a range of addresses, which is mapped from its beginning, one
 * mapping after another.
 *
 *     | used |  free  | unmapped ...                       |
 *                    --► the mapped part grows; only whole mappings are unmapped
 */
#include "blocks.h"
#include "free_tree.h"

static uint64_t mapping_bytes_of(const struct allocator *allocator, uint32_t pool)
{
    return allocator->pools[pool].is_small ? ALLOCATOR_SMALL_SEGMENT_BYTES
                                           : ALLOCATOR_LARGE_SEGMENT_BYTES;
}

static bool reserve_range(struct allocator *allocator, uint64_t mapping_bytes, uint64_t *address,
                          uint64_t *bytes)
{
    const uint64_t card_bytes = allocator->card_bytes ? allocator->card_bytes : UINT64_C(1) << 40;
    *bytes = (card_bytes + card_bytes / 8 + mapping_bytes - 1) / mapping_bytes * mapping_bytes;
    if (allocator->driver)
        return allocator->driver->reserve(allocator->driver->self, *bytes, address, bytes);
    *address = addresses_take(&allocator->addresses, *bytes);
    return true;
}

static bool map_all(struct allocator *allocator, uint64_t address, uint64_t bytes)
{
    if (allocator->driver)
        return allocator->driver->map(allocator->driver->self, address, bytes);
    return allocator_allows(allocator, allocator->room_bytes, bytes);
}

/* Returns whether the next `bytes` from the beginning of that block are free or unmapped. */
static bool has_room(const struct allocator *allocator, uint32_t block, uint64_t bytes)
{
    uint64_t found_bytes = 0;
    while (found_bytes < bytes && block != ALLOCATOR_NONE &&
           allocator->blocks[block].state != ALLOCATOR_USED) {
        found_bytes += allocator->blocks[block].bytes;
        block = allocator->blocks[block].after;
    }
    return found_bytes >= bytes;
}

static uint32_t find_range(const struct allocator *allocator, uint32_t pool, uint64_t bytes)
{
    uint32_t unmapped = free_tree_first_unmapped(allocator, pool);
    for (; unmapped != ALLOCATOR_NONE; unmapped = free_tree_next(allocator, unmapped)) {
        const uint32_t before = allocator->blocks[unmapped].before;
        const bool is_free =
            before != ALLOCATOR_NONE && allocator->blocks[before].state == ALLOCATOR_FREE;
        const uint32_t first = is_free ? before : unmapped;

        if (has_room(allocator, first, bytes))
            return first;
    }
    return ALLOCATOR_NONE;
}

static int add_range(struct allocator *allocator, uint32_t pool, uint32_t *block, struct err *err)
{
    struct allocator_block born = {.before = ALLOCATOR_NONE,
                                   .after = ALLOCATOR_NONE,
                                   .pool = pool,
                                   .segment_age = allocator->segment_count++,
                                   .state = ALLOCATOR_UNMAPPED,
                                   .is_expandable = true};
    *block = ALLOCATOR_NONE;
    if (!reserve_range(allocator, mapping_bytes_of(allocator, pool), &born.address, &born.bytes))
        return 0;
    *block = allocator_block_new(allocator, &born, err);
    if (*block == ALLOCATOR_NONE)
        return -1;
    free_tree_add(allocator, *block);
    return 0;
}

/* Maps at least `bytes` of an unmapped block. Sets *block to the free block that results, which is
 * joined with its neighbours and in the tree, or to ALLOCATOR_NONE if the driver refuses. */
static int map_block(struct allocator *allocator, uint32_t *block, uint64_t bytes, struct err *err)
{
    const uint32_t mapped = *block;
    const uint64_t mapping_bytes = mapping_bytes_of(allocator, allocator->blocks[mapped].pool);
    uint64_t mapped_bytes = (bytes + mapping_bytes - 1) / mapping_bytes * mapping_bytes;
    if (mapped_bytes > allocator->blocks[mapped].bytes)
        mapped_bytes = allocator->blocks[mapped].bytes;
    *block = ALLOCATOR_NONE;
    if (!map_all(allocator, allocator->blocks[mapped].address, mapped_bytes))
        return 0;
    free_tree_remove(allocator, mapped);
    if (mapped_bytes < allocator->blocks[mapped].bytes) {
        const uint32_t rest = allocator_block_cut(allocator, mapped, mapped_bytes, err);

        if (rest == ALLOCATOR_NONE)
            return -1;
        free_tree_add(allocator, rest);
    }
    allocator->blocks[mapped].state = ALLOCATOR_FREE;
    *block = allocator_block_settle(allocator, mapped);
    allocator_count_reserved(allocator, mapped_bytes);
    return 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int allocator_grow_expandable(struct allocator *allocator, uint32_t pool, uint64_t bytes,
                              uint32_t *block, struct err *err)
{
    uint32_t found = find_range(allocator, pool, bytes);
    *block = ALLOCATOR_NONE;
    if (found == ALLOCATOR_NONE && add_range(allocator, pool, &found, err))
        return -1;
    while (found != ALLOCATOR_NONE && (allocator->blocks[found].state == ALLOCATOR_UNMAPPED ||
                                       allocator->blocks[found].bytes < bytes)) {
        const bool is_free = allocator->blocks[found].state == ALLOCATOR_FREE;
        const uint64_t missing_bytes = bytes - (is_free ? allocator->blocks[found].bytes : 0);

        if (is_free)
            found = allocator->blocks[found].after;
        if (map_block(allocator, &found, smaller(missing_bytes, allocator->blocks[found].bytes),
                      err))
            return -1;
    }
    if (found != ALLOCATOR_NONE)
        free_tree_remove(allocator, found);
    *block = found;
    return 0;
}

/* --- back to the driver --- */

/* Gives back the block's range if nothing of it is mapped. */
static void drop_range_if_unmapped(struct allocator *allocator, uint32_t block)
{
    if (allocator->blocks[block].before != ALLOCATOR_NONE ||
        allocator->blocks[block].after != ALLOCATOR_NONE)
        return;
    allocator_give_addresses(allocator, allocator->blocks[block].address,
                             allocator->blocks[block].bytes);
    free_tree_remove(allocator, block);
    allocator_block_retire(allocator, block);
}

/* Sets *start and *end to the whole mappings inside a block. Mappings are aligned to the
 * beginning of the range. */
static bool whole_mappings(const struct allocator *allocator, uint32_t block, uint64_t *start,
                           uint64_t *end)
{
    const uint64_t mapping_bytes = mapping_bytes_of(allocator, allocator->blocks[block].pool);
    uint32_t first = block;
    while (allocator->blocks[first].before != ALLOCATOR_NONE)
        first = allocator->blocks[first].before;
    const uint64_t base = allocator->blocks[first].address;
    const uint64_t from = allocator->blocks[block].address - base;
    const uint64_t to = from + allocator->blocks[block].bytes;

    *start = base + (from + mapping_bytes - 1) / mapping_bytes * mapping_bytes;
    *end = base + to / mapping_bytes * mapping_bytes;
    return *start < *end;
}

static int unmap_block(struct allocator *allocator, uint32_t block, struct err *err)
{
    uint64_t start, end;
    uint32_t rest;
    if (!whole_mappings(allocator, block, &start, &end))
        return 0;
    free_tree_remove(allocator, block);
    if (start > allocator->blocks[block].address) {
        rest = allocator_block_cut(allocator, block, start - allocator->blocks[block].address, err);
        free_tree_add(allocator, block);
        if (rest == ALLOCATOR_NONE)
            return -1;
        block = rest;
    }
    if (end < allocator->blocks[block].address + allocator->blocks[block].bytes) {
        rest = allocator_block_cut(allocator, block, end - start, err);
        if (rest == ALLOCATOR_NONE)
            return -1;
        free_tree_add(allocator, rest);
    }
    allocator->reserved_bytes -= end - start;
    if (allocator->driver)
        allocator->driver->give(allocator->driver->self, start, end - start);
    allocator->blocks[block].state = ALLOCATOR_UNMAPPED;
    drop_range_if_unmapped(allocator, allocator_block_settle(allocator, block));
    return 0;
}

int allocator_unmap_free(struct allocator *allocator, struct err *err)
{
    for (uint32_t pool = 0; pool < allocator->pool_count; pool++) {
        uint32_t next, block = free_tree_find(allocator, pool, 0);

        for (; block != ALLOCATOR_NONE; block = next) {
            next = free_tree_next(allocator, block);
            if (allocator->blocks[block].is_expandable && !allocator->pools[pool].is_kept &&
                unmap_block(allocator, block, err))
                return -1;
        }
    }
    return 0;
}
