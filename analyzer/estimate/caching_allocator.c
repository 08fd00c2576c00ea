/* SPDX-License-Identifier: MIT */
/*
 * The simulated caching allocator. A segment is a chain of blocks by address:
 *
 *     | allocated | free | allocated |   free   |      joined on free, split on alloc
 */
#include "caching_allocator.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/util/array.h"

#define ROUND_BYTES UINT64_C(512)
#define SMALL_MOST_BYTES (UINT64_C(1) << 20)
#define SMALL_SEGMENT_BYTES (UINT64_C(2) << 20)
#define MEDIUM_LIMIT_BYTES (UINT64_C(10) << 20)
#define MEDIUM_SEGMENT_BYTES (UINT64_C(20) << 20)
#define LARGE_ROUND_BYTES (UINT64_C(2) << 20)
#define NONE UINT32_MAX

struct caching_block {
    uint64_t address, bytes;
    uint32_t before, after; /* neighbours in the segment; after also links unused entries */
    uint32_t position;      /* in free_blocks while free */
    bool is_small, is_free;
};

void caching_allocator_init(struct caching_allocator *allocator)
{
    *allocator = (struct caching_allocator){.spare = NONE};
}

void caching_allocator_release(struct caching_allocator *allocator)
{
    free(allocator->blocks);
    free(allocator->free_blocks);
    caching_allocator_init(allocator);
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static uint64_t segment_bytes(uint64_t bytes)
{
    if (bytes <= SMALL_MOST_BYTES)
        return SMALL_SEGMENT_BYTES;
    if (bytes < MEDIUM_LIMIT_BYTES)
        return MEDIUM_SEGMENT_BYTES;
    return round_up(bytes, LARGE_ROUND_BYTES);
}

static int block_new(struct caching_allocator *allocator, struct caching_block block,
                     uint32_t *index, struct err *err)
{
    if (allocator->spare != NONE) {
        *index = allocator->spare;
        allocator->spare = allocator->blocks[*index].after;
    } else {
        struct caching_block *grown = array_grow(allocator->blocks, &allocator->capacity,
                                                 allocator->count, sizeof *grown, err);
        if (!grown)
            return -1;
        allocator->blocks = grown;
        *index = (uint32_t)allocator->count++;
    }
    allocator->blocks[*index] = block;
    return 0;
}

static void block_retire(struct caching_allocator *allocator, uint32_t index)
{
    allocator->blocks[index].after = allocator->spare;
    allocator->spare = index;
}

/* --- the free list --- */

static int set_free(struct caching_allocator *allocator, uint32_t index, struct err *err)
{
    uint32_t *grown = array_grow(allocator->free_blocks, &allocator->free_capacity,
                                 allocator->free_count, sizeof *grown, err);
    if (!grown)
        return -1;
    allocator->free_blocks = grown;
    allocator->blocks[index].is_free = true;
    allocator->blocks[index].position = (uint32_t)allocator->free_count;
    grown[allocator->free_count++] = index;
    return 0;
}

static void set_used(struct caching_allocator *allocator, uint32_t index)
{
    uint32_t position = allocator->blocks[index].position;
    uint32_t moved = allocator->free_blocks[--allocator->free_count];
    allocator->free_blocks[position] = moved;
    allocator->blocks[moved].position = position;
    allocator->blocks[index].is_free = false;
}

static uint32_t find_best_free(const struct caching_allocator *allocator, uint64_t bytes,
                               bool is_small)
{
    uint32_t best = NONE;
    for (size_t i = 0; i < allocator->free_count; i++) {
        const struct caching_block *block = &allocator->blocks[allocator->free_blocks[i]];
        const struct caching_block *so_far = best == NONE ? NULL : &allocator->blocks[best];
        if (block->is_small != is_small || block->bytes < bytes)
            continue;
        if (!so_far || block->bytes < so_far->bytes ||
            (block->bytes == so_far->bytes && block->address < so_far->address))
            best = allocator->free_blocks[i];
    }
    return best;
}

/* --- alloc and free --- */

static int segment_new(struct caching_allocator *allocator, uint64_t bytes, bool is_small,
                       uint32_t *index, struct err *err)
{
    uint64_t size_bytes = segment_bytes(bytes);
    struct caching_block block = {.address = allocator->address,
                                  .bytes = size_bytes,
                                  .before = NONE,
                                  .after = NONE,
                                  .is_small = is_small};
    if (block_new(allocator, block, index, err) || set_free(allocator, *index, err))
        return -1;
    allocator->address += size_bytes;
    allocator->reserved_bytes += size_bytes;
    return 0;
}

static int split_block(struct caching_allocator *allocator, uint32_t index, uint64_t bytes,
                       struct err *err)
{
    struct caching_block block = allocator->blocks[index];
    uint64_t rest_bytes = block.bytes - bytes;
    uint32_t rest;
    if (block.is_small ? rest_bytes < ROUND_BYTES : rest_bytes <= SMALL_MOST_BYTES)
        return 0;
    struct caching_block right = {.address = block.address + bytes,
                                  .bytes = rest_bytes,
                                  .before = index,
                                  .after = block.after,
                                  .is_small = block.is_small};
    if (block_new(allocator, right, &rest, err))
        return -1;
    if (block.after != NONE)
        allocator->blocks[block.after].before = rest;
    allocator->blocks[index].after = rest;
    allocator->blocks[index].bytes = bytes;
    return set_free(allocator, rest, err);
}

int caching_allocator_alloc(struct caching_allocator *allocator, uint64_t bytes, uint32_t *handle,
                            struct err *err)
{
    uint64_t rounded_bytes = round_up(bytes, ROUND_BYTES);
    bool is_small = rounded_bytes <= SMALL_MOST_BYTES;
    *handle = find_best_free(allocator, rounded_bytes, is_small);
    if (*handle == NONE && segment_new(allocator, rounded_bytes, is_small, handle, err))
        return -1;
    set_used(allocator, *handle);
    if (split_block(allocator, *handle, rounded_bytes, err))
        return -1;
    allocator->allocated_bytes += allocator->blocks[*handle].bytes;
    if (allocator->allocated_bytes > allocator->peak_allocated_bytes)
        allocator->peak_allocated_bytes = allocator->allocated_bytes;
    return 0;
}

/* left and the free block after it become one; left keeps its index. */
static void join_blocks(struct caching_allocator *allocator, uint32_t left, uint32_t right)
{
    uint32_t after = allocator->blocks[right].after;
    allocator->blocks[left].bytes += allocator->blocks[right].bytes;
    allocator->blocks[left].after = after;
    if (after != NONE)
        allocator->blocks[after].before = left;
    block_retire(allocator, right);
}

int caching_allocator_free(struct caching_allocator *allocator, uint32_t handle, struct err *err)
{
    uint32_t after = allocator->blocks[handle].after, before = allocator->blocks[handle].before;
    allocator->allocated_bytes -= allocator->blocks[handle].bytes;
    if (after != NONE && allocator->blocks[after].is_free) {
        set_used(allocator, after);
        join_blocks(allocator, handle, after);
    }
    if (before != NONE && allocator->blocks[before].is_free) {
        join_blocks(allocator, before, handle);
        return 0;
    }
    return set_free(allocator, handle, err);
}
