/* SPDX-License-Identifier: MIT */
/*
 * The leak of one account of a trace, and when the card will be full. Growth is defined in
 * steps/growth.h and a leak in steps/leak.h.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_LEAKS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_LEAKS_H

#include "study.h"
#include "analyzer/analysis/steps/leak.h"
#include "analyzer/blame/blame.h"

/* One row per guilty line, with its call stacks that grow or churn. */
struct leak_row {
    const struct blamed *blamed; /* of its first stack */
    size_t stack_count;
    const char *cache;       /* name of a known cache, by the first stack; NULL: no known cache */
    bool is_left_out;        /* it is a segment of a pool, whose account has its blocks */
    bool is_enlarged;        /* of the first stack: its blocks become larger (growth.h) */
    double slope, low, high; /* bytes per step that it grows by */
    uint64_t first_bytes, last_bytes, rises_count;
    uint64_t churn_bytes, churn_count;
};

struct leak_rows {
    struct leak_row *items; /* by slope or by churned bytes, descending */
    size_t count;
};

struct account_leak {
    struct growth growth;
    struct leak leak;
    struct blame blame; /* of the stacks that grow and those that churn */
    struct leak_rows growing, churn;
    bool is_gone; /* less than half of what had grown by the last step is live at the end */
    bool knows_steps_left; /* something grows, and the size of the card is known */
    double steps_left;     /* steps until the peak fills the card; an estimate */
};

int account_leak_find(struct account_leak *found, const struct study *study, uint32_t account,
                      struct err *err);
void account_leak_release(struct account_leak *found);

#endif
