/* SPDX-License-Identifier: MIT */
/* The blocks of a model; see blocks.h. */
#include "blocks.h"

#include "free_tree.h"
#include "analyzer/util/array.h"

uint32_t allocator_block_new(struct allocator *allocator, const struct allocator_block *block,
                             struct err *err)
{
    uint32_t number = allocator->unused;
    if (number != ALLOCATOR_NONE) {
        allocator->unused = allocator->blocks[number].left;
    } else {
        if (ARRAY_GROW(allocator->blocks, allocator->block_capacity, allocator->block_count, err))
            return ALLOCATOR_NONE;
        number = (uint32_t)allocator->block_count++;
    }
    allocator->blocks[number] = *block;
    allocator->pools[block->pool].block_count++;
    return number;
}

void allocator_block_retire(struct allocator *allocator, uint32_t block)
{
    allocator->pools[allocator->blocks[block].pool].block_count--;
    allocator->blocks[block] =
        (struct allocator_block){.left = allocator->unused, .state = ALLOCATOR_USED};
    allocator->unused = block;
}

uint32_t allocator_block_cut(struct allocator *allocator, uint32_t block, uint64_t bytes,
                             struct err *err)
{
    struct allocator_block right = allocator->blocks[block];
    right.address += bytes;
    right.bytes -= bytes;
    right.before = block;
    const uint32_t number = allocator_block_new(allocator, &right, err);
    if (number == ALLOCATOR_NONE)
        return ALLOCATOR_NONE;
    if (right.after != ALLOCATOR_NONE)
        allocator->blocks[right.after].before = number;
    allocator->blocks[block].after = number;
    allocator->blocks[block].bytes = bytes;
    return number;
}

/* Joins the right block into the left one, which keeps its number. Neither is in a tree. */
static void join_blocks(struct allocator *allocator, uint32_t left, uint32_t right)
{
    const uint32_t after = allocator->blocks[right].after;
    allocator->blocks[left].bytes += allocator->blocks[right].bytes;
    allocator->blocks[left].after = after;
    if (after != ALLOCATOR_NONE)
        allocator->blocks[after].before = left;
    allocator_block_retire(allocator, right);
}

uint32_t allocator_block_settle(struct allocator *allocator, uint32_t block)
{
    const uint8_t state = allocator->blocks[block].state;
    const uint32_t after = allocator->blocks[block].after, before = allocator->blocks[block].before;
    if (after != ALLOCATOR_NONE && allocator->blocks[after].state == state) {
        free_tree_remove(allocator, after);
        join_blocks(allocator, block, after);
    }
    if (before != ALLOCATOR_NONE && allocator->blocks[before].state == state) {
        free_tree_remove(allocator, before);
        join_blocks(allocator, before, block);
        block = before;
    }
    allocator->blocks[block].born = allocator->search_count;
    free_tree_add(allocator, block);
    return block;
}

void allocator_give_addresses(struct allocator *allocator, uint64_t address, uint64_t bytes)
{
    /* Without a cache, no free block is ever chosen, so addresses need not be handed out again. */
    if (allocator->driver || allocator->settings.no_caching)
        return;
    bytes = (bytes + ALLOCATOR_GRANULE_BYTES - 1) / ALLOCATOR_GRANULE_BYTES;
    addresses_give(&allocator->addresses, address, bytes * ALLOCATOR_GRANULE_BYTES);
}

bool allocator_allows(const struct allocator *allocator, uint64_t limit_bytes, uint64_t bytes)
{
    if (limit_bytes == ALLOCATOR_UNLIMITED)
        return true;
    return bytes <= limit_bytes && allocator->reserved_bytes <= limit_bytes - bytes;
}

void allocator_count_reserved(struct allocator *allocator, uint64_t bytes)
{
    allocator->reserved_bytes += bytes;
    if (allocator->reserved_bytes > allocator->peak_reserved_bytes)
        allocator->peak_reserved_bytes = allocator->reserved_bytes;
}
