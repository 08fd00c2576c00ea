/* SPDX-License-Identifier: MIT */
/*
 * The leak of one account of a trace, and when the card will be full of it. What grows and what a
 * leak is stands in steps/growth.h and steps/leak.h; how it is said is for pages.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_LEAKS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_LEAKS_H

#include "study.h"
#include "analyzer/analysis/steps/leak.h"
#include "analyzer/blame/blame.h"

/* What one line is to blame for: its call stacks that grow, or that churn. */
struct leak_row {
    const struct blamed *blamed; /* of the first of them */
    size_t stack_count;
    const char *cache;       /* of the first; NULL: it is none that is known */
    bool is_left_out;        /* a pool hands it out in pieces */
    bool is_enlarged;        /* of the first; it makes its blocks larger: growth.h */
    double slope, low, high; /* bytes per step; of what grows */
    uint64_t first_bytes, last_bytes, rises_count;
    uint64_t churn_bytes, churn_count;
};

struct leak_rows {
    struct leak_row *items; /* the steepest first, or what churns most */
    size_t count;
};

struct account_leak {
    struct growth growth;
    struct leak leak;
    struct blame blame; /* of the stacks that grow and of those that churn */
    struct leak_rows growing, churn;
    bool is_gone; /* less than half of what had grown at the last step is live at the end */
    bool knows_steps_left; /* of what grows on a card whose size is known */
    double steps_left;     /* until the peak has taken what the card has; about */
};

int account_leak_find(struct account_leak *found, const struct study *study, uint32_t account,
                      struct err *err);
void account_leak_release(struct account_leak *found);

#endif
