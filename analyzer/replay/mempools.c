/* SPDX-License-Identifier: MIT */
/*
 * The driver's stream-ordered pools and its pool for graphs, as they report themselves and as
 * blocks are handed out of them. It must not know how blocks are summed.
 */
#include "replay.h"

#include "analyzer/util/array.h"

static uint32_t add_mempool(struct replay *replay, uint32_t space, uint64_t key, unsigned memory)
{
    struct history *history = replay->history;
    uint32_t number = (uint32_t)history->mempool_count;
    struct mempool *grown;

    grown = array_grow(history->mempools, &history->mempool_capacity, history->mempool_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return HISTORY_NONE;
    history->mempools = grown;
    if (address_map_put(&replay->names, space, key, number, replay->err))
        return HISTORY_NONE;
    grown[history->mempool_count++] = (struct mempool){.device = replay->event->device,
                                                       .handle = replay->event->object,
                                                       .memory = (uint8_t)memory};
    return number;
}

uint32_t replay_mempool(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t number = address_map_get(&replay->names, NAME_MEMPOOL, event->object);

    if (number != ADDRESS_MAP_NONE)
        return number;
    return add_mempool(replay, NAME_MEMPOOL, event->object, MEMORY_ASYNC);
}

int replay_pool_create(struct replay *replay)
{
    const struct event *event = replay->event;
    const struct memory_rule *rule = &replay_rules[event->memory];
    bool is_pooled = rule->space == SPACE_DEVICE && !rule->is_bound;

    if (event->result != 0)
        return 0;
    /* The handle may have been that of a pool that is gone. */
    return add_mempool(replay, NAME_MEMPOOL, event->object,
                       is_pooled ? event->memory : MEMORY_ASYNC) == HISTORY_NONE
               ? -1
               : 0;
}

void replay_mempool_count(struct replay *replay, const struct block *block, bool birth)
{
    struct mempool *mempool;

    if (block->mempool == HISTORY_NONE)
        return;
    mempool = &replay->history->mempools[block->mempool];
    mempool->live_bytes += birth ? block->size_bytes : -block->size_bytes;
    if (mempool->live_bytes > mempool->peak_live_bytes)
        mempool->peak_live_bytes = mempool->live_bytes;
}

static int add_usage(struct replay *replay, uint32_t number, uint64_t used_bytes,
                     uint64_t reserved_bytes)
{
    struct history *history = replay->history;
    struct mempool *mempool = &history->mempools[number];
    struct pool_usage *grown;

    if (used_bytes > mempool->peak_used_bytes)
        mempool->peak_used_bytes = used_bytes;
    if (reserved_bytes > mempool->peak_reserved_bytes)
        mempool->peak_reserved_bytes = reserved_bytes;
    grown = array_grow(history->usages, &history->usage_capacity, history->usage_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return -1;
    history->usages = grown;
    grown[history->usage_count++] = (struct pool_usage){.event = replay->index,
                                                        .mempool = number,
                                                        .used_bytes = used_bytes,
                                                        .reserved_bytes = reserved_bytes};
    return 0;
}

/* What is still handed out of it is freed as ever; what it kept besides goes back to the device. */
int replay_pool_destroy(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t number;

    if (event->result != 0)
        return 0;
    number = address_map_remove(&replay->names, NAME_MEMPOOL, event->object);
    if (number == ADDRESS_MAP_NONE || !replay->history->mempools[number].reported)
        return 0;
    return add_usage(replay, number, replay->history->mempools[number].live_bytes, 0);
}

/* --- the pool for graphs: one block for each device, as large as what the pool holds --- */

static uint32_t graph_pool(struct replay *replay)
{
    uint64_t key = (uint64_t)DEVICE_SLOT(replay->event->device);
    uint32_t number = address_map_get(&replay->names, NAME_GRAPH_POOL, key);

    return number != ADDRESS_MAP_NONE ? number
                                      : add_mempool(replay, NAME_GRAPH_POOL, key, MEMORY_GRAPH);
}

/* The block that stands for the pool after the current event; HISTORY_NONE: no memory. */
static uint32_t follow_size(struct replay *replay, uint32_t block, uint32_t pool)
{
    const struct event *event = replay->event;
    struct block born = replay_described(replay);

    if (block != ADDRESS_MAP_NONE)
        return replay_resize(replay, block, event->size_bytes,
                             event->stack_id ? event->stack_id
                                             : replay->history->blocks[block].stack_id);
    if (born.stock == HISTORY_NONE)
        return HISTORY_NONE;
    born.address = (uint64_t)DEVICE_SLOT(event->device);
    born.mempool = pool;
    return replay_birth(replay, &born);
}

static int follow_graph_pool(struct replay *replay, uint32_t pool)
{
    const struct event *event = replay->event;
    uint64_t address = (uint64_t)DEVICE_SLOT(event->device);
    uint32_t block = address_map_get(&replay->live, SPACE_GRAPH, address);
    bool is_live = block != ADDRESS_MAP_NONE;

    if (!event->size_bytes)
        return replay_end_at(replay, SPACE_GRAPH, address, BLOCK_FREED);
    if (is_live && replay->history->blocks[block].size_bytes == event->size_bytes)
        return 0;
    block = follow_size(replay, block, pool);
    if (block == HISTORY_NONE)
        return -1;
    return address_map_put(&replay->live, SPACE_GRAPH, address, block, replay->err);
}

int replay_pool_usage(struct replay *replay)
{
    const struct event *event = replay->event;
    bool is_graph = event->memory == MEMORY_GRAPH;
    uint32_t number = is_graph ? graph_pool(replay) : replay_mempool(replay);

    if (number == HISTORY_NONE)
        return -1;
    replay->history->mempools[number].reported = true;
    if (add_usage(replay, number, event->address, event->size_bytes))
        return -1;
    return is_graph ? follow_graph_pool(replay, number) : 0;
}
