/* SPDX-License-Identifier: MIT */
/*
 * A trace, replayed: what its events did to memory. replay.h fills it in one pass, and analyses
 * read it afterwards. It must not know how it is filled, nor any analysis.
 *
 *     event ──► block     a block is the life of one allocation; an account is what is summed
 *       │         │       together: the memory of one kind of a device, or of one framework pool; a span
 *       ▼         ▼       is one push and pop of a phase, and its path names it
 *     span      account
 *
 * What it holds grows with what is live, with what has a name (accounts, paths, mempools), and with
 * the moments that somebody asks about (past.h), never with the number of events. Of the blocks it
 * has those that are live at the end, and those that were live at such a moment and ended later.
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
 * An index counts the events in order, from 0. What "is live at" an event is live right after it.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_HISTORY_H
#define GPUMEMTRACE_ANALYZER_REPLAY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "card_processes.h"
#include "analyzer/load/trace.h"
#include "analyzer/util/slots.h"
#include "gpumemtrace/limits.h"

#define HISTORY_NONE UINT32_MAX /* no such account, path, mempool, span or block */
#define INDEX_NONE UINT64_MAX   /* of an event: there is none; of an end: not yet */
#define DEVICE_UNKNOWN (-1)
#define STREAM_UNKNOWN UINT64_MAX

/* Index of a device in tables by device. All unknown devices share one slot. */
#define DEVICE_SLOTS (INT8_MAX + 2)
#define DEVICE_SLOT(device) ((device) + 1)

enum { RESULT_OUT_OF_MEMORY = 2 }; /* of event.result, driver and runtime alike */

/* Something that began and ended; live right after the events from `begin` to before `end`. */
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
    uint32_t backward; /* number of the call of backward that ran then; 0: none */
};

/* Calls of backward, as the replay numbers them from 1; see replay/phase/backwards.h. */
enum { BACKWARDS_KEPT = 65536 };
struct backward_call {
    uint64_t begin_index;
    uint32_t stack_id;
};
struct backwards {
    struct backward_call *calls; /* the last ones, by number % BACKWARDS_KEPT */
    uint32_t count, open, thread_id;
};

enum block_end {
    BLOCK_LIVE,     /* at the end of the history */
    BLOCK_FREED,    /* by a successful call */
    BLOCK_IMPLICIT, /* with its context */
    BLOCK_LOST,     /* its address was handed out again without a free */
    BLOCK_RESIZED,  /* the block after it, born at the same event, goes on in its place */
};

struct block {
    struct life life;
    uint64_t address; /* or handle */
    uint64_t size_bytes;
    uint64_t stream; /* of a piece of a pool, else 0; STREAM_UNKNOWN */
    uint32_t stack_id;
    /* Where a backward allocated it: the stack of the first allocation of the forward operator that it
     * is the backward of (autograd.h). 0: no backward did, or not known. */
    uint32_t forward_stack_id;
    uint32_t backward;      /* number of the call of backward that took it; 0: none, or not known */
    uint32_t path;          /* phase of its birth, HISTORY_NONE: outside any */
    uint32_t deciding_path; /* the innermost phase around its birth that has a rule */
    uint32_t account;
    uint32_t mempool;     /* allocated from; HISTORY_NONE: not known, or another kind of memory */
    uint8_t memory;       /* enum memory_kind */
    uint8_t end;          /* enum block_end */
    bool is_segment;      /* a framework pool hands out pieces of it */
    bool outlived : 1;    /* it was live longer than the deciding phase */
    bool is_of_graph : 1; /* an operator that a backward is to go through took it */
};

struct account {
    int device;
    enum account_kind kind;
    uint64_t pool;   /* string id of a framework pool, 0 unless kind is ACCOUNT_pool */
    uint32_t driver; /* the account of the driver's memory of that device */
    uint64_t allocations_count, frees_count, failed_count;
    uint64_t implicit_frees_count, lost_frees_count;
    uint64_t live_bytes; /* now; at the end when the replay is over */
    uint64_t peak_bytes;
    bool has_begun;               /* a block was born */
    struct moment peak;           /* when that was reached first; none: nothing was ever live */
    uint64_t peak_reported_index; /* that the card's last answer before it reported; or INDEX_NONE */
    /* Of a driver's account: what the device's pools have handed out now; and when that was most while
     * the driver's memory was at its peak. */
    uint64_t pools_bytes, fullest_bytes, fullest_reported_index;
    struct moment fullest;
    uint32_t peak_path;            /* phase of the block that made the peak */
    struct moment asked;           /* the moment that was asked for; see replay.h */
    uint64_t asked_reported_index; /* as peak_reported_index */
    uint64_t asked_bytes;          /* live then, if it is the highest in a phase */
    bool has_segments;             /* a framework pool whose segments were seen */
    uint64_t reserved_bytes;       /* of those that are known by now */
    uint64_t peak_reserved_bytes;  /* the most that they were at once */
};

