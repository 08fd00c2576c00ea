/* SPDX-License-Identifier: MIT */
/* Blocks that begin and end; see blocks.h. */
#include "blocks.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

int blocks_init(struct blocks *blocks, const struct trace *trace, bool has_tensors, struct err *err)
{
    for (int slot = 0; slot < DEVICE_SLOTS; slot++)
        blocks->bound[slot] = HISTORY_NONE;
    stocks_init(&blocks->stocks);
    driver_ranges_init(&blocks->ranges, has_tensors);
    return spans_init(&blocks->spans, trace, err);
}

void blocks_release(struct blocks *blocks)
{
    address_map_release(&blocks->live);
    free(blocks->states);
    stocks_release(&blocks->stocks);
    mempools_release(&blocks->mempools);
    spans_release(&blocks->spans);
    driver_ranges_release(&blocks->ranges);
}

/* --- the list of live blocks that a context takes with it --- */

static uint32_t *bound_list(struct blocks *blocks, uint32_t number)
{
    const struct history *history = blocks->at.history;
    return &blocks->bound[DEVICE_SLOT(history->stocks[history->blocks[number].stock].device)];
}

static void link_bound(struct blocks *blocks, uint32_t number)
{
    uint32_t *head = bound_list(blocks, number);
    blocks->states[number].previous = HISTORY_NONE;
    blocks->states[number].next = *head;
    if (*head != HISTORY_NONE)
        blocks->states[*head].previous = number;
    *head = number;
}

static void unlink_bound(struct blocks *blocks, uint32_t number)
{
    const struct block_state *state = &blocks->states[number];
    if (state->next != HISTORY_NONE)
        blocks->states[state->next].previous = state->previous;
    if (state->previous != HISTORY_NONE)
        blocks->states[state->previous].next = state->next;
    else
        *bound_list(blocks, number) = state->next;
}

/* --- what an event describes --- */

static bool names_mempool(const struct event *event)
{
    return event->object && (event->memory == MEMORY_ASYNC || event->memory == MEMORY_ASYNC_HOST ||
                             event->memory == MEMORY_ASYNC_MANAGED);
}

struct block blocks_described(struct blocks *blocks)
{
    const struct cursor *at = &blocks->at;
    const struct event *event = at->event;
    struct block block = {.address = event->address,
                          .size_bytes = event->size_bytes,
                          .stack_id = event->stack_id,
                          .stock = HISTORY_NONE,
                          .mempool = HISTORY_NONE,
                          .memory = event->memory};
    if (names_mempool(event)) {
        block.mempool = mempools_find(&blocks->mempools, at);
        if (block.mempool == HISTORY_NONE)
            return block;
        block.memory = at->history->mempools[block.mempool].memory;
    }
    block.stock = stocks_find(&blocks->stocks, at, event->device, block.memory, event->object);
    return block;
}

/* --- beginnings --- */

static int add_change(struct blocks *blocks, uint32_t number, bool birth)
{
    const struct cursor *at = &blocks->at;
    struct history *history = at->history;
    struct change *grown = array_grow(history->changes, &history->change_capacity,
                                      history->change_count, sizeof *grown, at->err);
    if (!grown)
        return -1;
    history->changes = grown;
    grown[history->change_count++] = (struct change){.event = at->index,
                                                     .block = number,
                                                     .span = spans_current(&blocks->spans, at),
                                                     .birth = birth};
    return 0;
}

static void add_bytes(struct blocks *blocks, const struct block *block)
{
    struct stock *stock = &blocks->at.history->stocks[block->stock];
    uint64_t *live_bytes = &blocks->stocks.live_bytes[block->stock];
    *live_bytes += block->size_bytes;
    if (*live_bytes > stock->peak_bytes) {
        stock->peak_bytes = *live_bytes;
        stock->peak_index = blocks->at.index;
    }
}

static struct block *add_block(struct blocks *blocks, const struct block *born)
{
    const struct cursor *at = &blocks->at;
    struct history *history = at->history;
    size_t number = history->block_count;
    struct block_state *states =
        array_grow(blocks->states, &blocks->state_capacity, number, sizeof *states, at->err);
    if (!states)
        return NULL;
    blocks->states = states;
    states[number] = (struct block_state){0};
    struct block *grown =
        array_grow(history->blocks, &history->block_capacity, number, sizeof *grown, at->err);
    if (!grown)
        return NULL;
    history->blocks = grown;
    grown[number] = *born;
    grown[number].alloc_index = at->index;
    grown[number].free_index = HISTORY_NONE;
    grown[number].span = spans_current(&blocks->spans, at);
    grown[number].end = BLOCK_LIVE;
    history->block_count++;
    return &grown[number];
}

