/* SPDX-License-Identifier: MIT */
/* Finds the driver's memory that no tensor shows; see beyond.h. */
#include "beyond.h"

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/util/pair_map.h"

uint32_t oom_beyond_account(const struct history *history, const struct oom *oom)
{
    return history->accounts[oom->account].driver;
}

static bool is_of_no_pool(const void *self, const struct block *block)
{
    (void)self;
    return !block->is_segment && block->memory != MEMORY_GRAPH;
}

static bool is_of_graph(const void *self, const struct block *block)
{
    return block->is_segment && block->memory != MEMORY_VMM &&
           pair_map_get(self, 0, block->address) != PAIR_MAP_NONE;
}

/* Collects the addresses of plain (not mapped) segments that belong to CUDA graphs. */
static int find_graphs(struct pair_map *begins, const struct history *history,
                       const struct oom *oom, struct err *err)
{
    const uint64_t index = oom->failure->at.index;
    struct live_walk walk = live_walk_begin(history, oom->account, index);
    const struct segment *segment;
    while ((segment = live_walk_next_segment(&walk)))
        if (!segment->mapped && segment_is_of_graph(segment, index) &&
            pair_map_put(begins, 0, segment->address, 1, err))
            return -1;
    return 0;
}

int oom_beyond_sites(struct sites *sites, const struct categories *categories,
                     const struct oom *oom, enum oom_beyond which, struct err *err)
{
    const struct history *history = categories->history;
    struct pair_map begins = {0};
    const struct block_filter filter = {
        .self = &begins, .takes = which == OOM_BEYOND_GRAPHS ? is_of_graph : is_of_no_pool};
    *sites = (struct sites){0};
    if (!oom->has_pool)
        return 0;
    const int status = (which == OOM_BEYOND_GRAPHS && find_graphs(&begins, history, oom, err)) ||
                               sites_taken_at(sites, categories, oom_beyond_account(history, oom),
                                              oom->failure->at.index, &filter, err)
                           ? -1
                           : 0;
    pair_map_release(&begins);
    return status;
}
