/* SPDX-License-Identifier: MIT */
/* Segments of a pool and the blocks in them; see segments.h. */
#include "segments.h"

#include <stdlib.h>

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/util/array.h"
#include "analyzer/util/pair_map.h"

static int add_pool_segment(struct segment_list *list, const struct segment *segment,
                            uint64_t index, struct err *err)
{
    if (ARRAY_GROW(list->items, list->capacity, list->count, err))
        return -1;
    list->items[list->count++] =
        (struct pool_segment){.address = segment->address,
                              .size_bytes = segment->size_bytes,
                              .stream = segment->stream,
                              .begin_index = segment->life.begin_index,
                              .site_id = segment->site_id,
                              .mapped = segment->mapped,
                              .is_of_graph = segment_is_of_graph(segment, index)};
    return 0;
}

static int add_pool_block(struct segment_list *list, const struct block *block, struct err *err)
{
    if (ARRAY_GROW(list->blocks, list->block_capacity, list->block_count, err))
        return -1;
    list->blocks[list->block_count++] = block;
    return 0;
}

ORDER_BY(compare_segments, struct pool_segment, RISING(address));

ORDER_POINTERS_BY(compare_blocks, struct block, RISING(address));

static int collect_segments(struct segment_list *list, const struct history *history,
                            uint32_t account, uint64_t index, struct err *err)
{
    struct live_walk walk = live_walk_begin(history, account, index), segments = walk;
    const struct segment *segment;
    const struct block *block;
    while ((segment = live_walk_next_segment(&segments)))
        if (add_pool_segment(list, segment, index, err))
            return -1;
    while ((block = live_walk_next(&walk)))
        if (add_pool_block(list, block, err))
            return -1;
    return 0;
}

static void count_free_piece(struct pool_segment *segment, uint64_t bytes)
{
    if (bytes > segment->largest_free_bytes)
        segment->largest_free_bytes = bytes;
}

/* If in_parts is set, adds the part of the block that lies in this segment. If not, adds the whole
 * block, because a joined segment contains it completely. */
static void place_block(struct pool_segment *segment, const struct block *block, bool in_parts,
                        uint64_t *at)
{
    const uint64_t segment_end = segment->address + segment->size_bytes;
    uint64_t start = block->address, end = start + block->size_bytes;
    if (start > *at)
        count_free_piece(segment, start - *at);
    if (in_parts && start < *at)
        start = *at;
    if (in_parts && end > segment_end)
        end = segment_end;
    segment->live_bytes += end > start ? end - start : 0;
    *at = end > *at ? end : *at;
}

static bool lies_before(const struct block *block, uint64_t address, bool in_parts)
{
    return (in_parts ? block->address + block->size_bytes - 1 : block->address) < address;
}

/* Places the blocks in their segments. Both lists must be sorted by address. */
static void place_blocks(struct segment_list *list, bool in_parts)
{
    size_t first = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct pool_segment *segment = &list->items[i];
        uint64_t at = segment->address, end = at + segment->size_bytes;
        size_t next;

        while (first < list->block_count && lies_before(list->blocks[first], at, in_parts))
            first++;
        segment->first_block = first;
        segment->live_bytes = segment->largest_free_bytes = 0;
        for (next = first; next < list->block_count && list->blocks[next]->address < end; next++)
            place_block(segment, list->blocks[next], in_parts, &at);
        segment->block_count = next - first;
        if (at < end)
            count_free_piece(segment, end - at);
    }
}

static void find_free(struct segment_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct pool_segment *segment = &list->items[i];

        segment->free_bytes = segment->size_bytes - segment->live_bytes;
        segment->stranded_bytes = segment->block_count ? segment->free_bytes : 0;
    }
}

static void join_mappings(struct segment_list *list)
{
    size_t kept = 0;
    for (size_t i = 1; i < list->count; i++) {
        struct pool_segment *last = &list->items[kept], *next = &list->items[i];

        if (last->mapped && next->mapped && last->is_of_graph == next->is_of_graph &&
            next->address == last->address + last->size_bytes) {
            last->size_bytes += next->size_bytes;
            last->free_bytes += next->free_bytes;
            last->stranded_bytes += next->stranded_bytes;
        } else {
            list->items[++kept] = *next;
        }
    }
    if (list->count)
        list->count = kept + 1;
}

int segments_pieces_at(struct segment_list *list, const struct history *history, uint32_t account,
                       uint64_t index, struct err *err)
{
    *list = (struct segment_list){0};
    if (collect_segments(list, history, account, index, err)) {
        segments_release(list);
        return -1;
    }
    SORT(list->items, list->count, compare_segments);
    SORT(list->blocks, list->block_count, compare_blocks);
    place_blocks(list, true);
    find_free(list);
    return 0;
}

void segments_join(struct segment_list *list)
{
    join_mappings(list);
    place_blocks(list, false);
}

int segments_at(struct segment_list *list, const struct history *history, uint32_t account,
                uint64_t index, struct err *err)
{
    if (segments_pieces_at(list, history, account, index, err))
        return -1;
    segments_join(list);
    return 0;
}

void segments_release(struct segment_list *list)
{
    free(list->items);
    free(list->blocks);
    *list = (struct segment_list){0};
}

/* --- segments of graphs --- */

static int count_private_pools(size_t *count, const struct history *history, uint32_t account,
                               uint64_t index, struct err *err)
{
    struct live_walk walk = live_walk_begin(history, account, index);
    struct pair_map pools = {0};
    const struct segment *segment;
    int status = 0;
    while (!status && (segment = live_walk_next_segment(&walk)))
        if (segment_is_of_graph(segment, index))
            status = pair_map_put(&pools, 0, segment->private_pool, 1, err);
    *count = pools.count;
    pair_map_release(&pools);
    return status;
}

int segments_of_graphs(struct graph_share *share, const struct history *history, uint32_t account,
                       uint64_t index, struct err *err)
{
    struct segment_list list;
    *share = (struct graph_share){0};
    if (count_private_pools(&share->pools_count, history, account, index, err))
        return -1;
    if (!share->pools_count)
        return 0;
    if (segments_at(&list, history, account, index, err))
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        if (!list.items[i].is_of_graph)
            continue;
        share->live_bytes += list.items[i].live_bytes;
        share->free_bytes += list.items[i].free_bytes;
    }
    segments_release(&list);
    return 0;
}
