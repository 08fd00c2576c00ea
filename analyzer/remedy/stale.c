/* SPDX-License-Identifier: MIT */
/* Follows gradients of the previous iteration; see stale.h. */
#include "stale.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

void stale_release(struct stale *stale)
{
    free(stale->kinds);
    pair_map_release(&stale->numbers);
}

/* Returns an unused kind, or PAIR_MAP_NONE if there is no memory. */
static uint32_t take_kind(struct stale *stale, struct err *err)
{
    if (stale->first_free) {
        const uint32_t number = stale->first_free - 1;
        stale->first_free = stale->kinds[number].next_free;
        return number;
    }
    if (ARRAY_GROW(stale->kinds, stale->capacity, stale->count, err))
        return PAIR_MAP_NONE;
    return (uint32_t)stale->count++;
}

/* Returns the kind of this place and size. Returns PAIR_MAP_NONE if there is no memory. */
static uint32_t reach_kind(struct stale *stale, uint32_t place, uint64_t size_bytes,
                           struct err *err)
{
    uint32_t number = pair_map_get(&stale->numbers, place, size_bytes);
    if (number != PAIR_MAP_NONE)
        return number;
    number = take_kind(stale, err);
    if (number == PAIR_MAP_NONE || pair_map_put(&stale->numbers, place, size_bytes, number, err))
        return PAIR_MAP_NONE;
    stale->kinds[number] = (struct stale_kind){.size_bytes = size_bytes, .place = place};
    return number;
}

static void free_kind(struct stale *stale, uint32_t number)
{
    struct stale_kind *kind = &stale->kinds[number];
    pair_map_remove(&stale->numbers, kind->place, kind->size_bytes);
    kind->next_free = stale->first_free;
    stale->first_free = number + 1;
}

/* Updates a kind when it is first used in an iteration, because resetting all kinds in each
 * iteration would be too slow. */
static struct stale_kind *kind_now(const struct stale *stale, uint32_t number)
{
    struct stale_kind *kind = &stale->kinds[number];
    if (kind->iteration != stale->iteration) {
        kind->stale_count = kind->live_count;
        kind->made_count = 0;
        kind->iteration = stale->iteration;
    }
    return kind;
}

int stale_begin_block(struct stale *stale, uint32_t place, uint64_t size_bytes,
                      struct stale_block *block, struct err *err)
{
    block->kind = reach_kind(stale, place, size_bytes, err);
    if (block->kind == PAIR_MAP_NONE)
        return -1;
    struct stale_kind *kind = kind_now(stale, block->kind);
    block->made = kind->made_count < kind->stale_count;
    kind->made_count += block->made;
    kind->live_count++;
    stale->live_bytes += size_bytes;
    return 0;
}

void stale_end_block(struct stale *stale, const struct stale_block *block, uint64_t size_bytes,
                     bool is_old, bool in_backward)
{
    struct stale_kind *kind = kind_now(stale, block->kind);
    kind->live_count--;
    stale->live_bytes -= size_bytes;
    if (!in_backward)
        stale->dropped_bytes += size_bytes;
    if (is_old) {
        kind->stale_count--;
        stale->stale_bytes -= size_bytes;
    } else if (block->made) {
        stale->made_bytes += size_bytes;
    }
    if (!kind->live_count)
        free_kind(stale, block->kind);
}

void stale_begin_iteration(struct stale *stale)
{
    stale->iteration++;
    stale->stale_bytes = stale->live_bytes;
    stale->made_bytes = 0;
    stale->are_dropped |= stale->dropped_bytes && stale->dropped_bytes >= stale->live_bytes;
    stale->dropped_bytes = 0;
}

int64_t stale_gone_bytes(const struct stale *stale)
{
    return (int64_t)(stale->stale_bytes - stale->made_bytes);
}