/* Whether tables of layers speak of it: device memory of the driver, and framework pools. */
static inline bool account_is_of_layer(const struct account *account)
{
    return account->kind == ACCOUNT_device || account->kind == ACCOUNT_pool;
}

/* What the card said of its memory: the answer of one cuMemGetInfo. */
struct memory_sample {
    bool known;
    struct life life; /* until the next answer of the same device */
    int device;
    uint64_t reported_index; /* the event that it speaks of: a module's comes after its sample */
    uint32_t thread_id;
    uint16_t call_id; /* that it was taken in; 0: in none */
    uint64_t free_bytes, total_bytes;
};

/* One call that failed. */
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
 * A failed allocation, as the program met it: one exception, or one call that returned an error. The
 * calls that a framework made in vain before it gave up are part of it; see replay/refused/failures.h.
 */
struct failure {
    uint64_t number; /* from 1, in the process */
    struct moment at;
    struct event event; /* the last call: the framework's own report, where there is one */
    uint32_t path;      /* phase it happened in, or HISTORY_NONE */
    uint32_t account;   /* that would have had the block */
    struct refusal refusals[FAILURE_REFUSALS]; /* the first calls, in order; `event` is the last */
    uint32_t refusals_count;                   /* in all */
    uint64_t flushed_bytes;      /* that the framework gave back to the driver between them */
    bool refused_by_framework;   /* it did not ask the driver, or got no refusal from it */
    uint32_t forward_stack_id;   /* as a block's */
    bool is_of_backward;         /* autograd's thread, which hands the exception to another one */
    bool went_on;                /* the program allocated, or tried to, after it */
    uint32_t went_on_stack_id;   /* the first that it did then; 0: not known, or by other threads */
    uint32_t others_count;       /* allocations of other threads after it; see failures.c */
    struct memory_sample sample; /* the card's last answer before it */
    uint64_t held_bytes;         /* of the driver's memory, by this process */
    struct card_processes processes; /* as NVML told its thread then; replay/process_answers.h */
    /* As the other processes' own traces say (oom/neighbours.h); own: the context at most. */
    struct card_processes traced;
    uint64_t limit_bytes; /* that the pool said it keeps to; 0: it said nothing */
};

/* Of many failures the first and the last are kept. */
enum { FAILURES_AT_EACH_END = 100 };

/* Refusals that a framework answered by flushing its cache, and was then served, or that it did
 * without: by site. */
struct retry_site {
    int device;
    uint32_t stack_id; /* of the calls that were refused */
    uint64_t retries_count, done_without_count, flushed_bytes;
    uint64_t requested_bytes; /* the most; of the driver, or of the pool where it did without */
    struct moment last;
};

/* A device that had an event, with its accounts; the pools' accounts are found by their device. */
struct device_use {
    int device;
    uint32_t accounts[ACCOUNT_COUNT]; /* all accounts but pool, which is HISTORY_NONE */
    uint32_t leading;                 /* account of the leading layer */
    uint64_t context_bytes_at_start;  /* of modules and limits, at its first device memory */
};

struct path {
    uint32_t parent;  /* path, HISTORY_NONE: outermost */
    const char *name; /* the trace's, or a phase's of inferred_phases.def */
    enum phase_source source;
    uint8_t rule;  /* what replay_plan.rule_of said of the name, PATH_RULE_NONE: nothing */
    bool is_asked; /* the phase that was asked for */
    char *text;    /* "epoch/forward", cut at PATH_TEXT_MAX */
};
#define PATH_TEXT_MAX LIMIT_phase_path_bytes
enum { PATH_RULE_NONE = UINT8_MAX };

/* Deeper phases become siblings at this depth. */
#define SPAN_DEPTH_MAX LIMIT_phase_depth

/* A range of driver memory from which a framework pool hands out tensors. */
struct segment {
    struct life life;
    uint64_t address, size_bytes;
    uint64_t stream;  /* of the first piece that was seen in it; STREAM_UNKNOWN */
    uint32_t account; /* of the pool */
    bool mapped;      /* a VMM mapping: a hole may go on in the next mapping */
    /* While it belongs to CUDA graphs (captures.h): neither idle nor reclaimable. */
    struct life of_graph;
    uint32_t private_pool; /* of those graphs, meanwhile; for captures.c */
};

/* Whether it belongs to a CUDA graph right after an event. */
static inline bool segment_is_of_graph(const struct segment *segment, uint64_t index)
{
    return life_covers(&segment->of_graph, index);
}

