/* SPDX-License-Identifier: MIT */
/*
 * A trace, replayed: what its events did to memory. replay.h fills it once; from then on it never
 * changes, and several threads may read it. It must not know how it is filled, nor any analysis.
 *
 *     event ──► change ──► block     a block is the life of one allocation; a change is its birth
 *                 │          │       or its death; a stock is what is summed together: one
 *                 ▼          ▼       account of a device, or one framework pool on it; a span is
 *               span       stock     one push and pop of a phase, and its path names it
 *
 * What each event does:
 *
 *   ALLOC             Result 0: a block is born. Any other result: a failure, no block. Address 0:
 *                     nothing. If a block is live at the address, that block is lost: its free was
 *                     not seen.
 *   FREE              Result 0: the block ends. A free of an address without a block counts in
 *                     unknown_frees_count and not in frees_count, so that
 *                     allocations - frees - implicit - lost = live blocks. An error, or no result
 *                     (the process was killed inside the call): the block lives on, unless the
 *                     error says that a context is gone (4, 201, 709) and one of the block's
 *                     device was destroyed after its birth.
 *     of an import    Opens of the same memory are one block. Each open and close is counted, and
 *                     the last close ends the block.
 *     of VMM memory   A FREE releases one reference of the handle, a RETAIN adds one. The object
 *                     ends with its last reference, mapping and binding, at whichever event that
 *                     is, and that is one free. An imported object has the size of its largest
 *                     mapping so far.
 *   BIND              VMM memory lives in a multicast object or sparse array (`stream`) until
 *                     UNBIND or until that object ends.
 *   POOL_USAGE        What a device's mempool for graphs holds is one block, from its first
 *                     byte until it is empty again. The addresses of a graph's allocation nodes
 *                     are known and hold nothing.
 *   MODULE_LOAD       A block of what the device's free memory before and after the call says,
 *   LIMIT             less what the process is known to have taken between the two samples.
 *   CONTEXT_DESTROY   Ends the plain, managed and host memory, the arrays, modules and limits of
 *                     its device that are younger than the context: implicit frees. Where the
 *                     event of a block names its context in `object`, that decides.
 *   EXIT              Nothing after the first exit or _exit changes any figure. An exec counts
 *                     only as the last event of its thread: one that failed is followed by others.
 *
 * A change of size ends the block (BLOCK_RESIZED) and begins the one that goes on in its place; it
 * is neither an allocation nor a free.
 *
 * Indices are of trace->events unless said otherwise; HISTORY_NONE stands for "none".
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_HISTORY_H
#define GPUMEMTRACE_ANALYZER_REPLAY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/load/trace.h"

#define HISTORY_NONE UINT32_MAX
#define DEVICE_UNKNOWN (-1)

enum { RESULT_OUT_OF_MEMORY = 2 }; /* of event.result, driver and runtime alike */

enum block_end {
    BLOCK_LIVE,     /* at the end of the history */
    BLOCK_FREED,    /* by a successful call */
    BLOCK_IMPLICIT, /* with its context */
    BLOCK_LOST,     /* its address was handed out again without a free */
    BLOCK_RESIZED,  /* the block after it, born at the same event, goes on in its place */
};

struct block {
    uint64_t address; /* or handle */
    uint64_t size_bytes;
    uint32_t alloc_index;
    uint32_t free_index; /* HISTORY_NONE: live at the end */
    uint32_t stack_id;
    uint32_t span; /* phase of its birth, HISTORY_NONE: outside any */
    uint32_t stock;
    uint32_t mempool; /* allocated from; HISTORY_NONE: not known, or another kind of memory */
    uint8_t memory;   /* enum memory_kind */
    uint8_t end;      /* enum block_end */
    bool is_segment;  /* a framework pool hands out pieces of it */
};

struct change {
    uint32_t event, block;
    uint32_t span; /* phase the event belongs to, HISTORY_NONE: outside any */
    bool birth;
};

struct stock {
    int device;
    enum memory_account account;
    uint64_t pool; /* string id of a framework pool, 0 unless account is ACCOUNT_pool */
    uint64_t allocations_count, frees_count, failed_count;
    uint64_t implicit_frees_count, lost_frees_count;
    uint64_t live_bytes; /* at the end */
    uint64_t peak_bytes;
    uint32_t peak_index; /* HISTORY_NONE: nothing was ever live */
};

/* A failed allocation. */
struct failure {
    uint32_t event;
    uint32_t span;  /* phase it happened in, or HISTORY_NONE */
    uint32_t stock; /* that would have had the block */
};

