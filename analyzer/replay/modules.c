/* SPDX-License-Identifier: MIT */
/* Modules and limits as blocks; see modules.h. */
#include "modules.h"

static int begin_measured(struct blocks *blocks, enum memory_kind memory, uint64_t address,
                          int64_t size_bytes)
{
    const struct event *event = blocks->at.event;
    struct block born = {.address = address,
                         .size_bytes = size_bytes > 0 ? (uint64_t)size_bytes : 0,
                         .site_id = event->stack_id,
                         .mempool = HISTORY_NONE,
                         .memory = (uint8_t)memory};
    born.account = accounts_find(&blocks->accounts, &blocks->at, event->device, memory, 0);
    if (born.account == HISTORY_NONE)
        return -1;
    return blocks_begin_at(blocks, memory_rules[memory].space, &born) == HISTORY_NONE ? -1 : 0;
}

static int fail_measured(struct blocks *blocks, enum memory_kind memory)
{
    return blocks_fail(
        blocks, accounts_find(&blocks->accounts, &blocks->at, blocks->at.event->device, memory, 0));
}

/* A library that is loaded without a current context takes no device memory. */
int modules_load(struct memory_samples *samples, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    if (event->device == DEVICE_UNKNOWN)
        return 0;
    int64_t size_bytes = memory_samples_taken(samples, &blocks->at);
    if (event->result != 0)
        return fail_measured(blocks, MEMORY_MODULE);
    if (blocks_end_at(blocks, SPACE_MODULE, event->object, BLOCK_LOST))
        return -1;
    return begin_measured(blocks, MEMORY_MODULE, event->object, size_bytes);
}

/*
 * A library outlives its context. The context took the library's memory, so no block is left then.
 */
int modules_unload(const struct contexts *contexts, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    uint32_t number = pair_map_get(&blocks->live, SPACE_MODULE, event->object);
    if (number == PAIR_MAP_NONE || (event->result != 0 && !contexts_took(contexts, blocks, number)))
        return 0;
    return blocks_end_at(blocks, SPACE_MODULE, event->object,
                         event->result == 0 ? BLOCK_FREED : BLOCK_IMPLICIT);
}

static uint64_t limit_key(const struct event *event)
{
    return event->object ^ event->address << MODULES_LIMIT_SHIFT;
}

/* The samples give only the change of the bytes, so the old bytes of the limit are added to it. */
int modules_set_limit(struct memory_samples *samples, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    uint64_t key = limit_key(event);
    uint32_t number = pair_map_get(&blocks->live, SPACE_LIMIT, key);
    int64_t size_bytes = memory_samples_taken(samples, &blocks->at);
    if (event->result != 0)
        return fail_measured(blocks, MEMORY_LIMIT);
    if (number != PAIR_MAP_NONE)
        size_bytes =
            (int64_t)((uint64_t)size_bytes + blocks->at.history->blocks[number].size_bytes);
    if (blocks_end_at(blocks, SPACE_LIMIT, key, BLOCK_FREED))
        return -1;
    return begin_measured(blocks, MEMORY_LIMIT, key, size_bytes);
}