/* One report of a mempool, stream-ordered or for graphs. */
struct mempool_usage {
    struct life life; /* until its next report */
    uint32_t mempool;
    uint64_t reserved_bytes;
};

/* A pool of the driver; "pool" alone is a framework's. */
struct mempool {
    int device;
    uint64_t handle; /* 0: the device's mempool for graphs */
    uint8_t memory;  /* enum memory_kind of its blocks */
    uint64_t peak_used_bytes, peak_reserved_bytes;
    uint64_t live_bytes, peak_live_bytes; /* of the blocks allocated from it */
    bool reported;                        /* by a POOL_USAGE event */
    struct mempool_usage usage;           /* the last one, if it is reported */
};

/* Blocks, segments, samples or usages that are over; see past.h. */
struct ended {
    void *items;
    size_t item_bytes, count, capacity, prune_at;
};

/* Whoever finds moments while events go by, and asks who held memory then: whether one of them lies
 * in a life of that account. Asked when a block ends, and again when lists are thinned. */
struct keeper {
    const void *self;
    bool (*wants)(const void *self, uint32_t account, const struct life *life); /* NULL: nobody */
};

struct history {
    const struct trace *trace;
    struct keeper keeper;
    uint64_t event_count; /* events that count: those before the exit */
    struct moment last;   /* the last of them */
    bool has_exit;        /* it is the exit */

    /* All rows of the table event, those after the exit too. */
    uint64_t row_count, last_row_time_ns, last_row_seq, rows_by_kind[EVENT_KIND_COUNT];

    struct backwards backwards;
    struct account *accounts;
    size_t account_count, account_capacity;
    struct device_use *devices; /* by number; an unknown device first */
    size_t device_count, device_capacity;
    struct path *paths;
    size_t path_count, path_capacity;
    struct mempool *mempools;
    size_t mempool_count, mempool_capacity;
    struct failure *failures; /* in order; see FAILURES_AT_EACH_END */
    size_t failure_count, failure_capacity;
    uint64_t failures_in_all, failures_of_device[DEVICE_SLOTS];
    uint64_t asked_failure_number;   /* whose moment was asked for; 0: none */
    struct failure asked_failure;    /* where it is one of those that were dropped */
    bool has_open_failure;           /* one after which nothing was allocated yet */
    struct waiting_failure *waiting; /* it is not known yet; see replay/refused/failures.h */
    size_t waiting_count, waiting_capacity;
    struct retry_site *retries;
    size_t retry_count, retry_capacity;
    uint64_t retries_in_all, retries_flushed_bytes, done_without_in_all;
    struct moment *stops; /* the moments of replay_plan.stops */
    size_t stop_count;

    /* What is live; a free slot of the array has the account HISTORY_NONE. */
    struct block *blocks;
    size_t block_capacity;
    struct slots block_slots;
    struct segment *segments;
    size_t segment_capacity;
    struct slots segment_slots;
    struct memory_sample samples[DEVICE_SLOTS]; /* the last answers */

    /* What was live at a moment that somebody asks about, and has ended since. */
    bool forgets; /* nobody will ask */
    struct ended ended_blocks, ended_segments, ended_samples, ended_usages;
    struct live_sets *walked; /* moments that were walked last; for live_walk.c */
    uint64_t *pins;           /* ascending: moments that count for every account */
    size_t pin_count, pin_capacity;

    uint64_t unknown_frees_count, in_flight_count, unmatched_pops_count;
    uint64_t library_ranges_count; /* NVTX ranges of libraries, which are no phases */
};

void history_release(struct history *history);

/* The event that the card's last answer told of, as of now; INDEX_NONE: it has told nothing. */
static inline uint64_t history_reported_index(const struct history *history, int device)
{
    const struct memory_sample *sample = &history->samples[DEVICE_SLOT(device)];

    return sample->known ? sample->reported_index : INDEX_NONE;
}

/* What another tool recorded: of memory outside of what it watches, and of the end, nothing is known. */
bool history_is_imported(const struct history *history);
/* What no event of an imported trace tells of, nobody knows: no zero stands there. */
bool history_knows(const struct history *history, const struct account *account);

/* NULL: the device had no event. */
const struct device_use *history_device(const struct history *history, int device);

/* The failure of one device at that event, of those that are kept and the one that was asked for; NULL: none. */
const struct failure *history_failure_at(const struct history *history, int device, uint64_t index);

/* The card's last answer at a moment that is kept, of one device; NULL: none. */
const struct memory_sample *history_sample_at(const struct history *history, int device,
                                              uint64_t index);

#endif
