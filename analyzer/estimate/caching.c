/* SPDX-License-Identifier: MIT */
/*
 * The simulated caching allocator. A segment is a chain of blocks by address:
 *
 *     | allocated | free | allocated |   free   |      joined on free, split on alloc
 */
#include "caching.h"

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
    uint32_t before, after; /* neighbours in the segment; after is also the chain of spares */
    uint32_t place;         /* in free_blocks while free */
    bool is_small, is_free;
};

void caching_init(struct caching *caching)
{
    *caching = (struct caching){.spare = NONE};
}

void caching_release(struct caching *caching)
{
    free(caching->blocks);
    free(caching->free_blocks);
    caching_init(caching);
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

static int block_new(struct caching *caching, struct caching_block block, uint32_t *index,
                     struct err *err)
{
    if (caching->spare != NONE) {
        *index = caching->spare;
        caching->spare = caching->blocks[*index].after;
    } else {
        struct caching_block *grown =
            array_grow(caching->blocks, &caching->capacity, caching->count, sizeof *grown, err);
        if (!grown)
            return -1;
        caching->blocks = grown;
        *index = (uint32_t)caching->count++;
    }
    caching->blocks[*index] = block;
    return 0;
}

static void block_retire(struct caching *caching, uint32_t index)
{
    caching->blocks[index].after = caching->spare;
    caching->spare = index;
}

/* --- the free list --- */

static int set_free(struct caching *caching, uint32_t index, struct err *err)
{
    uint32_t *grown = array_grow(caching->free_blocks, &caching->free_capacity, caching->free_count,
                                 sizeof *grown, err);
    if (!grown)
        return -1;
    caching->free_blocks = grown;
    caching->blocks[index].is_free = true;
    caching->blocks[index].place = (uint32_t)caching->free_count;
    grown[caching->free_count++] = index;
    return 0;
}

static void set_used(struct caching *caching, uint32_t index)
{
    uint32_t place = caching->blocks[index].place;
    uint32_t moved = caching->free_blocks[--caching->free_count];
    caching->free_blocks[place] = moved;
    caching->blocks[moved].place = place;
    caching->blocks[index].is_free = false;
}

static uint32_t find_best(const struct caching *caching, uint64_t bytes, bool is_small)
{
    uint32_t best = NONE;
    for (size_t i = 0; i < caching->free_count; i++) {
        const struct caching_block *block = &caching->blocks[caching->free_blocks[i]];
        const struct caching_block *so_far = best == NONE ? NULL : &caching->blocks[best];
        if (block->is_small != is_small || block->bytes < bytes)
            continue;
        if (!so_far || block->bytes < so_far->bytes ||
            (block->bytes == so_far->bytes && block->address < so_far->address))
            best = caching->free_blocks[i];
    }
    return best;
}

/* --- alloc and free --- */

static int segment_new(struct caching *caching, uint64_t bytes, bool is_small, uint32_t *index,
                       struct err *err)
{
    uint64_t size_bytes = segment_bytes(bytes);
    struct caching_block block = {.address = caching->address,
                                  .bytes = size_bytes,
                                  .before = NONE,
                                  .after = NONE,
                                  .is_small = is_small};
    if (block_new(caching, block, index, err) || set_free(caching, *index, err))
        return -1;
    caching->address += size_bytes;
    caching->reserved_bytes += size_bytes;
    return 0;
}

static int split(struct caching *caching, uint32_t index, uint64_t bytes, struct err *err)
{
    struct caching_block block = caching->blocks[index];
    uint64_t rest_bytes = block.bytes - bytes;
    uint32_t rest;
    if (block.is_small ? rest_bytes < ROUND_BYTES : rest_bytes <= SMALL_MOST_BYTES)
        return 0;
    struct caching_block right = {.address = block.address + bytes,
                                  .bytes = rest_bytes,
                                  .before = index,
                                  .after = block.after,
                                  .is_small = block.is_small};
    if (block_new(caching, right, &rest, err))
        return -1;
    if (block.after != NONE)
        caching->blocks[block.after].before = rest;
    caching->blocks[index].after = rest;
    caching->blocks[index].bytes = bytes;
    return set_free(caching, rest, err);
}

int caching_alloc(struct caching *caching, uint64_t bytes, uint32_t *handle, struct err *err)
{
    uint64_t rounded_bytes = round_up(bytes, ROUND_BYTES);
    bool is_small = rounded_bytes <= SMALL_MOST_BYTES;
    *handle = find_best(caching, rounded_bytes, is_small);
    if (*handle == NONE && segment_new(caching, rounded_bytes, is_small, handle, err))
        return -1;
    set_used(caching, *handle);
    if (split(caching, *handle, rounded_bytes, err))
        return -1;
    caching->allocated_bytes += caching->blocks[*handle].bytes;
    if (caching->allocated_bytes > caching->peak_allocated_bytes)
        caching->peak_allocated_bytes = caching->allocated_bytes;
    return 0;
}

/* left and the free block after it become one; left keeps its index. */
static void join(struct caching *caching, uint32_t left, uint32_t right)
{
    uint32_t after = caching->blocks[right].after;
    caching->blocks[left].bytes += caching->blocks[right].bytes;
    caching->blocks[left].after = after;
    if (after != NONE)
        caching->blocks[after].before = left;
    block_retire(caching, right);
}

int caching_free(struct caching *caching, uint32_t handle, struct err *err)
{
    uint32_t after = caching->blocks[handle].after, before = caching->blocks[handle].before;
    caching->allocated_bytes -= caching->blocks[handle].bytes;
    if (after != NONE && caching->blocks[after].is_free) {
        set_used(caching, after);
        join(caching, handle, after);
    }
    if (before != NONE && caching->blocks[before].is_free) {
        join(caching, before, handle);
        return 0;
    }
    return set_free(caching, handle, err);
}
