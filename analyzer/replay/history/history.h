/* SPDX-License-Identifier: MIT */
/*
 * A replayed trace: what its events did to memory. replay.h fills it in one pass; analyses read it
 * afterwards.
 *
 *     event ──► block     block: the life of one allocation
 *       │         │       account: bytes summed together, of one kind of memory on a device, or of
 *       ▼         ▼                one framework pool
 *     span      account   span: one push and pop of a phase; its path names it
 *
 * A history's memory grows with live blocks, with named things (accounts, paths, mempools), and
 * with the moments that are kept (past.h), never with the number of events. It has the blocks that
 * are live at the end, and the ended blocks that were live at a kept moment.
 *
 * Effect of each event:
 *
 *   ALLOC             Result 0: a block is born. Any other result: it is a failure, and no block is
 *                     born. Address 0: nothing happens. If a block is live at the address, that
 *                     block is lost, because its free was not seen.
 *   FREE              Result 0: the block ends. A free of an address without a block counts in
 *                     unknown_frees_count and not in frees_count, so that
 *                     allocations - frees - implicit - lost = live blocks. An error, or no result
 *                     (the process was killed inside the call): the block lives on. Exception: the
 *                     error says that a context is gone (4, 201, 709), and a context of the block's
 *                     device was destroyed after the block's birth. Then the block ends.
 *     of an import    All opens of the same memory make one block. Each open and close is counted,
 *                     and the last close ends the block.
 *     of VMM memory   A FREE releases one reference of the handle, and a RETAIN adds one. The
 *                     object ends when it has no reference, mapping or binding left. Its end counts
 *                     as one free, no matter which event removed the last of them. An imported
 *                     object has the size of its largest mapping so far.
 *   BIND              VMM memory lives in a multicast object or sparse array (`stream`) until
 *                     UNBIND or until that object ends.
 *   POOL_USAGE        The bytes that graphs use of a device's mempool for graphs are one block. It
 *                     lives from the first used byte until no byte is used. The addresses of a
 *                     graph's allocation nodes are known, but hold no bytes.
 *   MODULE_LOAD       A block is born. Its size is how much the device's free memory shrank between
 *   LIMIT             the samples before and after the call, without the bytes that are recorded
 *                     for the process between these samples.
 *   CONTEXT_DESTROY   Ends the plain, managed and host memory, the arrays, modules and limits of
 *                     its device that are younger than the context. These ends are implicit frees.
 *                     If the event of a block names its context in `object`, the block ends with
 *                     that context instead.
 *   EXIT              Nothing after the first exit or _exit changes any figure. An exec counts only
 *                     as the last event of its thread: a failed exec is followed by other events.
 *
 * A change of size ends the block (BLOCK_RESIZED) and begins the next one in its place; it is
 * neither an allocation nor a free.
 *
 * An index counts the events in order, from 0. A block that is live at an event is live right after
 * it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "card_processes.h"
#include "analyzer/load/site_id.h"
#include "analyzer/load/trace.h"
#include "analyzer/util/pair_map.h"
#include "analyzer/util/slots.h"
#include "gpumemtrace/limits.h"

#define HISTORY_NONE UINT32_MAX /* no such account, path, mempool, span or block */
#define INDEX_NONE UINT64_MAX   /* of an event: none; of an end: not yet */
#define DEVICE_UNKNOWN (-1)
#define STREAM_UNKNOWN UINT64_MAX

/* Index of a device in arrays by device. All unknown devices share one slot. */
#define DEVICE_SLOTS (INT8_MAX + 2)
#define DEVICE_SLOT(device) ((device) + 1)

enum { RESULT_OUT_OF_MEMORY = 2 }; /* of event.result, driver and runtime alike */

/* Lifetime of an object: it is live right after each event from `begin` to before `end`. */
struct life {
    uint64_t begin_index, end_index; /* end: INDEX_NONE: not yet */
};
static inline bool life_covers(const struct life *life, uint64_t index)
{
    return life->begin_index <= index && index < life->end_index;
}

