/* SPDX-License-Identifier: MIT */
/*
 * Births and deaths of blocks while replaying: allocations and frees. It must not know phases, nor
 * what VMM mappings are beyond handing those events on.
 */
#include "replay/replay.h"

#include "trace/array.h"

static const uint8_t space_of[MEMORY_KIND_COUNT] = {
    [MEMORY_LINEAR] = SPACE_DEVICE,   [MEMORY_PITCHED] = SPACE_DEVICE,
    [MEMORY_ARRAY] = SPACE_ARRAY,     [MEMORY_ASYNC] = SPACE_DEVICE,
    [MEMORY_VMM] = SPACE_HANDLE,      [MEMORY_MANAGED] = SPACE_DEVICE,
    [MEMORY_PINNED] = SPACE_HOST,     [MEMORY_REGISTERED] = SPACE_HOST,
    [MEMORY_IMPORTED] = SPACE_DEVICE, [MEMORY_TENSOR] = SPACE_POOL,
};

/* What a destroyed context takes with it; pools, VMM objects and imports end by their own calls. */
static const bool dies_with_context[MEMORY_KIND_COUNT] = {
    [MEMORY_LINEAR] = true,  [MEMORY_PITCHED] = true, [MEMORY_ARRAY] = true,
    [MEMORY_MANAGED] = true, [MEMORY_PINNED] = true,  [MEMORY_REGISTERED] = true,
};

static uint32_t address_space(const struct event *event)
{
    return space_of[event->memory] + (event->memory == MEMORY_TENSOR ? (uint32_t)event->object : 0);
}

static const struct event *birth_event(const struct replay *replay, const struct block *block)
{
    return &replay->history->trace->events[block->alloc_index];
}

/* --- the list of live blocks that a context could take with it --- */

static void link_live(struct replay *replay, uint32_t number)
{
    struct block *blocks = replay->history->blocks;
    const struct stock *stock = &replay->history->stocks[blocks[number].stock];
    uint32_t *head = &replay->live_blocks[DEVICE_SLOT(stock->device)];

    blocks[number].previous = HISTORY_NONE;
    blocks[number].next = *head;
    if (*head != HISTORY_NONE)
        blocks[*head].previous = number;
    *head = number;
}

static void unlink_live(struct replay *replay, uint32_t number)
{
    struct block *blocks = replay->history->blocks, *block = &blocks[number];
    const struct stock *stock = &replay->history->stocks[block->stock];

    if (block->next != HISTORY_NONE)
        blocks[block->next].previous = block->previous;
    if (block->previous != HISTORY_NONE)
        blocks[block->previous].next = block->next;
    else
        replay->live_blocks[DEVICE_SLOT(stock->device)] = block->next;
}

/* --- births and deaths --- */

