/* SPDX-License-Identifier: MIT */
/*
 * The model of the caching allocator. A segment is a chain of blocks in the order of addresses:
 *
 *     | used | free | used |   free   | unmapped |      a free joins blocks, an alloc splits one
 *
 * The first block of a segment keeps its number as long as the segment exists.
 */
#include "allocator.h"

#include <stdlib.h>

#include "blocks.h"
#include "free_tree.h"

struct allocator_settings allocator_default_settings(void)
{
    return (struct allocator_settings){.max_split_bytes = ALLOCATOR_UNLIMITED,
                                       .max_rest_bytes = ALLOCATOR_LARGE_SEGMENT_BYTES,
                                       .fraction_bytes = ALLOCATOR_UNLIMITED};
}

void allocator_init(struct allocator *allocator, const struct allocator_settings *settings)
{
    *allocator = (struct allocator){.settings = *settings,
                                    .room_bytes = ALLOCATOR_UNLIMITED,
                                    .unused = ALLOCATOR_NONE,
                                    .addresses.next_address = ALLOCATOR_LARGE_SEGMENT_BYTES};
}

void allocator_release(struct allocator *allocator)
{
    for (size_t i = 0; i < allocator->pool_count; i++)
        free(allocator->pools[i].trees);
    free(allocator->blocks);
    free(allocator->pools);
    addresses_release(&allocator->addresses);
    *allocator = (struct allocator){.unused = ALLOCATOR_NONE};
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

uint64_t allocator_segment_bytes(uint64_t bytes)
{
    if (bytes <= ALLOCATOR_SMALL_MOST_BYTES)
        return ALLOCATOR_SMALL_SEGMENT_BYTES;
    if (bytes < ALLOCATOR_LARGE_LIMIT_BYTES)
        return ALLOCATOR_LARGE_SEGMENT_BYTES;
    return round_up(bytes, ALLOCATOR_GRANULE_BYTES);
}

/* --- choice --- */

static uint64_t expandable_bytes(const struct allocator *allocator, uint32_t block)
{
    const uint32_t after = allocator->blocks[block].after;
    const bool grows =
        after != ALLOCATOR_NONE && allocator->blocks[after].state == ALLOCATOR_UNMAPPED;
    return allocator->blocks[block].bytes + (grows ? allocator->blocks[after].bytes : 0);
}

/* Prefers a block in a range with less room to grow, even if the block is larger, because the block
 * at the end of a range can grow. */
static uint32_t fit_expandable(const struct allocator *allocator, uint32_t block)
{
    uint32_t next = free_tree_next(allocator, block);
    while (allocator->blocks[block].is_expandable && next != ALLOCATOR_NONE &&
           expandable_bytes(allocator, next) < expandable_bytes(allocator, block)) {
        block = next;
        next = free_tree_next(allocator, block);
    }
    return block;
}

static uint32_t choose_block(const struct allocator *allocator, uint32_t pool, uint64_t bytes)
{
    const struct allocator_settings *settings = &allocator->settings;
    uint32_t block = free_tree_find(allocator, pool, bytes);
    if (block == ALLOCATOR_NONE)
        return ALLOCATOR_NONE;
    if (allocator->blocks[block].is_expandable)
        block = fit_expandable(allocator, block);
    const uint64_t found_bytes = allocator->blocks[block].bytes;
    if (bytes < settings->max_split_bytes && found_bytes >= settings->max_split_bytes)
        return ALLOCATOR_NONE;
    if (bytes >= settings->max_split_bytes && found_bytes >= bytes + settings->max_rest_bytes)
        return ALLOCATOR_NONE;
    return block;
}

static struct allocator_request rounded(const struct allocator_request *request)
{
    struct allocator_request rounded = *request;
    rounded.bytes = round_up(request->bytes, ALLOCATOR_ROUND_BYTES);
    return rounded;
}

uint32_t allocator_find(const struct allocator *allocator, const struct allocator_request *request)
{
    const struct allocator_request own = rounded(request);
    const uint32_t pool = allocator_known_pool(allocator, &own);
    return pool == ALLOCATOR_NONE ? ALLOCATOR_NONE : choose_block(allocator, pool, own.bytes);
}

void allocator_prefer_oldest(struct allocator *allocator, bool prefers_oldest)
{
    allocator->settings.prefers_oldest = prefers_oldest;
    free_tree_rebuild(allocator);
}

/* --- growth --- */

static bool take_segment(struct allocator *allocator, uint64_t bytes, uint64_t *address)
{
    if (allocator->driver)
        return allocator->driver->take(allocator->driver->self, bytes, address);
    if (!allocator_allows(allocator, allocator->room_bytes, bytes))
        return false;
    *address = addresses_take(&allocator->addresses, round_up(bytes, ALLOCATOR_GRANULE_BYTES));
    return true;
}

/* Adds a new free block, which is in no tree. The memory fraction must allow a whole segment, even
 * if an expandable range grows by less than that. */
static int grow_pool(struct allocator *allocator, uint32_t pool, uint64_t bytes, uint32_t *block,
                     struct err *err)
{
    const uint64_t new_bytes =
        allocator->settings.no_caching ? bytes : allocator_segment_bytes(bytes);
    struct allocator_block born = {
        .bytes = new_bytes, .before = ALLOCATOR_NONE, .after = ALLOCATOR_NONE, .pool = pool};
    *block = ALLOCATOR_NONE;
    if (!allocator_allows(allocator, allocator->settings.fraction_bytes, new_bytes))
        return 0;
    if (allocator->settings.expandable_segments)
        return allocator_grow_expandable(allocator, pool, bytes, block, err);
    if (!take_segment(allocator, new_bytes, &born.address))
        return 0;
    born.segment_age = allocator->segment_count++;
    *block = allocator_block_new(allocator, &born, err);
    if (*block == ALLOCATOR_NONE)
        return -1;
    allocator_count_reserved(allocator, new_bytes);
    return 0;
}

static int grow_or_retry(struct allocator *allocator, uint32_t pool,
                         const struct allocator_request *request, uint32_t *block,
                         enum allocator_outcome *outcome, struct err *err)
{
    const uint64_t bytes = request->bytes;
    *outcome = ALLOCATOR_GREW;
    allocator_collect_garbage(allocator);
    if (grow_pool(allocator, pool, bytes, block, err))
        return -1;
    if (*block != ALLOCATOR_NONE)
        return 0;
    *outcome = ALLOCATOR_RETRIED;
    if (allocator_give_back_oversized(allocator, pool, bytes) &&
        grow_pool(allocator, pool, bytes, block, err))
        return -1;
    if (*block == ALLOCATOR_NONE && !request->is_capturing &&
        (allocator_empty_cache(allocator, err) || grow_pool(allocator, pool, bytes, block, err)))
        return -1;
    if (*block == ALLOCATOR_NONE)
        *outcome = ALLOCATOR_REFUSED;
    else
        allocator->retry_count++;
    return 0;
}

/* --- alloc and free --- */

static bool should_cut(const struct allocator *allocator, uint64_t block_bytes, uint64_t bytes)
{
    const uint64_t rest_bytes = block_bytes - bytes;
    if (bytes <= ALLOCATOR_SMALL_MOST_BYTES || allocator->settings.expandable_segments)
        return rest_bytes >= ALLOCATOR_ROUND_BYTES;
    return bytes < allocator->settings.max_split_bytes && rest_bytes > ALLOCATOR_SMALL_MOST_BYTES;
}

uint64_t allocator_would_give(const struct allocator *allocator,
                              const struct allocator_request *request)
{
    const uint64_t bytes = rounded(request).bytes;
    const uint32_t found = allocator_find(allocator, request);
    const uint64_t block_bytes =
        found == ALLOCATOR_NONE ? allocator_segment_bytes(bytes) : allocator->blocks[found].bytes;
    return should_cut(allocator, block_bytes, bytes) ? bytes : block_bytes;
}

static int use_block(struct allocator *allocator, uint32_t block, uint64_t bytes, struct err *err)
{
    if (should_cut(allocator, allocator->blocks[block].bytes, bytes)) {
        const uint32_t rest = allocator_block_cut(allocator, block, bytes, err);

        if (rest == ALLOCATOR_NONE)
            return -1;
        allocator->blocks[rest].born = allocator->search_count;
        free_tree_add(allocator, rest);
    }
    allocator->blocks[block].state = ALLOCATOR_USED;
    allocator->allocated_bytes += allocator->blocks[block].bytes;
    if (allocator->allocated_bytes > allocator->peak_allocated_bytes)
        allocator->peak_allocated_bytes = allocator->allocated_bytes;
    return 0;
}

static int alloc_uncached(struct allocator *allocator, uint32_t pool, uint64_t bytes,
                          uint32_t *block, enum allocator_outcome *outcome, struct err *err)
{
    if (grow_pool(allocator, pool, bytes, block, err))
        return -1;
    *outcome = *block == ALLOCATOR_NONE ? ALLOCATOR_REFUSED : ALLOCATOR_GREW;
    return *block == ALLOCATOR_NONE ? 0 : use_block(allocator, *block, bytes, err);
}

int allocator_alloc(struct allocator *allocator, const struct allocator_request *request,
                    uint32_t *block, enum allocator_outcome *outcome, struct err *err)
{
    const struct allocator_request own = rounded(request);
    const uint32_t pool = allocator_find_pool(allocator, &own, err);
    if (pool == ALLOCATOR_NONE)
        return -1;
    if (own.owner == ALLOCATOR_OF_ALL && !allocator->pools[pool].is_small)
        allocator->search_count++;
    if (allocator->settings.no_caching)
        return alloc_uncached(allocator, pool, own.bytes, block, outcome, err);
    *outcome = ALLOCATOR_REUSED;
    *block = choose_block(allocator, pool, own.bytes);
    if (*block != ALLOCATOR_NONE)
        free_tree_remove(allocator, *block);
    else if (grow_or_retry(allocator, pool, &own, block, outcome, err))
        return -1;
    return *block == ALLOCATOR_NONE ? 0 : use_block(allocator, *block, own.bytes, err);
}

int allocator_free(struct allocator *allocator, uint32_t block, struct err *err)
{
    (void)err;
    allocator->allocated_bytes -= allocator->blocks[block].bytes;
    allocator->blocks[block].state = ALLOCATOR_FREE;
    block = allocator_block_settle(allocator, block);
    if (allocator->settings.no_caching)
        allocator_forget_segment(allocator, block);
    return 0;
}