/* A moment: the state right after an event. */
struct moment {
    uint64_t index; /* INDEX_NONE: there is no such moment */
    uint64_t seq, time_ns;
    uint32_t backward; /* number of the call to backward that ran then; 0: none */
};

/* Calls to backward, which the replay numbers from 1; see replay/phase/backwards.h. */
enum { BACKWARDS_KEPT = 65536 };
struct backward_call {
    uint64_t begin_index;
    uint32_t stack_id;
};
struct backwards {
    struct backward_call *calls; /* the last ones, at number % BACKWARDS_KEPT */
    uint32_t count, open, thread_id;
};

enum block_end {
    BLOCK_LIVE,     /* at the end of the history */
    BLOCK_FREED,    /* by a successful call */
    BLOCK_IMPLICIT, /* with its context */
    BLOCK_LOST,     /* its address was handed out again without a free */
    BLOCK_RESIZED,  /* the next block, born at the same event, continues it in another size */
};

struct block {
    struct life life;
    uint64_t address; /* or handle */
    uint64_t size_bytes;
    uint64_t stream;        /* stream of a piece of a pool, or STREAM_UNKNOWN; 0 for other blocks */
    uint64_t site_id;       /* site_id.h */
    uint32_t backward;      /* number of its call to backward; 0: none, or unknown */
    uint32_t path;          /* phase of its birth; HISTORY_NONE: none */
    uint32_t deciding_path; /* innermost phase around its birth that has a rule */
    uint32_t birth_round, end_round; /* backwards before its birth; before its end, if it ended */
    uint32_t account;
    uint32_t mempool;     /* HISTORY_NONE: unknown, or another kind of memory */
    uint8_t memory;       /* enum memory_kind */
    uint8_t end;          /* enum block_end */
    bool is_segment;      /* a framework pool hands out pieces of it */
    bool outlived : 1;    /* the block was live longer than the deciding phase */
    bool is_of_graph : 1; /* allocated by a forward operator that autograd records */
    bool free_failed : 1; /* a call that frees it returned an error */
    /* Set by uses.c: its call stack allocated again before it ended; a frame of the framework, not
     * a guess, told the inferred phase of its birth. */
    bool recurred : 1, is_of_framework : 1;
};

/* Tensors whose sizes are kept in history.sizes; those of init also in units, for uses.c. */
enum size_of { SIZE_OF_INIT, SIZE_OF_GRADIENT, SIZE_OF_INIT_UNITS };
/* The tensors of a call stack: there is one; one has not half the size of a tensor made in init;
 * backward went through one and left a gradient. A block of the call stack was a segment. */
enum stack_use {
    STACK_HAS_TENSOR = 1,
    STACK_HAS_NO_HALF = 2,
    STACK_IS_TRAINED = 4,
    STACK_HAS_SEGMENT = 8
};
struct stack_births {
    uint32_t count;                   /* blocks born */
    uint32_t first_round, last_round; /* backwards before the first and the last birth */
    uint32_t rounds_count;            /* rounds with a birth */
    uint8_t uses;                     /* enum stack_use */
};

/*
 * Tells how long a framework's pool has kept memory that nothing needed: the highest live bytes of
 * equal runs of births, since reserved_bytes fell last. If all runs are in use, two become one.
 */
enum { POOL_USE_RUNS = 64 };
struct pool_use {
    uint64_t reserved_bytes;           /* at the last birth */
    uint64_t births_count, run_births; /* of one run */
    uint64_t high_bytes[POOL_USE_RUNS];
};