static int add_change(struct replay *replay, uint32_t block, bool birth)
{
    struct history *history = replay->history;
    struct change *grown;

    grown = array_grow(history->changes, &history->change_capacity, history->change_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return -1;
    history->changes = grown;
    grown[history->change_count++] = (struct change){
        .event = replay->index, .block = block, .span = replay_span(replay), .birth = birth};
    return 0;
}

/* What a stream-ordered pool has handed out, for pools that never report themselves. */
static int count_in_mempool(struct replay *replay, struct block *block, bool birth)
{
    const struct event *event = birth_event(replay, block);
    struct mempool *mempool;
    uint32_t number;

    if (block->memory != MEMORY_ASYNC || !event->object)
        return 0;
    number = replay_mempool(replay, event->device, event->object);
    if (number == HISTORY_NONE)
        return -1;
    block->mempool = number;
    mempool = &replay->history->mempools[number];
    mempool->live_bytes += birth ? block->size_bytes : -block->size_bytes;
    if (mempool->live_bytes > mempool->peak_live_bytes)
        mempool->peak_live_bytes = mempool->live_bytes;
    return 0;
}

static void count_birth(struct replay *replay, const struct block *block)
{
    struct stock *stock = &replay->history->stocks[block->stock];
    uint64_t *live_bytes = &replay->live_bytes[block->stock];

    stock->allocations_count++;
    *live_bytes += block->size_bytes;
    if (*live_bytes > stock->peak_bytes) {
        stock->peak_bytes = *live_bytes;
        stock->peak_index = replay->index;
    }
}

uint32_t replay_birth(struct replay *replay)
{
    struct history *history = replay->history;
    const struct event *event = replay->event;
    uint32_t number = (uint32_t)history->block_count, stock;
    struct block *grown;

    stock = replay_stock(replay, event->device, event->memory, event->object);
    if (stock == HISTORY_NONE)
        return HISTORY_NONE;
    grown = array_grow(history->blocks, &history->block_capacity, history->block_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return HISTORY_NONE;
    history->blocks = grown;
    grown[number] = (struct block){.address = event->address,
                                   .size_bytes = event->size_bytes,
                                   .alloc_index = replay->index,
                                   .free_index = HISTORY_NONE,
                                   .stack_id = event->stack_id,
                                   .span = replay_span(replay),
                                   .stock = stock,
                                   .mempool = HISTORY_NONE,
                                   .memory = event->memory,
                                   .end = BLOCK_LIVE};
    history->block_count++;
    if (add_change(replay, number, true) || count_in_mempool(replay, &grown[number], true))
        return HISTORY_NONE;
    count_birth(replay, &grown[number]);
    if (dies_with_context[event->memory])
        link_live(replay, number);
    return number;
}

int replay_death(struct replay *replay, uint32_t number, enum block_end end)
{
    struct block *block = &replay->history->blocks[number];
    struct stock *stock = &replay->history->stocks[block->stock];

    block->free_index = replay->index;
    block->end = (uint8_t)end;
    stock->frees_count += end == BLOCK_FREED;
    stock->implicit_frees_count += end == BLOCK_IMPLICIT;
    stock->lost_frees_count += end == BLOCK_LOST;
    replay->live_bytes[block->stock] -= block->size_bytes;
    if (dies_with_context[block->memory])
        unlink_live(replay, number);
    if (space_of[block->memory] == SPACE_DEVICE && replay->has_tensors)
        replay_range_end(replay, block->address);
    return add_change(replay, number, false) || count_in_mempool(replay, block, false) ? -1 : 0;
}

int replay_end_with_context(struct replay *replay, uint32_t number)
{
    const struct block *block = &replay->history->blocks[number];

    address_map_remove(&replay->live, space_of[block->memory], block->address);
    return replay_death(replay, number, BLOCK_IMPLICIT);
}

/* --- allocations --- */

static int count_failure(struct replay *replay)
{
    struct history *history = replay->history;
    const struct event *event = replay->event;
    struct failure *grown;
    uint32_t stock;

    stock = replay_stock(replay, event->device, event->memory, event->object);
    if (stock == HISTORY_NONE)
        return -1;
    history->stocks[stock].failed_count++;
    grown = array_grow(history->failures, &history->failure_capacity, history->failure_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return -1;
    history->failures = grown;
    grown[history->failure_count++] =
        (struct failure){.event = replay->index, .span = replay_span(replay), .stock = stock};
    return 0;
}

static int lose_previous(struct replay *replay, uint32_t space, uint64_t address)
{
    uint32_t previous = address_map_get(&replay->live, space, address);

    return previous == ADDRESS_MAP_NONE ? 0 : replay_death(replay, previous, BLOCK_LOST);
}

int replay_alloc(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t space = address_space(event), block;

    if (event->result == INT32_MIN) {
        replay->history->in_flight_count++;
        return 0;
    }
    if (space == SPACE_NONE)
        return 0;
    if (event->result != 0)
        return count_failure(replay);
    if (!event->address)
        return 0;
    if (event->memory == MEMORY_VMM)
        return replay_virtual_alloc(replay);
    if (lose_previous(replay, space, event->address))
        return -1;
    block = replay_birth(replay);
    if (block == HISTORY_NONE ||
        address_map_put(&replay->live, space, event->address, block, replay->err))
        return -1;
    if (event->memory == MEMORY_TENSOR)
        return replay_tensor(replay, &replay->history->blocks[block]);
    return space == SPACE_DEVICE && replay->has_tensors ? replay_plain_range(replay, block) : 0;
}

/* --- frees --- */

static bool says_context_is_gone(int32_t result)
{
    enum { DEINITIALIZED = 4, INVALID_CONTEXT = 201, CONTEXT_IS_DESTROYED = 709 };

    return result == DEINITIALIZED || result == INVALID_CONTEXT || result == CONTEXT_IS_DESTROYED;
}

static bool outlived_its_context(const struct replay *replay, const struct block *block)
{
    const struct stock *stock = &replay->history->stocks[block->stock];
    uint32_t death = replay->context_death[DEVICE_SLOT(stock->device)];

    return death != HISTORY_NONE && block->alloc_index < death;
}

static bool is_imported(const struct replay *replay, uint64_t address)
{
    uint32_t block = address_map_get(&replay->live, SPACE_DEVICE, address);

    return block != ADDRESS_MAP_NONE && replay->history->blocks[block].memory == MEMORY_IMPORTED;
}

/* The space in which the freed address is live; an imported handle is released like an own one. */
static uint32_t freed_space(const struct replay *replay)
{
    uint32_t space = address_space(replay->event);
    uint64_t address = replay->event->address;

    if (space == SPACE_HANDLE &&
        address_map_get(&replay->live, space, address) == ADDRESS_MAP_NONE &&
        is_imported(replay, address))
        return SPACE_DEVICE;
    return space;
}

int replay_free(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t space, number;

    if (event->result == INT32_MIN) {
        replay->history->in_flight_count++;
        return 0;
    }
    if (!event->address || (event->result != 0 && !says_context_is_gone(event->result)))
        return 0;
    space = freed_space(replay);
    number = address_map_get(&replay->live, space, event->address);
    if (number == ADDRESS_MAP_NONE) {
        replay->history->unknown_frees_count += event->result == 0;
        return 0;
    }
    if (space == SPACE_HANDLE)
        return event->result == 0 ? replay_virtual_free(replay, number) : 0;
    if (event->result != 0 && !outlived_its_context(replay, &replay->history->blocks[number]))
        return 0;
    address_map_remove(&replay->live, space, event->address);
    return replay_death(replay, number, event->result == 0 ? BLOCK_FREED : BLOCK_IMPLICIT);
}
