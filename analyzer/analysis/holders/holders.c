/* SPDX-License-Identifier: MIT */
/* Joins the rows of walks with live blocks; see holders.h. */
#include "holders.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/memory_rules.h"
#include "analyzer/util/array.h"

/* --- the blocks that are live --- */

/* If several blocks have the same address, the one of a pool comes last. */
ORDER_BY(compare_addresses, struct held_block, RISING(address), RISING(is_of_pool),
         RISING(begin_index));

/* True for memory whose blocks are known by their addresses, and not by handles. */
static bool has_address(const struct block *block)
{
    const uint8_t space = memory_rules[block->memory].space;
    return space == SPACE_DEVICE || space == SPACE_HOST || space == SPACE_FRAMEWORK_POOL;
}

/* True for blocks in which a storage may lie: tensors of pools, and memory of the driver that no
 * pool cuts into pieces. */
static bool may_be_held(const struct cursor *at, const struct block *block)
{
    return block->account != HISTORY_NONE && !block->is_segment && has_address(block) &&
           account_may_leak(&at->history->accounts[block->account]);
}

/* Returns the live blocks by address. The walk came before the event if the trace lacks the event
 * of the walk (is_late); then the blocks of this event are left out. */
static struct held_block *find_live(const struct cursor *at, bool is_late, size_t *count)
{
    const struct history *history = at->history;
    struct held_block *live = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < history->block_slots.used; i++) {
        const struct block *block = &history->blocks[i];
        if (!may_be_held(at, block) || (is_late && block->life.begin_index == at->index))
            continue;
        if (ARRAY_GROW(live, capacity, *count, at->err)) {
            free(live);
            return NULL;
        }
        live[(*count)++] = (struct held_block){
            .account = block->account,
            .stack_id = site_stack(block->site_id),
            .address = block->address,
            .size_bytes = block->size_bytes,
            .begin_index = block->life.begin_index,
            .is_of_pool = history->accounts[block->account].kind == ACCOUNT_pool};
    }
    SORT(live, *count, compare_addresses);
    return live ? live : array_new(0, sizeof *live, at->err);
}

/* Returns the block that has the address. Blocks do not overlap, except those of different layers;
 * a segment, which a pool cuts into pieces, is not among them. NULL: there is none. */
static struct held_block *block_with(struct held_block *live, size_t count, uint64_t address)
{
    const size_t low = SORTED_UP_TO(struct held_block, address, live, count, address);
    if (!low)
        return NULL;
    struct held_block *block = &live[low - 1];
    return address - block->address < block->size_bytes ? block : NULL;
}

/* --- a walk --- */

static const struct trace_holder *first_row(const struct trace *trace, uint32_t walk_id)
{
    return trace->holders +
           SORTED_BELOW(struct trace_holder, walk_id, trace->holders, trace->holder_count, walk_id);
}

static void join_rows(struct held_block *live, size_t count, const struct trace *trace,
                      uint32_t walk_id)
{
    const struct trace_holder *end = trace->holders + trace->holder_count;
    for (const struct trace_holder *row = trace->holder_count ? first_row(trace, walk_id) : end;
         row < end && row->walk_id == walk_id; row++) {
        struct held_block *block = block_with(live, count, row->address);
        if (block && (!block->holder || row->size_bytes > block->holder->size_bytes))
            block->holder = row;
    }
}

ORDER_BY(compare_blocks, struct held_block, RISING(account), RISING(address), RISING(begin_index));

static int see_walk(struct holders *holders, const struct cursor *at, const struct moment *moment,
                    bool is_late)
{
    const struct trace *trace = holders->trace;
    struct walk_blocks *walk = &holders->walks[holders->count];
    size_t count;
    struct held_block *live = find_live(at, is_late, &count);
    if (!live)
        return -1;
    join_rows(live, count, trace, trace->walks[holders->count].walk_id);
    SORT(live, count, compare_blocks);
    *walk = (struct walk_blocks){
        .walk = &trace->walks[holders->count], .at = *moment, .blocks = live, .count = count};
    holders->count++;
    return 0;
}

/* --- the observer --- */

/* Sees the walks up to an event. At the end of the trace, it sees those that are left. */
static int see_walks(struct holders *holders, const struct cursor *at, bool is_end)
{
    const struct trace *trace = holders->trace;
    while (holders->count < trace->walk_count) {
        const uint64_t number = trace->walks[holders->count].event_number;
        const bool is_late = !is_end && number < at->event->seq;
        const struct moment now = is_end    ? at->history->last
                                  : is_late ? holders->before
                                            : cursor_moment(at);
        if (!is_end && number > at->event->seq)
            return 0;
        if (see_walk(holders, at, &now, is_late))
            return -1;
    }
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct holders *holders = self;
    if (!holders->walks &&
        !(holders->walks = array_new(holders->trace->walk_count, sizeof *holders->walks, at->err)))
        return -1;
    if (see_walks(holders, at, false))
        return -1;
    holders->before = cursor_moment(at);
    return 0;
}

static int on_end(void *self, const struct cursor *at)
{
    struct holders *holders = self;
    return holders->walks ? see_walks(holders, at, true) : 0;
}

struct observer holders_observer(struct holders *holders)
{
    if (!holders->trace->walk_count)
        return (struct observer){.self = holders};
    return (struct observer){.self = holders, .on_event = on_event, .on_end = on_end};
}

void holders_release(struct holders *holders)
{
    for (size_t i = 0; i < holders->count; i++)
        free(holders->walks[i].blocks);
    free(holders->walks);
    *holders = (struct holders){.trace = holders->trace};
}

/* --- answers --- */

static size_t count_until(const struct holders *holders, uint64_t index)
{
    size_t count = 0;
    while (count < holders->count && holders->walks[count].at.index <= index)
        count++;
    return count;
}

const struct walk_blocks *holders_last_walk(const struct holders *holders, uint64_t index)
{
    const size_t count = count_until(holders, index);
    return count ? &holders->walks[count - 1] : NULL;
}

static bool is_of_failure(const struct walk_blocks *walk)
{
    return !strcmp(walk->walk->reason, "oom");
}

const struct walk_blocks *holders_nearest_walk(const struct holders *holders, uint64_t index,
                                               bool is_failure)
{
    const size_t count = count_until(holders, index);
    const struct walk_blocks *before = count ? &holders->walks[count - 1] : NULL;
    const struct walk_blocks *after = count < holders->count ? &holders->walks[count] : NULL;
    /* If the program dies of the failure, the walk at its end has the same event. */
    for (size_t i = count; is_failure && i && holders->walks[i - 1].at.index == index; i--)
        if (is_of_failure(&holders->walks[i - 1]))
            return &holders->walks[i - 1];
    if (!before || !after)
        return before ? before : after;
    if (is_failure && is_of_failure(after))
        return after;
    return index - before->at.index <= after->at.index - index ? before : after;
}

const struct held_block *walk_blocks_find(const struct walk_blocks *walk, const struct block *block)
{
    const struct held_block wanted = {.account = block->account,
                                      .address = block->address,
                                      .begin_index = block->life.begin_index};
    return walk->count ? bsearch(&wanted, walk->blocks, walk->count, sizeof wanted, compare_blocks)
                       : NULL;
}
