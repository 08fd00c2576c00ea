/* SPDX-License-Identifier: MIT */
/* Blocks that begin and end; see blocks.h. */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/torch/frames.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/replay/history/past.h"
#include "refused/refusals.h"

static int find_backward_threads(struct blocks *blocks, const struct trace *trace, struct err *err)
{
    for (size_t i = 0; i < trace->thread_count; i++)
        if (trace->threads[i].name && torch_is_backward_thread(trace->threads[i].name) &&
            pair_map_put(&blocks->backward_threads, 0, trace->threads[i].thread_id, 0, err))
            return -1;
    return 0;
}

int blocks_init(struct blocks *blocks, const struct trace *trace, struct err *err)
{
    bound_lists_init(&blocks->bound);
    accounts_init(&blocks->accounts);
    driver_ranges_init(&blocks->ranges);
    return find_backward_threads(blocks, trace, err) ? -1 : spans_init(&blocks->spans, trace, err);
}

int blocks_learn(struct blocks *blocks, const struct trace *trace, struct err *err)
{
    inferred_release(&blocks->spans.inferred);
    return find_backward_threads(blocks, trace, err) ||
                   inferred_build(&blocks->spans.inferred, trace, err)
               ? -1
               : 0;
}

void blocks_release(struct blocks *blocks)
{
    pair_map_release(&blocks->live);
    pair_map_release(&blocks->backward_threads);
    autograd_release(&blocks->autograd);
    uses_release(&blocks->uses);
    free(blocks->states);
    bound_lists_release(&blocks->bound);
    accounts_release(&blocks->accounts);
    mempools_release(&blocks->mempools);
    spans_release(&blocks->spans);
    driver_ranges_release(&blocks->ranges);
}

/* --- what an event describes --- */

static bool names_mempool(const struct event *event)
{
    return event->object && (event->memory == MEMORY_ASYNC || event->memory == MEMORY_ASYNC_HOST ||
                             event->memory == MEMORY_ASYNC_MANAGED);
}

bool blocks_is_of_backward(const struct blocks *blocks)
{
    return blocks->backward_threads.count &&
           pair_map_get(&blocks->backward_threads, 0, blocks->at.event->thread_id) != PAIR_MAP_NONE;
}

struct block blocks_described(struct blocks *blocks)
{
    const struct cursor *at = &blocks->at;
    const struct event *event = at->event;
    struct block block = {
        .address = event->address,
        .size_bytes = event->size_bytes,
        .stream = event->memory == MEMORY_TENSOR ? event->stream : 0,
        .site_id = site_id_of(event->stack_id, event->memory == MEMORY_TENSOR
                                                   ? autograd_forward_stack(&blocks->autograd, at)
                                                   : 0),
        .backward = blocks_is_of_backward(blocks) ? at->history->backwards.open : 0,
        .is_of_graph = event->memory == MEMORY_TENSOR && autograd_records(&blocks->autograd, at),
        .account = HISTORY_NONE,
        .mempool = HISTORY_NONE,
        .memory = event->memory};
    if (names_mempool(event)) {
        block.mempool = mempools_find(&blocks->mempools, at);
        if (block.mempool == HISTORY_NONE)
            return block;
        block.memory = at->history->mempools[block.mempool].memory;
    }
    block.account =
        accounts_find(&blocks->accounts, at, event->device, block.memory, event->object);
    return block;
}

/* The context that the event names in `object`; 0: none. A module's event has the module there, and
 * so names no context. */
static uint64_t context_of(const struct event *event)
{
    return event->kind == EVENT_MODULE_LOAD ? 0 : event->object;
}

/* Reports the change to the observers; event_span is the phase of the event. */
static int show_change(const struct blocks *blocks, uint32_t number, uint32_t event_span,
                       bool birth, bool is_resize)
{
    const struct cursor *at = &blocks->at;
    if (!at->observers->count)
        return 0;
    const struct change change = {.block = &at->history->blocks[number],
                                  .birth = birth,
                                  .is_resize = is_resize,
                                  .event_span = event_span,
                                  .birth_span = blocks->states[number].span};
    for (size_t i = 0; i < at->observers->count; i++) {
        const struct observer *observer = &at->observers->items[i];
        if (observer->on_change && observer->on_change(observer->self, at, &change))
            return -1;
    }
    return 0;
}

/* --- beginnings --- */

