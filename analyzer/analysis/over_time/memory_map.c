/* SPDX-License-Identifier: MIT */
/* Blocks and segments at a few moments; see memory_map.h. */
#include "memory_map.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* --- the largest blocks of a moment: a heap with the smallest first --- */

/* If two blocks have the same size, the one that was born later counts as smaller and is dropped
 * first. Thus the order in which blocks end does not matter. */
static bool is_smaller(const struct block *one, const struct block *other)
{
    if (one->size_bytes != other->size_bytes)
        return one->size_bytes < other->size_bytes;
    if (one->life.begin_index != other->life.begin_index)
        return one->life.begin_index > other->life.begin_index;
    return one->address > other->address;
}

static void swap(struct block *one, struct block *other)
{
    const struct block kept = *one;
    *one = *other;
    *other = kept;
}

static void sift_up(struct block *items, size_t at)
{
    for (; at && is_smaller(&items[at], &items[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&items[at], &items[(at - 1) / 2]);
}

static void sift_down(struct block *items, size_t count)
{
    for (size_t at = 0, least; 2 * at + 1 < count; at = least) {
        least = 2 * at + 1;
        if (least + 1 < count && is_smaller(&items[least + 1], &items[least]))
            least++;
        if (!is_smaller(&items[least], &items[at]))
            return;
        swap(&items[at], &items[least]);
    }
}

static int keep_block(struct map_blocks *blocks, size_t most, const struct block *block,
                      struct err *err)
{
    if (blocks->count < most) {
        if (ARRAY_GROW(blocks->items, blocks->capacity, blocks->count, err))
            return -1;
        blocks->items[blocks->count] = *block;
        sift_up(blocks->items, blocks->count++);
        return 0;
    }
    const bool is_kept = !is_smaller(block, &blocks->items[0]);
    blocks->left_out_count++;
    blocks->left_out_bytes += is_kept ? blocks->items[0].size_bytes : block->size_bytes;
    if (is_kept) {
        blocks->items[0] = *block;
        sift_down(blocks->items, blocks->count);
    }
    return 0;
}

static struct map_blocks *blocks_of(struct memory_map *map, uint32_t account, struct err *err)
{
    if (ARRAY_REACH(map->accounts, map->account_capacity, map->account_count, account, err))
        return NULL;
    if (!map->accounts[account])
        map->accounts[account] = array_new(map->moment_count, sizeof **map->accounts, err);
    return map->accounts[account];
}

/* Adds a block to each past moment of its life. Called when the block ends, or at the end of the
 * trace if it is still live. */
static int note_block(struct memory_map *map, const struct block *block, struct err *err)
{
    if (!map->next || map->moments[map->next - 1].index < block->life.begin_index)
        return 0;
    struct map_blocks *blocks = blocks_of(map, block->account, err);
    if (!blocks)
        return -1;
    for (size_t i = map->next; i-- > 0 && map->moments[i].index >= block->life.begin_index;)
        if (keep_block(&blocks[i], map->moments[i].most, block, err))
            return -1;
    return 0;
}

/* --- segments --- */

/* Adds a segment. Called when the segment ends, or at the end of the trace if it still exists. */
static int note_segment(struct memory_map *map, const struct segment *segment, struct err *err)
{
    size_t first = map->next;
    while (first && map->moments[first - 1].index >= segment->life.begin_index)
        first--;
    if (first == map->next || map->segment_count == MAP_SEGMENTS_MOST)
        return 0;
    if (ARRAY_GROW(map->segments, map->segment_capacity, map->segment_count, err))
        return -1;
    map->segments[map->segment_count++] = (struct map_segment){.address = segment->address,
                                                               .size_bytes = segment->size_bytes,
                                                               .account = segment->account,
                                                               .is_mapped = segment->mapped,
                                                               .first = first,
                                                               .end = map->next};
    return 0;
}

/* --- the replay --- */

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    return change->birth ? 0 : note_block(self, change->block, at->err);
}

static int on_segment(void *self, const struct cursor *at, const struct segment *segment)
{
    return note_segment(self, segment, at->err);
}

/* Passes the moments up to this event. A block that ends later was live at the moment of this
 * event. */
static int on_event(void *self, const struct cursor *at)
{
    struct memory_map *map = self;
    if (map->next < map->moment_count && at->index == map->moments[map->next].index)
        map->next++;
    return 0;
}

static int on_end(void *self, const struct cursor *at)
{
    const struct history *history = at->history;
    for (uint32_t i = 0; i < history->block_slots.used; i++)
        if (history->blocks[i].account != HISTORY_NONE &&
            note_block(self, &history->blocks[i], at->err))
            return -1;
    for (uint32_t i = 0; i < history->segment_slots.used; i++)
        if (history->segments[i].account != HISTORY_NONE &&
            note_segment(self, &history->segments[i], at->err))
            return -1;
    return 0;
}

struct observer memory_map_observer(struct memory_map *map)
{
    return (struct observer){.self = map,
                             .on_change = on_change,
                             .on_segment = on_segment,
                             .on_event = on_event,
                             .on_end = on_end};
}

void memory_map_release(struct memory_map *map)
{
    for (size_t i = 0; i < map->account_count; i++) {
        for (size_t k = 0; map->accounts[i] && k < map->moment_count; k++)
            free(map->accounts[i][k].items);
        free(map->accounts[i]);
    }
    free(map->accounts);
    free(map->segments);
    *map = (struct memory_map){0};
}

/* --- afterwards --- */

const struct map_blocks *memory_map_at(const struct memory_map *map, uint32_t account,
                                       size_t moment)
{
    return account < map->account_count && map->accounts[account] ? &map->accounts[account][moment]
                                                                  : NULL;
}

ORDER_BY(compare_blocks, struct block, RISING(address), RISING(life.begin_index));

int memory_map_blocks(const struct memory_map *map, uint32_t account, struct block **blocks,
                      size_t *count, struct err *err)
{
    const struct map_blocks *own = memory_map_at(map, account, 0);
    size_t all = 0, kept = 0;
    for (size_t i = 0; own && i < map->moment_count; i++)
        all += own[i].count;
    struct block *found = array_new(all, sizeof *found, err);
    if (!found)
        return -1;
    for (size_t i = 0, at = 0; own && i < map->moment_count; i++)
        for (size_t k = 0; k < own[i].count; k++)
            found[at++] = own[i].items[k];
    SORT(found, all, compare_blocks);
    for (size_t i = 0; i < all; i++)
        if (!kept || compare_blocks(&found[i], &found[kept - 1]))
            found[kept++] = found[i];
    *blocks = found;
    *count = kept;
    return 0;
}
