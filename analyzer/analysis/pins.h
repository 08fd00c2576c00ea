/* SPDX-License-Identifier: MIT */
/*
 * What keeps a pool's free memory where it is: the segments by stream, since memory of one stream
 * serves no other, and the call stacks, or lines, whose live blocks pin segments that are otherwise
 * free. It must not know how the moment was chosen.
 *
 *     segment 1   | A |      free      |       A pins 1 alone
 *     segment 2   | A |  free  | B |free|      A and B pin 2
 *
 *     pinned   free bytes of the segments that hold a block of the stack:  A 1 + 2, B 2
 *     alone    of those that hold no other stack's: they could go back to the driver:  A 1, B 0
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_PINS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_PINS_H

#include "segments.h"
#include "analyzer/blame/blame.h"

struct pin {
    uint32_t stack_id;
    uint64_t block_count, block_bytes; /* of its blocks in such segments */
    uint64_t segment_count, pinned_bytes, alone_bytes;
    size_t last_segment; /* while counting: one more than the number of the last segment */
};

struct pin_list {
    struct pin *items; /* that which pins most alone first, then that which pins most */
    size_t count, capacity;
};

/* By call stack, and by line: the stack of a line's pin is that of its first block. */
struct pins {
    struct pin_list stacks, lines;
    struct blame blame; /* of all those stacks */
};

/* Of segments that are not joined: segments_pieces_at. */
int pins_find(struct pins *pins, struct symbols *symbols, const struct segment_list *segments,
              struct err *err);
/* How many more call stacks pin with that line. */
size_t pins_others(const struct pins *pins, const struct blamed *blamed);
void pins_release(struct pins *pins);

struct pool_stream {
    uint64_t stream; /* STREAM_UNKNOWN */
    uint64_t segment_count, reserved_bytes, live_bytes, free_bytes;
    uint64_t largest_free_bytes, stranded_bytes;
};

struct pool_stream_list {
    struct pool_stream *items; /* by reserved bytes, the most first */
    size_t count, capacity;
};

/* Of joined segments: segments_at. What a graph holds is reserved, and neither free nor stranded. */
int pool_streams_find(struct pool_stream_list *streams, const struct segment_list *segments,
                      struct err *err);
void pool_streams_release(struct pool_stream_list *streams);

#endif
