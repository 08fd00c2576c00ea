/* SPDX-License-Identifier: MIT */
/*
 * The segments that a framework pool held at one moment, and the blocks it had handed out in each,
 * in the order of their addresses. It must not know how the moment was chosen.
 *
 *     segment   │ block │   hole    │ block │ block │ hole │     live + free = size
 *
 * Mappings of VMM objects that follow one another without a gap are one segment (an expandable
 * one), if all or none of them belong to a graph.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_SEGMENTS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_SEGMENTS_H

#include "analyzer/replay/history/history.h"

struct pool_segment {
    uint64_t address, size_bytes;
    uint64_t live_bytes, largest_free_bytes;
    uint64_t free_bytes;             /* summed over its mappings */
    uint64_t stranded_bytes;         /* of that, in mappings that hold a live block */
    uint64_t stream;                 /* of its pieces, as far as it is known: struct segment */
    size_t first_block, block_count; /* in the list's blocks */
    bool mapped;
    bool is_of_graph; /* of a CUDA graph that exists: neither idle nor reclaimable */
};

struct segment_list {
    struct pool_segment *items;
    size_t count, capacity;
    const struct block **blocks; /* of the pool by address, also those in no known segment */
    size_t block_count, block_capacity;
};

int segments_at(struct segment_list *list, const struct history *history, uint32_t account,
                uint64_t index, struct err *err);
/* The same before mappings are joined, each of which can go back to the driver by itself. */
int segments_pieces_at(struct segment_list *list, const struct history *history, uint32_t account,
                       uint64_t index, struct err *err);
void segments_join(struct segment_list *list);
void segments_release(struct segment_list *list);

#endif
