/* SPDX-License-Identifier: MIT */
/* Sums at many moments; see breakdown.h. */
#include "breakdown.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

int breakdown_init(struct breakdown *breakdown, const struct breakdown_groups *groups,
                   size_t account_count, struct err *err)
{
    *breakdown =
        (struct breakdown){.groups = *groups,
                           .accounts = array_new(account_count, sizeof *breakdown->accounts, err),
                           .account_count = account_count};
    return breakdown->accounts ? 0 : -1;
}

void breakdown_release(struct breakdown *breakdown)
{
    for (size_t i = 0; breakdown->accounts && i < breakdown->account_count; i++) {
        struct account_breakdown *own = &breakdown->accounts[i];
        for (size_t group = 0; own->sums && group < breakdown->groups.count; group++)
            free(own->sums[group]);
        free(own->sums);
        free(own->moments);
    }
    free(breakdown->accounts);
    *breakdown = (struct breakdown){0};
}

int breakdown_ask(struct breakdown *breakdown, uint32_t account, uint64_t *moments, size_t count,
                  struct err *err)
{
    struct account_breakdown *own = &breakdown->accounts[account];
    own->moments = moments;
    own->moment_count = count;
    own->sums = array_new(breakdown->groups.count, sizeof *own->sums, err);
    return own->sums ? 0 : -1;
}

/* The number of the first moment at or after the event, among the account's first `count` moments.
 * */
static size_t first_moment(const struct account_breakdown *own, size_t count, uint64_t index)
{
    return sorted_count(own->moments, count, sizeof *own->moments, 0, sizeof *own->moments, index,
                        false);
}

/*
 * Adds a block to the moments of its life. The block ends at event `index`, or is live at the end
 * (INDEX_NONE). Most blocks live at no moment. The last moment before this event shows that,
 * because events come in order. Sums are kept as differences to the previous moment. Therefore the
 * block's bytes are subtracted at the moment after the last moment of its life.
 */
static int add_block(struct breakdown *breakdown, const struct block *block, uint64_t index,
                     struct err *err)
{
    if (block->account >= breakdown->account_count || !breakdown->accounts[block->account].moments)
        return 0;
    struct account_breakdown *own = &breakdown->accounts[block->account];
    while (own->passed < own->moment_count && own->moments[own->passed] < index)
        own->passed++;
    if (!own->passed || own->moments[own->passed - 1] < block->life.begin_index)
        return 0;
    const size_t first = first_moment(own, own->passed, block->life.begin_index);
    uint64_t **sums = &own->sums[breakdown->groups.of(breakdown->groups.self, block)];
    if (!*sums && !(*sums = array_new(own->moment_count + 1, sizeof **sums, err)))
        return -1;
    (*sums)[first] += block->size_bytes;
    (*sums)[own->passed] -= block->size_bytes;
    return 0;
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    return change->birth ? 0 : add_block(self, change->block, at->index, at->err);
}

static int on_end(void *self, const struct cursor *at)
{
    struct breakdown *breakdown = self;
    const struct history *history = at->history;
    for (uint32_t i = 0; i < history->block_slots.used; i++)
        if (history->blocks[i].account != HISTORY_NONE &&
            add_block(breakdown, &history->blocks[i], INDEX_NONE, at->err))
            return -1;
    for (size_t i = 0; i < breakdown->account_count; i++) {
        const struct account_breakdown *own = &breakdown->accounts[i];
        for (size_t group = 0; own->sums && group < breakdown->groups.count; group++)
            for (size_t moment = 1; own->sums[group] && moment < own->moment_count; moment++)
                own->sums[group][moment] += own->sums[group][moment - 1];
    }
    return 0;
}

struct observer breakdown_observer(struct breakdown *breakdown)
{
    return (struct observer){.self = breakdown, .on_change = on_change, .on_end = on_end};
}

uint64_t breakdown_bytes(const struct breakdown *breakdown, uint32_t account, size_t group,
                         size_t moment)
{
    const uint64_t *sums = breakdown->accounts[account].sums[group];
    return sums ? sums[moment] : 0;
}