/* Begins a block without counting an allocation. */
static uint32_t begin_uncounted(struct blocks *blocks, const struct block *born)
{
    const struct block *block = add_block(blocks, born);
    if (!block)
        return HISTORY_NONE;
    uint32_t number = (uint32_t)(block - blocks->at.history->blocks);
    if (add_change(blocks, number, true))
        return HISTORY_NONE;
    add_bytes(blocks, block);
    mempools_count(&blocks->at, block, true);
    if (memory_rules[born->memory].is_bound)
        link_bound(blocks, number);
    return number;
}

uint32_t blocks_begin(struct blocks *blocks, const struct block *born)
{
    uint32_t number = begin_uncounted(blocks, born);
    if (number != HISTORY_NONE)
        blocks->at.history->stocks[born->stock].allocations_count++;
    return number;
}

uint32_t blocks_begin_at(struct blocks *blocks, uint32_t space, const struct block *born)
{
    uint32_t number = blocks_begin(blocks, born);
    if (number == HISTORY_NONE ||
        address_map_put(&blocks->live, space, born->address, number, blocks->at.err))
        return HISTORY_NONE;
    return number;
}

/* --- ends --- */

static void count_end(struct stock *stock, enum block_end end)
{
    stock->frees_count += end == BLOCK_FREED;
    stock->implicit_frees_count += end == BLOCK_IMPLICIT;
    stock->lost_frees_count += end == BLOCK_LOST;
}

int blocks_end(struct blocks *blocks, uint32_t number, enum block_end end)
{
    const struct cursor *at = &blocks->at;
    struct block *block = &at->history->blocks[number];
    block->free_index = at->index;
    block->end = (uint8_t)end;
    count_end(&at->history->stocks[block->stock], end);
    blocks->stocks.live_bytes[block->stock] -= block->size_bytes;
    mempools_count(at, block, false);
    if (memory_rules[block->memory].is_bound)
        unlink_bound(blocks, number);
    driver_ranges_remove_plain(&blocks->ranges, at, block);
    if (add_change(blocks, number, false))
        return -1;
    return blocks->listener.on_end(blocks->listener.self, number);
}

int blocks_end_at(struct blocks *blocks, uint32_t space, uint64_t address, enum block_end end)
{
    uint32_t number = address_map_remove(&blocks->live, space, address);
    return number == ADDRESS_MAP_NONE ? 0 : blocks_end(blocks, number, end);
}

uint32_t blocks_resize(struct blocks *blocks, uint32_t number, uint64_t size_bytes,
                       uint32_t stack_id)
{
    struct block next = blocks->at.history->blocks[number];
    next.size_bytes = size_bytes;
    next.stack_id = stack_id;
    return blocks_end(blocks, number, BLOCK_RESIZED) ? HISTORY_NONE
                                                     : begin_uncounted(blocks, &next);
}

/* --- failures --- */

static int add_failure(const struct blocks *blocks, uint32_t stock)
{
    const struct cursor *at = &blocks->at;
    struct history *history = at->history;
    struct failure *grown = array_grow(history->failures, &history->failure_capacity,
                                       history->failure_count, sizeof *grown, at->err);
    if (!grown)
        return -1;
    history->failures = grown;
    grown[history->failure_count++] = (struct failure){
        .event = at->index, .span = spans_current(&blocks->spans, at), .stock = stock};
    return 0;
}

/* A module may fail to load for other reasons: only out of memory is a failed allocation. */
int blocks_fail(struct blocks *blocks, uint32_t stock)
{
    if (stock == HISTORY_NONE)
        return -1;
    const struct event *event = blocks->at.event;
    struct stock *failing = &blocks->at.history->stocks[stock];
    failing->failed_count++;
    if (failing->account == ACCOUNT_none ||
        (event->kind != EVENT_ALLOC && event->result != RESULT_OUT_OF_MEMORY))
        return 0;
    return add_failure(blocks, stock);
}
