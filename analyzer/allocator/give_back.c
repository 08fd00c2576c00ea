/* SPDX-License-Identifier: MIT */
/* Gives memory back to the driver; see blocks.h. */
#include "allocator.h"
#include "blocks.h"
#include "free_tree.h"

/* Returns whether the block is free and is the whole of a plain segment. */
static bool is_whole_segment(const struct allocator_block *block)
{
    return block->state == ALLOCATOR_FREE && block->before == ALLOCATOR_NONE &&
           block->after == ALLOCATOR_NONE && !block->is_expandable;
}

static void give_back(struct allocator *allocator, uint32_t block)
{
    const struct allocator_block *segment = &allocator->blocks[block];
    allocator->reserved_bytes -= segment->bytes;
    if (allocator->driver)
        allocator->driver->give(allocator->driver->self, segment->address, segment->bytes);
    allocator_give_addresses(allocator, segment->address, segment->bytes);
    free_tree_remove(allocator, block);
    allocator_block_retire(allocator, block);
}

bool allocator_forget_segment(struct allocator *allocator, uint32_t block)
{
    if (!is_whole_segment(&allocator->blocks[block]))
        return false;
    give_back(allocator, block);
    return true;
}

int allocator_empty_cache(struct allocator *allocator, struct err *err)
{
    for (uint32_t pool = 0; pool < allocator->pool_count; pool++) {
        uint32_t next, block = free_tree_find(allocator, pool, 0);

        for (; block != ALLOCATOR_NONE; block = next) {
            next = free_tree_next(allocator, block);
            if (is_whole_segment(&allocator->blocks[block]) && !allocator->pools[pool].is_kept)
                give_back(allocator, block);
        }
    }
    return allocator_unmap_free(allocator, err);
}

uint64_t allocator_cached_bytes(const struct allocator *allocator)
{
    uint64_t bytes = 0;
    for (uint32_t pool = 0; pool < allocator->pool_count; pool++) {
        uint32_t block =
            allocator->pools[pool].is_kept ? ALLOCATOR_NONE : free_tree_find(allocator, pool, 0);

        for (; block != ALLOCATOR_NONE; block = free_tree_next(allocator, block))
            if (is_whole_segment(&allocator->blocks[block]))
                bytes += allocator->blocks[block].bytes;
    }
    return bytes;
}

/* --- blocks above max_split --- */

/* Gives back the smallest block that is large enough. If none is, gives back the largest blocks
 * until their sum is enough. */
bool allocator_give_back_oversized(struct allocator *allocator, uint32_t pool, uint64_t bytes)
{
    const uint64_t max_split_bytes = allocator->settings.max_split_bytes;
    const uint64_t wanted_bytes = bytes > max_split_bytes ? bytes : max_split_bytes;
    uint64_t given_bytes = 0;
    uint32_t block, before;
    if (max_split_bytes == ALLOCATOR_UNLIMITED || allocator->pools[pool].is_small)
        return false;
    block = free_tree_find(allocator, pool, wanted_bytes);
    if (block != ALLOCATOR_NONE) {
        give_back(allocator, block);
        return true;
    }
    for (block = free_tree_last(allocator, pool); block != ALLOCATOR_NONE; block = before) {
        const uint64_t size_bytes = allocator->blocks[block].bytes;

        before = free_tree_previous(allocator, block);
        if (given_bytes >= wanted_bytes || size_bytes < max_split_bytes)
            break;
        given_bytes += size_bytes;
        give_back(allocator, block);
    }
    return given_bytes >= wanted_bytes;
}

/* --- garbage --- */

struct garbage {
    uint64_t age_sum, count;
};

static bool is_garbage(const struct allocator *allocator, const struct allocator_block *block)
{
    const struct allocator_pool *pool = &allocator->pools[block->pool];
    return !pool->is_small && pool->owner == ALLOCATOR_OF_ALL && is_whole_segment(block);
}

static struct garbage weigh_garbage(const struct allocator *allocator)
{
    struct garbage found = {0};
    for (uint32_t pool = 0; pool < allocator->pool_count; pool++) {
        uint32_t block = free_tree_find(allocator, pool, 0);

        for (; block != ALLOCATOR_NONE; block = free_tree_next(allocator, block))
            if (is_garbage(allocator, &allocator->blocks[block])) {
                found.age_sum += allocator->search_count - allocator->blocks[block].born;
                found.count++;
            }
    }
    return found;
}

/* Gives back garbage that has been free for at least `age` searches. Returns the number of
 * bytes given back. */
static uint64_t give_back_older(struct allocator *allocator, double age, struct garbage *left)
{
    uint64_t given_bytes = 0;
    for (uint32_t pool = 0; pool < allocator->pool_count; pool++) {
        uint32_t next, block = free_tree_find(allocator, pool, 0);

        for (; block != ALLOCATOR_NONE; block = next) {
            const uint64_t own_age = allocator->search_count - allocator->blocks[block].born;

            next = free_tree_next(allocator, block);
            if (!is_garbage(allocator, &allocator->blocks[block]) || (double)own_age < age)
                continue;
            left->age_sum -= own_age;
            left->count--;
            given_bytes += allocator->blocks[block].bytes;
            give_back(allocator, block);
        }
    }
    return given_bytes;
}

void allocator_collect_garbage(struct allocator *allocator)
{
    const struct allocator_settings *settings = &allocator->settings;
    uint64_t given_bytes = 0;
    if (settings->fraction_bytes == ALLOCATOR_UNLIMITED || settings->garbage_threshold <= 0)
        return;
    const uint64_t threshold_bytes =
        (uint64_t)(settings->garbage_threshold * (double)settings->fraction_bytes);
    if (allocator->reserved_bytes <= threshold_bytes)
        return;
    const uint64_t wanted_bytes = allocator->reserved_bytes - threshold_bytes;
    struct garbage left = weigh_garbage(allocator);
    while (left.count && given_bytes < wanted_bytes) {
        const uint64_t more_bytes =
            give_back_older(allocator, (double)left.age_sum / (double)left.count, &left);

        given_bytes += more_bytes;
        if (!more_bytes)
            break;
    }
}

/* --- holes --- */

struct allocator_holes allocator_holes(const struct allocator *allocator)
{
    struct allocator_holes holes = {.free_bytes =
                                        allocator->reserved_bytes - allocator->allocated_bytes};
    for (uint32_t pool = 0; pool < allocator->pool_count; pool++) {
        uint32_t block = free_tree_find(allocator, pool, 0);

        for (; block != ALLOCATOR_NONE; block = free_tree_next(allocator, block)) {
            const struct allocator_block *free_block = &allocator->blocks[block];

            if (free_block->bytes > holes.largest_bytes)
                holes.largest_bytes = free_block->bytes;
            if (!is_whole_segment(free_block) && !free_block->is_expandable)
                holes.stranded_bytes += free_block->bytes;
        }
    }
    return holes;
}
