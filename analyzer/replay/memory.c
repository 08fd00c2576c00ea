/* SPDX-License-Identifier: MIT */
/*
 * What an allocation and a free mean: which kind of memory, where its address is looked for, what
 * is no allocation at all. It must not know phases, nor what VMM objects are beyond handing those
 * events on.
 */
#include "replay.h"

#include "analyzer/util/array.h"

static uint32_t address_space(const struct event *event)
{
    return replay_rules[event->memory].space +
           (event->memory == MEMORY_TENSOR ? (uint32_t)event->object : 0);
}

static bool is_pooled(const struct event *event)
{
    return event->object && (event->memory == MEMORY_ASYNC || event->memory == MEMORY_ASYNC_HOST ||
                             event->memory == MEMORY_ASYNC_MANAGED);
}

struct block replay_described(struct replay *replay)
{
    const struct event *event = replay->event;
    struct block block = {.address = event->address,
                          .size_bytes = event->size_bytes,
                          .stack_id = event->stack_id,
                          .stock = HISTORY_NONE,
                          .mempool = HISTORY_NONE,
                          .memory = event->memory};

    if (is_pooled(event)) {
        block.mempool = replay_mempool(replay);
        if (block.mempool == HISTORY_NONE)
            return block;
        block.memory = replay->history->mempools[block.mempool].memory;
    }
    block.stock = replay_stock(replay, event->device, block.memory, event->object);
    return block;
}

/* --- allocations --- */

static int add_failure(struct replay *replay, uint32_t stock)
{
    struct history *history = replay->history;
    struct failure *grown;

    grown = array_grow(history->failures, &history->failure_capacity, history->failure_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return -1;
    history->failures = grown;
    grown[history->failure_count++] =
        (struct failure){.event = replay->index, .span = replay_span(replay), .stock = stock};
    return 0;
}

/* A module that is not for this device fails too: without an allocation only a lack tells. */
int replay_failure(struct replay *replay, uint32_t stock)
{
    struct stock *failing;

    if (stock == HISTORY_NONE)
        return -1;
    failing = &replay->history->stocks[stock];
    failing->failed_count++;
    if (failing->account == ACCOUNT_none ||
        (replay->event->kind != EVENT_ALLOC && replay->event->result != RESULT_OUT_OF_MEMORY))
        return 0;
    return add_failure(replay, stock);
}

/* The same memory opened once more: another call, no more bytes. */
static bool opens_again(struct replay *replay, uint32_t space)
{
    struct block *block;
    uint32_t number;

    if (replay->event->memory != MEMORY_IMPORTED)
        return false;
    number = address_map_get(&replay->live, space, replay->event->address);
    if (number == ADDRESS_MAP_NONE || replay->history->blocks[number].memory != MEMORY_IMPORTED)
        return false;
    block = &replay->history->blocks[number];
    block->reopened_count++;
    replay->history->stocks[block->stock].allocations_count++;
    return true;
}

static int add_plain(struct replay *replay, uint32_t space)
{
    const struct event *event = replay->event;
    struct block born = replay_described(replay);
    uint32_t number;

    if (born.stock == HISTORY_NONE || replay_end_at(replay, space, event->address, BLOCK_LOST))
        return -1;
    number = replay_birth(replay, &born);
    if (number == HISTORY_NONE ||
        address_map_put(&replay->live, space, event->address, number, replay->err))
        return -1;
    if (event->memory == MEMORY_TENSOR)
        return replay_tensor(replay, &replay->history->blocks[number]);
    if (space != SPACE_DEVICE || !replay->has_tensors)
        return 0;
    return replay_add_range(replay, born.address, born.size_bytes, number, HISTORY_NONE);
}

int replay_alloc(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t space = address_space(event);

    if (space == SPACE_NONE)
        return 0;
    if (event->result != 0)
        return replay_failure(replay, replay_described(replay).stock);
    if (!event->address)
        return 0;
    if (space == SPACE_GRAPH_NODE)
        return address_map_put(&replay->live, space, event->address, 0, replay->err);
    if (space == SPACE_HANDLE)
        return replay_virtual_alloc(replay);
    return opens_again(replay, space) ? 0 : add_plain(replay, space);
}

/* --- frees --- */

bool replay_went_with_context(const struct replay *replay, uint32_t number)
{
    enum { DEINITIALIZED = 4, INVALID_CONTEXT = 201, CONTEXT_IS_DESTROYED = 709 };
    const struct block *block = &replay->history->blocks[number];
    const struct stock *stock = &replay->history->stocks[block->stock];
    uint32_t death = replay->context_death[DEVICE_SLOT(stock->device)];
    int32_t result = replay->event->result;

    return (result == DEINITIALIZED || result == INVALID_CONTEXT ||
            result == CONTEXT_IS_DESTROYED) &&
           death != HISTORY_NONE && block->alloc_index < death;
}

/* A graph's address is allocated by each launch, and may be freed after each. */
static void note_unknown_free(struct replay *replay, uint32_t space)
{
    bool is_node =
        space == SPACE_GRAPH_NODE ||
        (space == SPACE_DEVICE && address_map_get(&replay->live, SPACE_GRAPH_NODE,
                                                  replay->event->address) != ADDRESS_MAP_NONE);

    replay->history->unknown_frees_count += replay->event->result == 0 && !is_node;
}

/* Whether other opens of the block remain. */
static bool closes_one(struct replay *replay, uint32_t number)
{
    struct block *block = &replay->history->blocks[number];

    if (!block->reopened_count)
        return false;
    block->reopened_count--;
    replay->history->stocks[block->stock].frees_count++;
    return true;
}

int replay_free(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t space = address_space(event), number;

    if (!event->address)
        return 0;
    number = address_map_get(&replay->live, space, event->address);
    if (number == ADDRESS_MAP_NONE || space == SPACE_GRAPH_NODE) {
        note_unknown_free(replay, space);
        return 0;
    }
    if (space == SPACE_HANDLE)
        return event->result == 0 ? replay_virtual_free(replay, number) : 0;
    if (event->result != 0)
        return replay_went_with_context(replay, number)
                   ? replay_end_at(replay, space, event->address, BLOCK_IMPLICIT)
                   : 0;
    if (closes_one(replay, number))
        return 0;
    return replay_end_at(replay, space, event->address, BLOCK_FREED);
}
