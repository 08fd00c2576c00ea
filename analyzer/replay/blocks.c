/* SPDX-License-Identifier: MIT */
/*
 * Births, deaths and changes of size of blocks, and how they are summed. It must not know which
 * event means which of them.
 */
#include "replay.h"

#include "analyzer/util/array.h"

/* Pools, VMM objects and imports end by their own calls, whatever becomes of the context. */
const struct memory_rule replay_rules[MEMORY_KIND_COUNT] = {
    [MEMORY_LINEAR] = {SPACE_DEVICE, true},
    [MEMORY_PITCHED] = {SPACE_DEVICE, true},
    [MEMORY_ARRAY] = {SPACE_ARRAY, true},
    [MEMORY_ASYNC] = {SPACE_DEVICE, false},
    [MEMORY_VMM] = {SPACE_HANDLE, false},
    [MEMORY_MANAGED] = {SPACE_DEVICE, true},
    [MEMORY_PINNED] = {SPACE_HOST, true},
    [MEMORY_REGISTERED] = {SPACE_HOST, true},
    [MEMORY_IMPORTED] = {SPACE_DEVICE, false},
    [MEMORY_TENSOR] = {SPACE_POOL, false},
    [MEMORY_VMM_HOST] = {SPACE_HANDLE, false},
    [MEMORY_ASYNC_HOST] = {SPACE_DEVICE, false},
    [MEMORY_ASYNC_MANAGED] = {SPACE_DEVICE, false},
    [MEMORY_IMPORTED_VMM] = {SPACE_HANDLE, false},
    [MEMORY_EXTERNAL] = {SPACE_EXTERNAL, false},
    [MEMORY_GRAPH] = {SPACE_GRAPH, false},
    [MEMORY_GRAPH_NODE] = {SPACE_GRAPH_NODE, false},
    [MEMORY_RESERVATION] = {SPACE_RESERVATION, false},
    [MEMORY_MAPPED] = {SPACE_DEVICE, false},
    [MEMORY_MAPPED_ARRAY] = {SPACE_ARRAY, false},
    [MEMORY_MULTICAST] = {SPACE_HANDLE, false},
    [MEMORY_MODULE] = {SPACE_MODULE, true},
    [MEMORY_LIMIT] = {SPACE_LIMIT, true},
};

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

/* --- births --- */

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

static void add_bytes(struct replay *replay, const struct block *block)
{
    struct stock *stock = &replay->history->stocks[block->stock];
    uint64_t *live_bytes = &replay->live_bytes[block->stock];

    *live_bytes += block->size_bytes;
    if (*live_bytes > stock->peak_bytes) {
        stock->peak_bytes = *live_bytes;
        stock->peak_index = replay->index;
    }
}

static uint32_t add_block(struct replay *replay, const struct block *born)
{
    struct history *history = replay->history;
    uint32_t number = (uint32_t)history->block_count;
    struct block *grown;

    grown = array_grow(history->blocks, &history->block_capacity, history->block_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return HISTORY_NONE;
    history->blocks = grown;
    grown[number] = *born;
    grown[number].alloc_index = replay->index;
    grown[number].free_index = HISTORY_NONE;
    grown[number].span = replay_span(replay);
    grown[number].end = BLOCK_LIVE;
    history->block_count++;
    if (add_change(replay, number, true))
        return HISTORY_NONE;
    add_bytes(replay, &grown[number]);
    replay_mempool_count(replay, &grown[number], true);
    if (replay_rules[born->memory].is_bound)
        link_live(replay, number);
    return number;
}

uint32_t replay_birth(struct replay *replay, const struct block *born)
{
    uint32_t number = add_block(replay, born);

    if (number != HISTORY_NONE)
        replay->history->stocks[born->stock].allocations_count++;
    return number;
}

/* --- deaths --- */

static void count_end(struct stock *stock, const struct block *block)
{
    stock->frees_count += block->end == BLOCK_FREED;
    stock->implicit_frees_count += block->end == BLOCK_IMPLICIT;
    stock->lost_frees_count += block->end == BLOCK_LOST;
}

int replay_death(struct replay *replay, uint32_t number, enum block_end end)
{
    struct block *block = &replay->history->blocks[number];
    uint8_t space = replay_rules[block->memory].space;

    block->free_index = replay->index;
    block->end = (uint8_t)end;
    count_end(&replay->history->stocks[block->stock], block);
    replay->live_bytes[block->stock] -= block->size_bytes;
    replay_mempool_count(replay, block, false);
    if (replay_rules[block->memory].is_bound)
        unlink_live(replay, number);
    if (space == SPACE_DEVICE && replay->has_tensors)
        replay_range_end(replay, block->address);
    return add_change(replay, number, false) || replay_bindings_end(replay, number) ? -1 : 0;
}

uint32_t replay_resize(struct replay *replay, uint32_t number, uint64_t size_bytes,
                       uint32_t stack_id)
{
    struct block next = replay->history->blocks[number];

    next.size_bytes = size_bytes;
    next.stack_id = stack_id;
    return replay_death(replay, number, BLOCK_RESIZED) ? HISTORY_NONE : add_block(replay, &next);
}

int replay_end_at(struct replay *replay, uint32_t space, uint64_t address, enum block_end end)
{
    uint32_t number = address_map_remove(&replay->live, space, address);

    return number == ADDRESS_MAP_NONE ? 0 : replay_death(replay, number, end);
}
