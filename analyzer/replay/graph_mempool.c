/* SPDX-License-Identifier: MIT */
/* The mempool for graphs; see graph_mempool.h. */
#include "graph_mempool.h"

/* Begins, resizes or ends the mempool's block. HISTORY_NONE: out of memory. */
static uint32_t follow_size(struct blocks *blocks, uint32_t number, uint32_t mempool)
{
    const struct event *event = blocks->at.event;
    if (number != PAIR_MAP_NONE) {
        uint32_t stack_id = event->stack_id
                                ? event->stack_id
                                : site_stack(blocks->at.history->blocks[number].site_id);
        return blocks_resize(blocks, number, event->address, stack_id) ? HISTORY_NONE : number;
    }
    struct block born = blocks_described(blocks);
    if (born.account == HISTORY_NONE)
        return HISTORY_NONE;
    born.size_bytes = event->address;
    born.address = (uint64_t)DEVICE_SLOT(event->device);
    born.mempool = mempool;
    return blocks_begin(blocks, &born);
}

int graph_mempool_report(struct blocks *blocks)
{
    const struct cursor *at = &blocks->at;
    uint32_t mempool = mempools_find_graph(&blocks->mempools, at);
    if (mempool == HISTORY_NONE || mempools_report(at, mempool))
        return -1;
    const uint64_t address = (uint64_t)DEVICE_SLOT(at->event->device);
    const uint64_t used_bytes = at->event->address;
    if (!used_bytes)
        return blocks_end_at(blocks, SPACE_GRAPH, address, BLOCK_FREED);
    uint32_t number = pair_map_get(&blocks->live, SPACE_GRAPH, address);
    if (number != PAIR_MAP_NONE && at->history->blocks[number].size_bytes == used_bytes)
        return 0;
    number = follow_size(blocks, number, mempool);
    if (number == HISTORY_NONE)
        return -1;
    return pair_map_put(&blocks->live, SPACE_GRAPH, address, number, at->err);
}
