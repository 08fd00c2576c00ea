/* SPDX-License-Identifier: MIT */
/*
 * Finds the leak of one account of a trace, and how many steps remain until the card is full.
 * steps/growth.h defines growth, and steps/leak.h defines a leak.
 */
#pragma once

#include "study.h"
#include "analyzer/analysis/steps/leak.h"
#include "analyzer/blame/blame.h"

/* One row for each line to blame. It sums the sites of that line that grow or churn. */
struct leak_row {
    const struct blamed *blamed; /* of its first stack */
    size_t stack_count;
    const char *cache;       /* name of the first stack's known cache; NULL: no known cache */
    bool is_left_out;        /* its blocks are segments of a pool, whose own account counts them */
    bool is_enlarged;        /* the first stack's blocks become larger (growth.h) */
    bool is_saw;             /* the first stack's bytes are swept again and again (sweeps.h) */
    bool is_of_graph;        /* autograd keeps most blocks of the first stack */
    bool is_of_cause;        /* it rises and dies together with the steepest row that is no cache */
    double slope, low, high; /* growth in bytes per step, with its bounds */
    double rise_bytes;       /* in a step that raises its bytes */
    uint64_t first_bytes, last_bytes, rises_count;
    uint64_t end_bytes;          /* live at the end */
    const struct growing *first; /* its first stack */
    uint64_t churn_bytes, churn_count;
};

struct leak_rows {
    struct leak_row *items; /* by slope or by churned bytes, descending */
    size_t count;
};

struct account_leak {
    struct growth growth; /* of the steps; if only the rounds after the last step leak, of these */
    struct leak leak;
    struct blame blame; /* of the stacks that grow and those that churn */
    struct leak_rows growing, churn;
    uint64_t rise_steps; /* the rows of the cause rise in one of so many steps; 1: in each, or in no
                            regular ones */
    bool is_gone; /* at the end, less than half of what had grown by the last step is still live */
    bool knows_steps_left; /* something grows, and the size of the card is known */
    double steps_left;     /* steps until the peak fills the card; an estimate */
};

/* Growth of an account from step to step that a slope does not show, because it stopped. */
struct leak_rounds {
    uint64_t count;   /* steps in which the bytes rose */
    uint64_t bytes;   /* mean rise in these steps */
    bool has_stopped; /* the bytes did not rise in the last FEWEST_ENDS steps */
};

/* Returns false if the trace has too few steps or rises, or if the bytes fell at some step. */
bool leak_rounds_find(struct leak_rounds *rounds, const struct growth_watch *watch,
                      uint32_t account);

/* True if the leak is in rounds after the last step, such as those of an evaluation. */
static inline bool account_leak_is_afterwards(const struct account_leak *found)
{
    return found->growth.ends == STEP_END_AFTERWARDS;
}

/* Returns the bytes that the lines of the cause held at the last step. */
uint64_t account_leak_bytes(const struct account_leak *found);

int account_leak_find(struct account_leak *found, const struct study *study, uint32_t account,
                      struct err *err);
void account_leak_release(struct account_leak *found);