struct account {
    int device;
    enum account_kind kind;
    uint64_t pool;   /* string id of a framework pool, 0 unless kind is ACCOUNT_pool */
    uint32_t driver; /* account of the driver's memory on this device */
    uint64_t allocations_count, frees_count, failed_count;
    uint64_t implicit_frees_count, lost_frees_count;
    uint64_t live_bytes; /* now; after the replay: at the end */
    uint64_t peak_bytes;
    bool has_begun;               /* a block was born */
    struct moment peak;           /* when peak_bytes was reached first; INDEX_NONE: never */
    uint64_t peak_reported_index; /* event of the card's last sample before `peak` */
    /*
     * Only in the driver's account: bytes that the device's pools have handed out now, and their
     * maximum while the driver's memory was at its peak.
     */
    uint64_t pools_bytes, fullest_bytes, fullest_reported_index;
    struct moment fullest;
    uint32_t peak_path;            /* phase of the block that made the peak */
    struct moment asked;           /* the requested moment; see replay.h */
    uint64_t asked_reported_index; /* as peak_reported_index */
    uint64_t asked_bytes;          /* live at `asked`, if that is the highest moment in a phase */
    bool has_segments;             /* framework pool whose segments were seen */
    uint64_t reserved_bytes;       /* of the segments known so far */
    uint64_t peak_reserved_bytes;  /* maximum of reserved_bytes */
    /* The moment with the highest live bytes while reserved_bytes was at its maximum: memory that
     * is idle then was needed at no time. INDEX_NONE: no segment was seen. */
    struct moment reserved_peak;
    uint64_t reserved_peak_live_bytes;
    struct pool_use use; /* of a framework's pool */
};

/* True for accounts in tables of layers: the driver's device memory, and framework pools. */
static inline bool account_is_of_layer(const struct account *account)
{
    return account->kind == ACCOUNT_device || account->kind == ACCOUNT_pool;
}

/* True for accounts in which the program itself allocates, so that it may leak there: those of
 * layers, managed memory, and pinned memory of the host. */
static inline bool account_may_leak(const struct account *account)
{
    return account_is_of_layer(account) || account->kind == ACCOUNT_managed ||
           account->kind == ACCOUNT_host;
}

/* The result of one cuMemGetInfo: the card's free memory. */
struct memory_sample {
    bool known;
    struct life life; /* until the next sample of the device */
    int device;
    uint64_t reported_index; /* event that it describes, see memory_samples.h */
    uint32_t thread_id;
    uint16_t call_id; /* call in which it was taken; 0: none */
    uint64_t free_bytes, total_bytes;
};

/* One failed call. */
struct refusal {
    struct moment at;
    uint64_t size_bytes;
    uint32_t stack_id;
    int32_t result;
    uint16_t hook_id, call_id;
    uint8_t memory; /* enum memory_kind */
};
enum { FAILURE_REFUSALS = 4 };

/*
 * A failed allocation as the program saw it: one exception, or one call that returned an error. It
 * includes the failed calls that a framework made before it gave up; see replay/refused/failures.h.
 */
struct failure {
    uint64_t number; /* from 1, in the process */
    struct moment at;
    struct event event; /* the framework's report of the failure; the last call if there is none */
    uint32_t path;      /* phase in which the failure happened, or HISTORY_NONE */
    uint32_t account;   /* the account that would have held the block */
    struct refusal refusals[FAILURE_REFUSALS]; /* first calls, in order; `event` is the last */
    uint32_t refusals_count;                   /* number of all calls */
    uint64_t flushed_bytes;      /* given back to the driver by the framework between the calls */
    bool refused_by_framework;   /* the framework refused; the driver had not refused before */
    uint64_t site_id;            /* of `event` */
    bool is_of_backward;         /* on autograd's thread, which passes exceptions to another one */
    bool went_on;                /* the program allocated, or tried to, after the failure */
    uint32_t went_on_stack_id;   /* stack of that attempt; 0: unknown, or by other threads */
    uint32_t others_count;       /* later allocations of other threads; see failures.c */
    struct memory_sample sample; /* the card's last sample before the failure */
    uint64_t held_bytes;         /* driver memory that this process held */
    struct card_processes processes; /* NVML's answer to the thread; replay/process_answers.h */
    uint64_t limit_bytes;            /* limit that the pool reported; 0: none */
};

/* A history keeps the first and the last failures, at most this many of each. */
enum { FAILURES_AT_EACH_END = 100 };

/*
 * Refused calls at one site that were no failures, because the driver served the request after the
 * framework had flushed its cache, or because the framework did without the memory.
 */
