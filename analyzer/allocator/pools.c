/* SPDX-License-Identifier: MIT */
/* The pools of a model: those that all requests share, and private ones of graphs; see blocks.h. */
#include "allocator.h"
#include "analyzer/util/array.h"
#include "blocks.h"
#include "free_tree.h"

/* The owner of a pool whose graphs are gone. Such a pool serves no request. */
#define OWNER_GONE (ALLOCATOR_OF_ALL - 1)

static bool is_pool(const struct allocator_pool *pool, const struct allocator_request *request)
{
    return pool->stream == request->stream && pool->owner == request->owner &&
           pool->is_small == (request->bytes <= ALLOCATOR_SMALL_MOST_BYTES);
}

/* The search is linear, because programs have few streams and few private pools at once. */
uint32_t allocator_known_pool(const struct allocator *allocator,
                              const struct allocator_request *request)
{
    for (size_t i = 0; i < allocator->pool_count; i++)
        if (is_pool(&allocator->pools[i], request))
            return (uint32_t)i;
    return ALLOCATOR_NONE;
}

/* Returns the index of an unused entry, or of the entry after the last one if all are in use. */
static size_t unused_pool(const struct allocator *allocator)
{
    size_t i = 0;
    while (i < allocator->pool_count &&
           (allocator->pools[i].owner != OWNER_GONE || allocator->pools[i].block_count))
        i++;
    return i;
}

uint32_t allocator_find_pool(struct allocator *allocator, const struct allocator_request *request,
                             struct err *err)
{
    const uint32_t known = allocator_known_pool(allocator, request);
    if (known != ALLOCATOR_NONE)
        return known;
    const size_t number = unused_pool(allocator);
    if (ARRAY_GROW(allocator->pools, allocator->pool_capacity, number, err))
        return ALLOCATOR_NONE;
    const bool is_new = number == allocator->pool_count;
    struct free_trees *trees = is_new ? free_trees_new(err) : allocator->pools[number].trees;
    if (!trees)
        return ALLOCATOR_NONE;
    allocator->pool_count += is_new;
    allocator->pools[number] =
        (struct allocator_pool){.trees = trees,
                                .stream = request->stream,
                                .owner = request->owner,
                                .is_small = request->bytes <= ALLOCATOR_SMALL_MOST_BYTES,
                                .is_kept = request->owner != ALLOCATOR_OF_ALL};
    return (uint32_t)number;
}

/* --- private pools --- */

/* Returns whether an expandable range of the pool could grow from that address on. */
static bool grows_at(const struct allocator *allocator, uint32_t pool, uint64_t address)
{
    const struct allocator_block *blocks = allocator->blocks;
    uint32_t block = free_tree_first_unmapped(allocator, pool);
    for (; block != ALLOCATOR_NONE; block = free_tree_next(allocator, block)) {
        const uint32_t before = blocks[block].before;
        const bool is_free = before != ALLOCATOR_NONE && blocks[before].state == ALLOCATOR_FREE;

        if (blocks[is_free ? before : block].address == address)
            return true;
    }
    return false;
}

static bool could_serve_at(const struct allocator *allocator,
                           const struct allocator_request *request, uint64_t address)
{
    const uint32_t pool = allocator_known_pool(allocator, request);
    const uint32_t found = allocator_find(allocator, request);
    if (found != ALLOCATOR_NONE)
        return allocator->blocks[found].address == address;
    return pool != ALLOCATOR_NONE && grows_at(allocator, pool, address);
}

uint32_t allocator_owner_at(const struct allocator *allocator,
                            const struct allocator_request *request, uint64_t address)
{
    struct allocator_request other = *request;
    if (could_serve_at(allocator, request, address))
        return request->owner;
    for (size_t i = 0; i < allocator->pool_count; i++) {
        other.owner = allocator->pools[i].owner;
        if (other.owner != request->owner && other.owner != OWNER_GONE &&
            could_serve_at(allocator, &other, address))
            return other.owner;
    }
    return request->owner;
}

static void move_blocks(struct allocator *allocator, uint32_t from, uint32_t to)
{
    struct allocator_pool *emptied = &allocator->pools[from];
    for (size_t i = 0; i < allocator->block_count; i++)
        if (allocator->blocks[i].pool == from)
            allocator->blocks[i].pool = to;
    allocator->pools[to].block_count += emptied->block_count;
    *emptied = (struct allocator_pool){.trees = emptied->trees, .owner = OWNER_GONE};
}

void allocator_join_owners(struct allocator *allocator, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < allocator->pool_count; i++) {
        struct allocator_pool *pool = &allocator->pools[i];
        const struct allocator_request like = {
            .stream = pool->stream, .owner = to, .bytes = pool->is_small ? 0 : UINT64_MAX};
        const uint32_t other = allocator_known_pool(allocator, &like);

        if (pool->owner != from)
            continue;
        if (other == ALLOCATOR_NONE)
            pool->owner = to;
        else
            move_blocks(allocator, (uint32_t)i, other);
    }
    free_tree_rebuild(allocator);
}

void allocator_let_go(struct allocator *allocator, uint32_t owner)
{
    for (size_t i = 0; i < allocator->pool_count; i++)
        if (allocator->pools[i].owner == owner) {
            allocator->pools[i].owner = OWNER_GONE;
            allocator->pools[i].is_kept = false;
        }
}
