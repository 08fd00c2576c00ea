/* SPDX-License-Identifier: MIT */
/* Sums of allocations by call stack; see births.h. */
#include "births.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

uint32_t births_of(const struct births *births, uint32_t account, uint64_t site_id)
{
    return pair_map_get(&births->numbers, account, site_id);
}

static void note_free(struct births *births, const struct block *block, uint64_t index)
{
    const uint32_t number = births_of(births, block->account, block->site_id);
    const uint32_t last = pair_map_get(&births->last, 0, block->account);
    if (number == PAIR_MAP_NONE)
        return;
    struct birth_sum *sum = &births->items[number];
    sum->freed_count++;
    sum->freed_age += index - block->life.begin_index;
    if (!sum->votes_count)
        sum->freed_after = last;
    sum->votes_count += sum->freed_after == last ? 1 : UINT64_MAX;
}

static int note_birth(struct births *births, const struct block *block, const struct cursor *at)
{
    uint32_t number = births_of(births, block->account, block->site_id);
    if (number == PAIR_MAP_NONE) {
        if (ARRAY_GROW(births->items, births->capacity, births->count, at->err))
            return -1;
        number = (uint32_t)births->count++;
        births->items[number] =
            (struct birth_sum){.account = block->account, .site_id = block->site_id};
        if (pair_map_put(&births->numbers, block->account, block->site_id, number, at->err))
            return -1;
    }
    struct birth_sum *sum = &births->items[number];
    const uint64_t live_bytes = at->history->accounts[block->account].live_bytes;

    sum->bytes += block->size_bytes;
    sum->count++;
    if (live_bytes > sum->high_bytes) {
        sum->high_bytes = live_bytes;
        sum->high_seq = at->event->seq;
    }
    return pair_map_put(&births->last, 0, block->account, number, at->err);
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    if (change->birth)
        return note_birth(self, change->block, at);
    if (!change->is_resize)
        note_free(self, change->block, at->index);
    return 0;
}

struct observer births_observer(struct births *births)
{
    return (struct observer){.self = births, .on_change = on_change};
}

void births_release(struct births *births)
{
    free(births->items);
    pair_map_release(&births->numbers);
    pair_map_release(&births->last);
    *births = (struct births){0};
}