/*
 * Called after a birth. Notes the moment at which the pools had handed out most while the driver's
 * memory was at its peak.
 */
static void note_fullest(const struct cursor *at, const struct account *account)
{
    struct account *driver = &at->history->accounts[account->driver];
    if (!driver->peak_bytes || driver->live_bytes != driver->peak_bytes ||
        (driver->fullest.index != INDEX_NONE && driver->pools_bytes <= driver->fullest_bytes))
        return;
    driver->fullest = cursor_moment(at);
    driver->fullest_bytes = driver->pools_bytes;
    driver->fullest_reported_index = history_reported_index(at->history, account->device);
}

static void add_bytes(struct blocks *blocks, const struct block *block)
{
    const struct cursor *at = &blocks->at;
    struct account *account = &at->history->accounts[block->account];
    account->has_begun = true;
    account->live_bytes += block->size_bytes;
    if (account->live_bytes > account->peak_bytes) {
        account->peak_bytes = account->live_bytes;
        account->peak = cursor_moment(at);
        account->peak_reported_index = history_reported_index(at->history, account->device);
        account->peak_path = block->path;
        account->fullest = (struct moment){.index = INDEX_NONE};
    }
    if (account->kind == ACCOUNT_pool) {
        at->history->accounts[account->driver].pools_bytes += block->size_bytes;
        accounts_note_reserved(at, account);
        accounts_note_use(account);
    }
    if (account_is_of_layer(account))
        note_fullest(at, account);
}

/* Sets life, phase and bytes of the block in that slot, without counting an allocation. */
static int begin_uncounted(struct blocks *blocks, uint32_t number)
{
    const struct cursor *at = &blocks->at;
    struct block *block = &at->history->blocks[number];
    const uint32_t span = spans_current(&blocks->spans, at);
    const uint32_t deciding = spans_deciding(&blocks->spans, at);
    const struct span *spans = blocks->spans.items;
    block->life = (struct life){at->index, INDEX_NONE};
    block->path = span == HISTORY_NONE ? HISTORY_NONE : spans[span].path;
    block->deciding_path = deciding == HISTORY_NONE ? HISTORY_NONE : spans[deciding].path;
    block->end = BLOCK_LIVE;
    block->outlived = true; /* until it ends */
    struct block_state *state = &blocks->states[number];
    state->span = span;
    state->deciding = deciding;
    state->is_of_backward = blocks_is_of_backward(blocks);
    spans_hold(&blocks->spans, span);
    spans_hold(&blocks->spans, deciding);
    if (uses_begin(&blocks->uses, at, block, &state->birth))
        return -1;
    add_bytes(blocks, block);
    mempools_count(at, block, true);
    if (memory_rules[block->memory].is_bound &&
        bound_lists_add(&blocks->bound, at->history->accounts[block->account].device,
                        context_of(at->event), number, at->err))
        return -1;
    return show_change(blocks, number, span, true, false);
}

static uint32_t take_slot(struct blocks *blocks)
{
    struct history *history = blocks->at.history;
    struct err *err = blocks->at.err;
    uint32_t number = slots_take(&history->block_slots, err);
    if (number == SLOT_NONE)
        return HISTORY_NONE;
    return ARRAY_GROW(blocks->states, blocks->state_capacity, number, err) ||
                   ARRAY_GROW(history->blocks, history->block_capacity, number, err)
               ? HISTORY_NONE
               : number;
}

uint32_t blocks_begin(struct blocks *blocks, const struct block *born)
{
    uint32_t number = take_slot(blocks);
    if (number == HISTORY_NONE)
        return HISTORY_NONE;
    blocks->states[number] = (struct block_state){0};
    blocks->at.history->blocks[number] = *born;
    blocks->at.history->accounts[born->account].allocations_count++;
    return begin_uncounted(blocks, number) ? HISTORY_NONE : number;
}

uint32_t blocks_begin_at(struct blocks *blocks, uint32_t space, const struct block *born)
{
    uint32_t number = blocks_begin(blocks, born);
    if (number == HISTORY_NONE ||
        pair_map_put(&blocks->live, space, born->address, number, blocks->at.err))
        return HISTORY_NONE;
    return number;
}

/* --- ends --- */

static void count_end(struct account *account, enum block_end end)
{
    account->frees_count += end == BLOCK_FREED;
    account->implicit_frees_count += end == BLOCK_IMPLICIT;
    account->lost_frees_count += end == BLOCK_LOST;
}

