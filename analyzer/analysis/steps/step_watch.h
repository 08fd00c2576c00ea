/* SPDX-License-Identifier: MIT */
/*
 * What each step did to each account: its peak, what it began with, what it allocated and by whom, and
 * what the device's driver was asked for meanwhile. The first step begins with the trace; the tail,
 * after the last end, is no step. It must not know which step is of interest.
 *
 * Where nothing ends a step, it may be told which phase repeats, or which call stack's allocations
 * (growth.h): the ends of that phase, or all of those allocations but the first, then end a step, and
 * what follows the last one is the tail.
 *
 * Memory is bounded whatever the number of steps: at most STEP_WINDOWS windows of steps, of each the
 * highest step and the first one; sums for each call stack; the call stacks of the highest step. The
 * first step is in none of the windows.
 *
 *     steps     1 | 2 3 | 4 5 | 6 7 | …       windows of 2; twice as long when there are too many
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_STEP_WATCH_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_STEP_WATCH_H

#include "phase_period.h"
#include "step_ends.h"
#include "analyzer/replay/history/observer.h"

enum { STEP_WINDOWS = 128, STEP_AGES = 2 };

/* Calls for device memory, of one device. */
struct driver_work {
    uint64_t calls_count; /* allocations and frees that succeeded, allocations that were refused */
    uint64_t retries_count; /* refused, and served before the framework gave up */
    uint64_t flushed_bytes; /* of a pool's segments that went back to the driver */
};

struct step {
    uint64_t ordinal; /* from 1 */
    uint64_t number;  /* that the program gave it; else the ordinal */
    uint64_t begin_index, begin_ns, end_ns;
    uint64_t start_bytes, end_bytes, peak_bytes, allocated_bytes;
    struct driver_work work;
};

/* Allocations in one step by a call stack, in a backward for one forward operator. */
struct step_site {
    uint32_t number; /* of the account's sites */
    uint64_t bytes, largest_bytes;
};

/* The same over all steps after the first that are over. */
struct site_steps {
    uint32_t stack_id, forward_stack_id;   /* as a block's */
    uint64_t steps_count;                  /* that it allocated in */
    uint64_t bytes, largest_bytes;         /* sums */
    uint64_t now_bytes, now_largest_bytes; /* of the step that is not over */
};

struct step_window {
    struct step highest, first;
};

struct account_steps {
    /* By stack id the number of its site, from 1; 0: none. Of a backward, by its two stacks from 0. */
    uint32_t *numbers;
    struct pair_map backward_numbers;
    size_t stack_limit;
    struct site_steps *sites;
    size_t site_count, site_capacity;
    uint32_t *touched; /* numbers of the sites of the current step */
    size_t touched_count, touched_capacity;

    struct step current, first, last, highest; /* highest: of those that are over */
    struct step_site *highest_sites;
    size_t highest_site_count, highest_site_capacity;
    struct step_window windows[STEP_WINDOWS];
    size_t window_count;
    uint64_t window_steps; /* in one window; 0: none yet */

    uint64_t live_bytes, allocated_bytes; /* by now */
    /* Where the steps before the one of the account's peak ended, the last one first. */
    uint64_t peak_ends[STEP_AGES + 1];
    uint64_t peak_ordinal; /* 0: not known yet */
};

/* With its ends it is ready for use, and empty. */
struct step_watch {
    const struct step_ends *ends; /* the caller's, found by an observer before this one */
    struct step_period {
        struct phase_period phase;  /* name NULL: none was told */
        uint32_t account, stack_id; /* stack_id 0: none was told */
        uint64_t births_count;
    } period;
    enum step_end kind;  /* of the steps; means nothing while step_count is 0 */
    uint64_t step_count; /* that are over */
    uint64_t first_end_index, first_end_seq, last_end_seq;
    uint64_t recent_ends[STEP_AGES + 1]; /* event indices, the last one first */
    uint64_t begin_ns;                   /* of the current step */
    struct account_steps *accounts;      /* by account */
    size_t account_count, account_capacity;
    struct driver_work work[DEVICE_SLOTS],
        begun_work[DEVICE_SLOTS];                /* by now; at the step's begin */
    struct driver_work first_work[DEVICE_SLOTS]; /* at the end of the first step */
    bool is_refused[DEVICE_SLOTS];               /* the driver, and nobody was served since */
    uint64_t driver_ns, timed_count;             /* of steps after the first */
    uint64_t end_ns;                             /* of the last event */
};

struct observer step_watch_observer(struct step_watch *watch);
void step_watch_release(struct step_watch *watch);

/* NULL: the account had no memory. */
const struct account_steps *step_watch_of(const struct step_watch *watch, uint32_t account);
/* The step that had not ended when the trace did, as far as it went. */
struct step step_watch_open_step(const struct step_watch *watch, const struct account_steps *own,
                                 const struct account *account);

#endif