struct retry_site {
    int device;
    uint32_t stack_id; /* of the refused calls */
    uint64_t retries_count, done_without_count, flushed_bytes;
    uint64_t requested_bytes; /* largest request to the driver; to the pool if done without */
    struct moment last;
};

/* A device that had an event. Pool accounts are not listed here; find them by account.device. */
struct device_use {
    int device;
    uint32_t accounts[ACCOUNT_COUNT]; /* by kind; ACCOUNT_pool: HISTORY_NONE */
    uint32_t leading;                 /* account of the leading layer */
};

struct path {
    uint32_t parent;  /* HISTORY_NONE: outermost */
    const char *name; /* from the trace, or of inferred_phases.def */
    enum phase_source source;
    uint8_t rule;  /* result of replay_plan.rule_of; PATH_RULE_NONE: none */
    bool is_asked; /* the phase that was asked for */
    char *text;    /* "epoch/forward", cut at PATH_TEXT_MAX */
};
#define PATH_TEXT_MAX LIMIT_phase_path_bytes
/* The first rows of category_rules.def. */
enum { PATH_RULE_BACKWARD, PATH_RULE_FORWARD, PATH_RULE_NONE = UINT8_MAX };

/* A phase pushed below this depth becomes a sibling at this depth. */
#define SPAN_DEPTH_MAX LIMIT_phase_depth

/* A range of driver memory from which a framework pool hands out tensors. */
struct segment {
    struct life life;
    uint64_t address, size_bytes;
    uint64_t stream;  /* of the first piece seen in it; STREAM_UNKNOWN */
    uint64_t site_id; /* of this piece, whose request made the segment */
    uint32_t account; /* of the pool */
    bool mapped;      /* it is a VMM mapping: a free range may continue in the next mapping */
    /* While it belongs to CUDA graphs (captures.h): neither idle nor reclaimable. */
    struct life of_graph;
    uint32_t private_pool; /* pool of those graphs; for captures.c */
};

/* True if the segment belongs to a CUDA graph right after the event. */
static inline bool segment_is_of_graph(const struct segment *segment, uint64_t index)
{
    return life_covers(&segment->of_graph, index);
}

/* One usage report of a mempool, stream-ordered or for graphs. */
struct mempool_usage {
    struct life life; /* until its next report */
    uint32_t mempool;
    uint64_t reserved_bytes;
};

/* A mempool of the driver. (The word "pool" alone means a framework's pool.) */
struct mempool {
    int device;
    uint64_t handle; /* 0: the device's mempool for graphs */
    uint8_t memory;  /* enum memory_kind of its blocks */
    uint64_t peak_used_bytes, peak_reserved_bytes;
    uint64_t live_bytes, peak_live_bytes; /* of the blocks allocated from it */
    bool reported;                        /* a POOL_USAGE event reported it */
    struct mempool_usage usage;           /* the last one, if reported */
};

/* Copies of ended blocks, segments, samples or usages; see past.h. */
struct ended {
    void *items;
    size_t item_bytes, count, capacity, prune_at;
};

/*
 * Belongs to an observer that finds moments during the replay and needs the blocks of these
 * moments. wants() is true if such a moment of the account lies in the given life. The replay calls
 * it when a block ends, and when lists are pruned.
 */
struct keeper {
    const void *self;
    bool (*wants)(const void *self, uint32_t account, const struct life *life); /* or NULL */
};

struct history {
    const struct trace *trace;
    struct keeper keeper;
    uint64_t event_count; /* events that count: up to the exit */
    struct moment last;   /* the last of these */
    bool has_exit;        /* `last` is the exit */

    /* All rows of the table event, also after the exit. */
    uint64_t row_count, last_row_time_ns, last_row_seq, rows_by_kind[EVENT_KIND_COUNT];

