/* SPDX-License-Identifier: MIT */
/*
 * Shows why a pool can neither use its free memory nor give it back. It lists the pool's segments
 * by stream, because memory of one stream serves no other stream. It also lists the call stacks,
 * and the lines, whose live blocks pin segments that would be free without these blocks.
 *
 *     segment 1   | A |      free      |       A pins 1 alone
 *     segment 2   | A |  free  | B |free|      A and B pin 2
 *
 *     pinned   the free bytes of all segments that hold a block of the stack: for A those of
 *              segments 1 and 2, for B those of segment 2
 *     alone    the part of the pinned bytes in segments that no other stack pins: for A those of
 *              segment 1, for B none. If the stack freed its blocks, these segments could go back
 *              to the driver.
 */
#pragma once

#include "segments.h"
#include "analyzer/blame/blame.h"

struct pin {
    uint32_t stack_id;
    uint32_t backward; /* number of its first block's call to backward; 0: none, or unknown */
    uint64_t block_count, block_bytes; /* of its blocks that lie in segments with free memory */
    uint64_t segment_count, pinned_bytes, alone_bytes;
    size_t last_segment; /* while counting: number of the last counted segment + 1 */
};

struct pin_list {
    struct pin *items; /* by alone_bytes, then by pinned_bytes, descending */
    size_t count, capacity;
};

/* The pins by call stack, and by line. The stack_id in the pin of a line is the stack of the line's
 * first block. */
struct pins {
    struct pin_list stacks, lines;
    struct blame blame; /* of all these stacks */
};

/* segments: must come from segments_pieces_at, which does not join mappings. */
int pins_find(struct pins *pins, struct symbols *symbols, const struct segment_list *segments,
              struct err *err);
/* The number of other call stacks that have the same line to blame as `blamed`. */
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

/* segments: must come from segments_at, which joins mappings. Bytes that a graph holds count as
 * reserved, but neither as free nor as stranded. */
int pool_streams_find(struct pool_stream_list *streams, const struct segment_list *segments,
                      struct err *err);
void pool_streams_release(struct pool_stream_list *streams);
