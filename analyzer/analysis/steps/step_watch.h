/* SPDX-License-Identifier: MIT */
/*
 * Measures what each step did to each account: the peak, the bytes at the beginning, the bytes that
 * each stack allocated, and the work of the device's driver during the step. The first step begins
 * with the trace. The tail of the trace after the last end is no step.
 *
 * The memory that this takes is bounded for any number of steps. It keeps at most STEP_WINDOWS
 * windows of steps, each with its highest and its first step; sums for each call stack; and the
 * call stacks of the highest step. The first step of the trace is in no window.
 *
 *     steps     1 | 2 3 | 4 5 | 6 7 | …       windows of 2; twice as long when there are too many
 */
#pragma once

#include "site_numbers.h"
#include "step_ends.h"
#include "analyzer/replay/history/observer.h"

enum { STEP_WINDOWS = 128, STEP_AGES = 2 };

/* Requests for device memory on one device. */
struct driver_work {
    uint64_t calls_count;   /* allocations and frees that succeeded; refused allocations */
    uint64_t retries_count; /* requests refused at first, and served before the framework gave up */
    uint64_t flushed_bytes; /* of a pool's segments that were given back to the driver */
};

struct step {
    uint64_t ordinal; /* from 1 */
    uint64_t number;  /* the program's own number; the ordinal if the program gave none */
    uint64_t begin_index, begin_ns, end_ns;
    uint64_t start_bytes, end_bytes, peak_bytes, allocated_bytes;
    struct driver_work work;
};

/* Allocations of one call stack in one step. In a backward, the same call stack counts separately
 * for each forward operator. */
struct step_site {
    uint32_t number; /* index into the account's sites */
    uint64_t bytes, largest_bytes;
};

/* Allocations of such a call stack in all steps that ended, except the first. */
struct site_steps {
    uint64_t site_id;
    uint64_t steps_count;                  /* number of steps in which it allocated */
    uint64_t bytes, largest_bytes;         /* sums */
    uint64_t now_bytes, now_largest_bytes; /* in the open step */
    uint64_t all_bytes, all_largest_bytes; /* since the trace began; its largest block */
};

struct step_window {
    struct step highest, first;
};

struct account_steps {
    bool is_used; /* a block of it changed */
    struct site_numbers numbers;
    struct site_steps *sites;
    size_t site_count, site_capacity;
    uint32_t *touched; /* sites that allocated in the open step */
    size_t touched_count, touched_capacity;

    struct step current, first, last, highest; /* highest: of the ended steps */
    struct step_site *highest_sites;
    size_t highest_site_count, highest_site_capacity;
    struct step_window windows[STEP_WINDOWS];
    size_t window_count;
    uint64_t window_steps; /* steps per window; 0: none yet */

    uint64_t live_bytes, allocated_bytes; /* live now; allocated in all so far */
    /* Ends of the last steps before the step of the account's peak, the latest first. */
    uint64_t peak_ends[STEP_AGES + 1];
    uint64_t peak_ordinal; /* step of the peak; 0: unknown so far */
};

/* Ready for use if `ends` is set and all other fields are zeroed. */
struct step_watch {
    const struct step_ends *ends; /* owned by the caller; filled by an observer before this one */
    enum step_end kind;           /* kind of the ends; invalid if step_count is 0 */
    uint64_t step_count;          /* ended steps */
    uint64_t first_end_index, first_end_seq, last_end_seq;
    uint64_t recent_ends[STEP_AGES + 1]; /* events of the last ends, the latest first */
    uint64_t begin_ns;                   /* of the open step */
    struct account_steps *accounts;      /* by account */
    size_t account_count, account_capacity;
    struct driver_work work[DEVICE_SLOTS],
        begun_work[DEVICE_SLOTS];                /* now; at the beginning of the open step */
    struct driver_work first_work[DEVICE_SLOTS]; /* at the end of the first step */
    bool is_refused[DEVICE_SLOTS];               /* the driver refused; the request is open */
    uint64_t driver_ns, timed_count;             /* sums over the steps after the first */
    uint64_t end_ns;                             /* of the last event */
};

struct observer step_watch_observer(struct step_watch *watch);
void step_watch_release(struct step_watch *watch);

/* The steps of an account. NULL: the account had no memory. */
const struct account_steps *step_watch_of(const struct step_watch *watch, uint32_t account);
/* The step that was open when the trace ended, with what it did until then. */
struct step step_watch_open_step(const struct step_watch *watch, const struct account_steps *own,
                                 const struct account *account);
