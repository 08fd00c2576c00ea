/* SPDX-License-Identifier: MIT */
/*
 * What kept each block alive when Python's objects were walked. Watches the replay: at the event of
 * a walk it joins the walk's rows (trace->holders) with the blocks that are live then.
 *
 *     walk      ──┬──────────────┬─────►   A row names a storage by its first byte. The block is
 *       rows      │ join         │         the one of a pool that has this byte, else the one of
 *     live blocks ┴──────────────┴─────►   the driver. A block has one row, its largest storage.
 *
 * The blocks that were live at a walk are kept, never the events.
 */
#pragma once

#include "analyzer/load/trace.h"
#include "analyzer/replay/history/observer.h"

struct held_block {
    uint32_t account, stack_id;
    uint64_t address, size_bytes, begin_index; /* of the block */
    const struct trace_holder *holder;         /* NULL: the walk found none */
    bool is_of_pool;
};

struct walk_blocks {
    const struct trace_walk *walk;
    struct moment at;          /* the walk saw what was live then */
    struct held_block *blocks; /* all that were live, by account, address and birth */
    size_t count;
};

/* Ready for use if `trace` is set and all other fields are zeroed. */
struct holders {
    const struct trace *trace;
    struct walk_blocks *walks; /* in the order of their events */
    size_t count;
    struct moment before; /* the event before the current one */
};

struct observer holders_observer(struct holders *holders);
void holders_release(struct holders *holders);

/* The last walk at or before an event; NULL: there is none. */
const struct walk_blocks *holders_last_walk(const struct holders *holders, uint64_t index);
/* The walk that is nearest to an event, before or after it. If an allocation failed at the event
 * (is_failure), this is the walk for that failure, which has the same event or follows it. NULL:
 * there are no walks. */
const struct walk_blocks *holders_nearest_walk(const struct holders *holders, uint64_t index,
                                               bool is_failure);

/* Returns the block of the walk that is this block. NULL: it did not live at the walk. */
const struct held_block *walk_blocks_find(const struct walk_blocks *walk,
                                          const struct block *block);