/* A device that had an event, with its stocks; the pools' stocks are found by their device. */
struct device_use {
    int device;
    uint32_t stocks[ACCOUNT_COUNT]; /* all accounts but pool, which is HISTORY_NONE */
    uint32_t leading;               /* stock of the leading layer */
};

struct path {
    uint32_t parent;  /* path, HISTORY_NONE: outermost */
    const char *name; /* the trace's, or a phase's of inferred_phases.def */
    enum phase_source source;
    char *text; /* "epoch/forward" */
};

/* Deeper spans (of ranges that are never ended) become siblings at this depth. */
#define SPAN_DEPTH_MAX 64

struct span {
    uint32_t path;
    uint32_t parent; /* span around it when it was pushed, HISTORY_NONE: none */
    uint32_t depth;  /* 1: outermost */
    uint32_t thread_id;
    uint32_t begin_index;
    uint32_t end_index; /* event_count of the history if it was never popped */
};

/* A range of driver memory from which a framework pool hands out tensors. */
struct segment {
    uint64_t address, size_bytes;
    uint32_t stock;                  /* of the pool */
    uint32_t begin_index, end_index; /* end: HISTORY_NONE: until the end */
    bool mapped;                     /* a VMM mapping: a hole may go on in the next mapping */
};

/* Whether the pool still held the segment right after event `index`. */
static inline bool segment_is_held(const struct segment *segment, uint32_t index)
{
    return segment->begin_index <= index &&
           (segment->end_index == HISTORY_NONE || segment->end_index > index);
}

/* One report of a mempool, stream-ordered or for graphs. */
struct mempool_usage {
    uint32_t event, mempool;
    uint64_t used_bytes, reserved_bytes;
};

/* A pool of the driver; "pool" alone is a framework's. */
struct mempool {
    int device;
    uint64_t handle; /* 0: the device's mempool for graphs */
    uint8_t memory;  /* enum memory_kind of its blocks */
    uint64_t peak_used_bytes, peak_reserved_bytes;
    uint64_t live_bytes, peak_live_bytes; /* of the blocks allocated from it */
    bool reported;                        /* by a POOL_USAGE event */
};

/* What the card said of its memory. */
struct memory_sample {
    uint32_t event; /* DEVICE_MEMORY */
    uint32_t told;  /* the event that it speaks of: a module's comes after its sample */
};

/* The blocks that were live before a change; see live_walk.h. */
struct live_list {
    size_t change;
    size_t start; /* in live_listed; it ends where the next one starts */
};

struct history {
    const struct trace *trace;
    uint32_t event_count; /* events that count: those before the exit */
    uint32_t exit_index;  /* the EXIT event, HISTORY_NONE: the trace has none */

    struct block *blocks;
    size_t block_count, block_capacity;
    struct change *changes; /* in event order */
    size_t change_count, change_capacity;
    struct stock *stocks;
    size_t stock_count, stock_capacity;
    struct device_use *devices; /* by number; an unknown device first */
    size_t device_count, device_capacity;
    struct path *paths;
    size_t path_count, path_capacity;
    struct span *spans; /* in the order of their push */
    size_t span_count, span_capacity;
    struct segment *segments;
    size_t segment_count, segment_capacity;
    struct mempool *mempools;
    size_t mempool_count, mempool_capacity;
    struct mempool_usage *usages;
    size_t usage_count, usage_capacity;

    struct failure *failures;
    size_t failure_count, failure_capacity;
    uint32_t *steps; /* STEP events */
    size_t step_count, step_capacity;
    struct memory_sample *memory_samples;
    size_t memory_sample_count, memory_sample_capacity;

    struct live_list *live_lists; /* ascending change */
    size_t live_list_count, live_list_capacity;
    uint32_t *live_listed; /* blocks */
    size_t live_listed_count;

    uint64_t unknown_frees_count, in_flight_count, unmatched_pops_count;
};

void history_release(struct history *history);

/* NULL: the device had no event. */
const struct device_use *history_device(const struct history *history, int device);

/* The number of changes that happened before event `index`: the first of its own changes. */
size_t history_changes_before(const struct history *history, uint64_t index);

/* The block that event `index` brought to life; NULL: none. */
const struct block *history_birth_at(const struct history *history, uint32_t index);

/* Whether the block is live right after event `index`. */
static inline bool block_is_live(const struct block *block, uint32_t index)
{
    return block->alloc_index <= index &&
           (block->free_index == HISTORY_NONE || block->free_index > index);
}

#endif
