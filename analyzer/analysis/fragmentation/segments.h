/* SPDX-License-Identifier: MIT */
/*
 * The segments that a framework's pool held at one moment, by address, and the blocks that it had
 * handed out in each.
 *
 *     segment   │ block │   hole    │ block │ block │ hole │     live + free = size
 *
 * Adjacent mappings of VMM objects form one (expandable) segment, if all or none of
 * them belong to a graph.
 */
#pragma once

#include "analyzer/blame/blame.h"
#include "analyzer/replay/history/history.h"

struct pool_segment {
    uint64_t address, size_bytes;
    uint64_t live_bytes, largest_free_bytes;
    uint64_t free_bytes;             /* summed over its mappings */
    uint64_t stranded_bytes;         /* part of free_bytes in mappings that hold a live block */
    uint64_t stream;                 /* of its mappings, if known; see struct segment */
    uint64_t begin_index;            /* event at which it, or its first mapping, began */
    uint64_t site_id;                /* of the request that made it */
    size_t first_block, block_count; /* its blocks: index of the first in the list, and number */
    bool mapped;
    bool is_of_graph; /* belongs to a live CUDA graph: neither idle nor reclaimable */
};

struct segment_list {
    struct pool_segment *items;
    size_t count, capacity;
    const struct block **blocks; /* all blocks of the pool by address, in known segments or not */
    size_t block_count, block_capacity;
};

int segments_at(struct segment_list *list, const struct history *history, uint32_t account,
                uint64_t index, struct err *err);
/* Like segments_at, but does not join mappings, because each mapping can go back to the driver by
 * itself. */
int segments_pieces_at(struct segment_list *list, const struct history *history, uint32_t account,
                       uint64_t index, struct err *err);
void segments_join(struct segment_list *list);
void segments_release(struct segment_list *list);

/* The memory in a pool's segments that belong to CUDA graphs. */
struct graph_share {
    uint64_t live_bytes; /* of blocks that were made in a capture, and live */
    uint64_t free_bytes;
    size_t pools_count; /* private pools that the segments belong to */
};
int segments_of_graphs(struct graph_share *share, const struct history *history, uint32_t account,
                       uint64_t index, struct err *err);
