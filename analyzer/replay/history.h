/* SPDX-License-Identifier: MIT */
/*
 * A trace, replayed: what its events did to memory. Built once by history_build, then immutable and
 * safe to read from several threads. It must not know any analysis, nor how anything is printed.
 *
 *     event ──► change ──► block          a block is one allocation's life; a change is its birth
 *                 │          │            or its death; a stock is what is summed together: one
 *                 ▼          ▼            account of one device, or one framework pool on it
 *               stock       span          a span is one push..pop of a phase; its path names it
 *
 * What each event does:
 *   ALLOC   result 0: a block is born. Other results: a failure, no block. Address 0: nothing.
 *           An address that is already live: its old block is lost (the free was not seen).
 *   FREE    result 0: the block ends; of an address nobody allocated: counted in unknown_frees and
 *           not in `frees`, so that allocations - frees - implicit - lost = live blocks. No result
 *           (in progress at a kill) and errors: it lives on, unless the error says that a context
 *           is gone (4, 201, 709) and one of its device was destroyed after its birth.
 *   imports opened again are one block: each open and close is counted, the last close ends it.
 *   VMM     a FREE releases one reference of the handle, a RETAIN adds one; the object ends with
 * its last reference, mapping and binding, at whichever event that is, and that is one free. The
 * size of an imported object is that of its largest mapping so far. BIND    into a multicast object
 * or sparse array (`stream`), until UNBIND or that object's end. graphs  the addresses of
 * allocation nodes are known and hold nothing. What the device's pool for graphs holds (POOL_USAGE)
 * is one block, from its first byte until it is empty again. MODULE_LOAD, LIMIT   a block of what
 * the device's free memory before and after the call says, less what the process is known to have
 * taken between the two samples. CONTEXT_DESTROY   ends the plain, managed and host memory, the
 * arrays, modules and limits of its device that are younger than the context: implicit frees. An
 * event that names its context in `object` decides that exactly. a change of size  ends the block
 * (BLOCK_RESIZED) and brings one that goes on; it is no allocation and no free. EXIT    nothing
 * behind the first exit or _exit changes any figure. An exec counts only as the last word: one that
 * failed is followed by more events.
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
    uint32_t mempool;        /* it was handed out of; HISTORY_NONE: not known, or another kind */
    uint32_t next, previous; /* private to the replay: live blocks of the device */
    uint32_t reopened_count; /* private to the replay: opens of an import beyond the first */
    uint8_t memory;          /* enum memory_kind */
    uint8_t end;             /* enum block_end */
    bool is_segment;         /* a framework pool hands out pieces of it */
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

/* Deeper nesting (a range that is never ended, again and again) is told flat from here on. */
#define SPAN_DEPTH_MAX 64

struct span {
    uint32_t path;
    uint32_t parent; /* span around it when it was pushed, HISTORY_NONE: none */
    uint32_t depth;  /* 1: outermost */
    uint32_t thread_id;
    uint32_t begin_index;
    uint32_t end_index; /* event_count of the history if it was never popped */
};

/* A piece of driver memory out of which a framework pool hands out tensors. */
struct segment {
    uint64_t address, size_bytes;
    uint32_t stock;                  /* of the pool */
    uint32_t begin_index, end_index; /* end: HISTORY_NONE: until the end */
    bool mapped;                     /* a VMM mapping: holes go on in a neighbouring mapping */
};

/* Whether the pool still held the segment right after event `index`. */
static inline bool segment_is_held(const struct segment *segment, uint32_t index)
{
    return segment->begin_index <= index &&
           (segment->end_index == HISTORY_NONE || segment->end_index > index);
}

/* One report of a pool of the driver, stream-ordered or for graphs. */
struct pool_usage {
    uint32_t event, mempool;
    uint64_t used_bytes, reserved_bytes;
};

struct mempool {
    int device;
    uint64_t handle; /* 0: the device's pool for graphs */
    uint8_t memory;  /* enum memory_kind of its blocks */
    uint64_t peak_used_bytes, peak_reserved_bytes;
    uint64_t live_bytes, peak_live_bytes; /* blocks handed out of it */
    bool reported;                        /* by a POOL_USAGE event */
};

/* What the card said of its memory. */
struct memory_sample {
    uint32_t event; /* DEVICE_MEMORY */
    uint32_t told;  /* the event that tells what it speaks of: a module comes behind its sample */
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
    struct pool_usage *usages;
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

int history_build(struct history *history, const struct trace *trace, struct err *err);
void history_release(struct history *history);

/* NULL: the device had no event. */
const struct device_use *history_device(const struct history *history, int device);

/* The block that event `index` brought to life; NULL: none. */
const struct block *history_birth_at(const struct history *history, uint32_t index);

/* Whether the block is live right after event `index`. */
static inline bool block_is_live(const struct block *block, uint32_t index)
{
    return block->alloc_index <= index &&
           (block->free_index == HISTORY_NONE || block->free_index > index);
}

/* One event as a visitor sees it; an event that ends several blocks comes once for each. */
struct step {
    const struct history *history;
    const struct event *event;
    uint32_t index;
    const struct block *block;  /* NULL: the event changed no memory */
    int64_t delta_bytes;        /* what this change added to the block's stock */
    const uint64_t *live_bytes; /* by stock, after this change */
};

struct visitor {
    void *self;
    void (*on_event)(void *self, const struct step *step);
};

/* Shows every event that counts to every visitor, in order. -1: no memory. */
int history_visit(const struct history *history, const struct visitor *visitors, size_t count,
                  struct err *err);

#endif