    struct backwards backwards;
    uint32_t rounds_count;       /* phases of backward that began, each with those inside it */
    struct pair_map sizes;       /* of tensors, by enum size_of; see uses.h */
    struct stack_births *stacks; /* by stack id */
    size_t stack_count, stack_capacity;
    struct account *accounts;
    size_t account_count, account_capacity;
    struct device_use *devices; /* by device number; the unknown device first */
    size_t device_count, device_capacity;
    struct path *paths;
    size_t path_count, path_capacity;
    struct mempool *mempools;
    size_t mempool_count, mempool_capacity;
    struct failure *failures; /* in order; see FAILURES_AT_EACH_END */
    size_t failure_count, failure_capacity;
    uint64_t failures_in_all, failures_of_device[DEVICE_SLOTS];
    uint64_t asked_failure_number;   /* number of the failure that was asked for; 0: none */
    struct failure asked_failure;    /* a copy of that failure, if it was dropped */
    bool has_open_failure;           /* there is a failure after which nothing was allocated yet */
    struct waiting_failure *waiting; /* undecided refusals; see replay/refused/failures.h */
    size_t waiting_count, waiting_capacity;
    struct retry_site *retries;
    size_t retry_count, retry_capacity;
    uint64_t retries_in_all, retries_flushed_bytes, done_without_in_all;
    struct moment *stops; /* moments of replay_plan.stops */
    size_t stop_count;

    /* Live objects; a free slot of an array has the account HISTORY_NONE. */
    struct block *blocks;
    size_t block_capacity;
    struct slots block_slots;
    struct segment *segments;
    size_t segment_capacity;
    struct slots segment_slots;
    struct memory_sample samples[DEVICE_SLOTS]; /* the last sample of each device */

    /* Ended objects that were live at a kept moment. */
    bool forgets; /* the history keeps no ended objects */
    struct ended ended_blocks, ended_segments, ended_samples, ended_usages;
    struct live_sets *walked; /* sets of live blocks at recently walked moments; for live_walk.c */
    uint64_t *pins;           /* ascending: moments kept for every account */
    size_t pin_count, pin_capacity;

    int32_t failed_free_result; /* of the last free of a live block that returned an error */
    uint64_t unknown_frees_count, in_flight_count, unmatched_pops_count;
    uint64_t library_ranges_count; /* NVTX ranges of libraries, which are not phases */
};

void history_release(struct history *history);

/* Number of backwards before the block's end, or in all if it is live. */
static inline uint32_t block_end_round(const struct history *history, const struct block *block)
{
    return block->end == BLOCK_LIVE ? history->rounds_count : block->end_round;
}

/* Number of backwards that began during the block's life so far. */
static inline uint32_t block_rounds(const struct history *history, const struct block *block)
{
    return block_end_round(history, block) - block->birth_round;
}

/* True if the block was born in a phase of backward. Then its birth_round is the number of that
 * backward. */
static inline bool block_is_of_backward(const struct history *history, const struct block *block)
{
    return block->deciding_path != HISTORY_NONE &&
           history->paths[block->deciding_path].rule == PATH_RULE_BACKWARD;
}

/*
 * True for memory that the program made once and keeps over its training steps: several backwards
 * began while it was live, and its call stack allocated nothing in a later round. Without the
 * second condition, a batch that two losses use would also stay.
 */
enum { BLOCK_STAYS_ROUNDS = 2 }; /* in one, an activation is live too */
bool block_stays(const struct history *history, const struct block *block);

/* The event that the card's last sample so far describes. INDEX_NONE: there is no sample. */
static inline uint64_t history_reported_index(const struct history *history, int device)
{
    const struct memory_sample *sample = &history->samples[DEVICE_SLOT(device)];
    return sample->known ? sample->reported_index : INDEX_NONE;
}

/*
 * True for a trace that another tool recorded. Such a trace tells nothing about memory that the
 * tool does not watch, or about the program's end.
 */
bool history_is_imported(const struct history *history);
/* False if no event of an imported trace reports this account: show "unknown", not 0. */
bool history_knows(const struct history *history, const struct account *account);

/* NULL: the device had no event. */
const struct device_use *history_device(const struct history *history, int device);

/* The device's failure at that event, among the kept failures and asked_failure; NULL: none. */
const struct failure *history_failure_at(const struct history *history, int device, uint64_t index);

/* The device's last sample at a kept moment; NULL: none. */
const struct memory_sample *history_sample_at(const struct history *history, int device,
                                              uint64_t index);
