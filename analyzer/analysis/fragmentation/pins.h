/* SPDX-License-Identifier: MIT */
/*
 * Shows why a pool cannot use or give back its free memory: its segments by stream, because memory
 * of one stream serves no other; and the call stacks, or lines, whose live blocks pin segments that
 * are otherwise free.
 *
 *     segment 1   | A |      free      |       A pins 1 alone
 *     segment 2   | A |  free  | B |free|      A and B pin 2
 *
 *     pinned   free bytes of the segments that hold a block of the stack:  A 1 + 2, B 2
 *     alone    the part in segments pinned by this stack only; freeing it would return them to
 *              the driver:  A 1, B 0
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_FRAGMENTATION_PINS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_FRAGMENTATION_PINS_H

#include "segments.h"
#include "analyzer/blame/blame.h"

struct pin {
    uint32_t stack_id;
    uint64_t block_count, block_bytes; /* its blocks in segments with free memory */
    uint64_t segment_count, pinned_bytes, alone_bytes;
    size_t last_segment; /* while counting: number of the last counted segment + 1 */
};

struct pin_list {
    struct pin *items; /* by alone_bytes, then by pinned_bytes, descending */
    size_t count, capacity;
};

/* By call stack and by line. The pin of a line has the stack of its first block. */
struct pins {
    struct pin_list stacks, lines;
    struct blame blame; /* of all these stacks */
};

/* segments: not joined, from segments_pieces_at. */
int pins_find(struct pins *pins, struct symbols *symbols, const struct segment_list *segments,
              struct err *err);
/* Number of other call stacks that pin with the same line. */
size_t pins_others(const struct pins *pins, const struct blamed *blamed);
void pins_release(struct pins *pins);

struct pool_stream {
    uint64_t stream; /* may be STREAM_UNKNOWN */
    uint64_t segment_count, reserved_bytes, live_bytes, free_bytes;
    uint64_t largest_free_bytes, stranded_bytes;
};

struct pool_stream_list {
    struct pool_stream *items; /* by reserved bytes, descending */
    size_t count, capacity;
};

/* segments: joined, from segments_at. Bytes that a graph holds are reserved, but
 * neither free nor stranded. */
int pool_streams_find(struct pool_stream_list *streams, const struct segment_list *segments,
                      struct err *err);
void pool_streams_release(struct pool_stream_list *streams);

#endif
