/* SPDX-License-Identifier: MIT */
/* Live blocks at a moment; see live_walk.h. */
#include "live_walk.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

/* The blocks that are live after a number of changes, without gaps. */
struct live_set {
    uint32_t *blocks;
    uint32_t *positions; /* of each block in `blocks` */
    size_t count;
};

static void apply_to_set(struct live_set *set, const struct change *change)
{
    if (change->birth) {
        set->positions[change->block] = (uint32_t)set->count;
        set->blocks[set->count++] = change->block;
    } else {
        uint32_t position = set->positions[change->block], last = set->blocks[--set->count];
        set->blocks[position] = last;
        set->positions[last] = position;
    }
}

static int keep_list(struct history *history, size_t change, const struct live_set *set,
                     struct err *err)
{
    struct live_list *lists = array_grow(history->live_lists, &history->live_list_capacity,
                                         history->live_list_count, sizeof *lists, err);
    if (!lists)
        return -1;
    history->live_lists = lists;
    size_t start = history->live_listed_count;
    if (set->count) {
        uint32_t *listed = realloc(history->live_listed, (start + set->count) * sizeof *listed);
        if (!listed) {
            err_set(err, ERR_SYSTEM, "out of memory for lists of live blocks");
            return -1;
        }
        history->live_listed = listed;
        memcpy(listed + start, set->blocks, set->count * sizeof *listed);
    }
    lists[history->live_list_count++] = (struct live_list){.change = change, .start = start};
    history->live_listed_count = start + set->count;
    return 0;
}

int live_lists_build(struct history *history, struct err *err)
{
    struct live_set set = {
        .blocks = array_new(history->block_count, sizeof *set.blocks, err),
        .positions = array_new(history->block_count, sizeof *set.positions, err),
    };
    size_t since = 0;
    int status = -1;
    if (!set.blocks || !set.positions)
        goto out;
    for (size_t i = 0; i < history->change_count; i++) {
        if (since >= LIVE_LIST_CHANGES && since >= set.count) {
            if (keep_list(history, i, &set, err))
                goto out;
            since = 0;
        }
        apply_to_set(&set, &history->changes[i]);
        since++;
    }
    status = 0;
out:
    free(set.blocks);
    free(set.positions);
    return status;
}

/* The last list that was kept at or before the change; the number of lists if there is none. */
static size_t list_before(const struct history *history, size_t change)
{
    size_t low = 0, high = history->live_list_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history->live_lists[middle].change <= change)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : history->live_list_count;
}

struct live_walk live_walk_begin(const struct history *history, uint32_t index)
{
    size_t changes = history_changes_before(history, (uint64_t)index + 1),
           list = list_before(history, changes);
    struct live_walk walk = {.history = history, .index = index, .change_end = changes};
    if (list == history->live_list_count)
        return walk;
    walk.change = history->live_lists[list].change;
    walk.listed = history->live_lists[list].start;
    walk.listed_end = list + 1 < history->live_list_count ? history->live_lists[list + 1].start
                                                          : history->live_listed_count;
    return walk;
}

const struct block *live_walk_next(struct live_walk *walk)
{
    const struct history *history = walk->history;
    while (walk->listed < walk->listed_end) {
        const struct block *block = &history->blocks[history->live_listed[walk->listed++]];
        if (block_is_live(block, walk->index))
            return block;
    }
    while (walk->change < walk->change_end) {
        const struct change *change = &history->changes[walk->change++];
        const struct block *block = &history->blocks[change->block];
        if (change->birth && block_is_live(block, walk->index))
            return block;
    }
    return NULL;
}