/*
 * PyTorch runs backward on its own threads. If another thread frees the block, the block has
 * outlived backward, even if no allocation has shown yet that backward is over.
 */
static bool has_outlived(const struct blocks *blocks, uint32_t number)
{
    const struct block_state *state = &blocks->states[number];
    if (state->deciding == HISTORY_NONE)
        return false;
    const struct span *span = &blocks->spans.items[state->deciding];
    if (span->life.end_index < blocks->at.index)
        return true;
    return blocks->at.history->paths[span->path].source == PHASE_SOURCE_INFERRED &&
           state->is_of_backward && !blocks_is_of_backward(blocks);
}

/* Ends the block, but keeps its slot, because blocks_resize reuses the slot. */
static int end_life(struct blocks *blocks, uint32_t number, enum block_end end)
{
    const struct cursor *at = &blocks->at;
    struct block *block = &at->history->blocks[number];
    block->life.end_index = at->index;
    block->end = (uint8_t)end;
    block->outlived = has_outlived(blocks, number);
    if (uses_end(&blocks->uses, at, block, blocks->states[number].birth))
        return -1;
    struct account *account = &at->history->accounts[block->account];
    account->live_bytes -= block->size_bytes;
    if (account->kind == ACCOUNT_pool)
        at->history->accounts[account->driver].pools_bytes -= block->size_bytes;
    count_end(account, end);
    mempools_count(at, block, false);
    if (memory_rules[block->memory].is_bound)
        bound_lists_remove(&blocks->bound, number);
    if (block->is_segment && end == BLOCK_FREED && at->history->waiting_count)
        refusals_note_flush(at, block->size_bytes);
    if (past_end_block(at->history, block, at->err) ||
        show_change(blocks, number, spans_current(&blocks->spans, at), false, end == BLOCK_RESIZED))
        return -1;
    spans_let_go(&blocks->spans, blocks->states[number].span);
    spans_let_go(&blocks->spans, blocks->states[number].deciding);
    return 0;
}

int blocks_end(struct blocks *blocks, uint32_t number, enum block_end end)
{
    struct history *history = blocks->at.history;
    if (driver_ranges_remove_plain(&blocks->ranges, &blocks->at, &history->blocks[number]) ||
        end_life(blocks, number, end))
        return -1;
    if (blocks->listener.on_end(blocks->listener.self, number))
        return -1;
    history->blocks[number].account = HISTORY_NONE;
    slots_give_back(&history->block_slots, number);
    return 0;
}

int blocks_end_found(struct blocks *blocks, uint32_t number, enum block_end end)
{
    const struct block *block = &blocks->at.history->blocks[number];
    uint32_t space = memory_rules[block->memory].space;
    if (pair_map_get(&blocks->live, space, block->address) == number)
        pair_map_remove(&blocks->live, space, block->address);
    return blocks_end(blocks, number, end);
}

int blocks_end_at(struct blocks *blocks, uint32_t space, uint64_t address, enum block_end end)
{
    uint32_t number = pair_map_remove(&blocks->live, space, address);
    return number == PAIR_MAP_NONE ? 0 : blocks_end(blocks, number, end);
}

int blocks_resize(struct blocks *blocks, uint32_t number, uint64_t size_bytes, uint32_t stack_id)
{
    if (end_life(blocks, number, BLOCK_RESIZED))
        return -1;
    struct block *block = &blocks->at.history->blocks[number];
    block->size_bytes = size_bytes;
    block->site_id = site_id_of(stack_id, site_forward_stack(block->site_id));
    return begin_uncounted(blocks, number);
}

/* --- failures --- */

/* Counts a failure. A module that failed to load is a failed allocation only if memory ran out. */
int blocks_fail(struct blocks *blocks, uint32_t account)
{
    if (account == HISTORY_NONE)
        return -1;
    const struct cursor *at = &blocks->at;
    struct account *failing = &at->history->accounts[account];
    failing->failed_count++;
    if (failing->kind == ACCOUNT_none ||
        (at->event->kind != EVENT_ALLOC && at->event->result != RESULT_OUT_OF_MEMORY))
        return 0;
    uint32_t span = spans_current(&blocks->spans, at);
    return refusals_add(
        at, account, span == HISTORY_NONE ? HISTORY_NONE : blocks->spans.items[span].path,
        blocks_is_of_backward(blocks), autograd_forward_stack(&blocks->autograd, at));
}
