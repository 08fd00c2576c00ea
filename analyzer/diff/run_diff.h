/* SPDX-License-Identifier: MIT */
/*
 * The change between two moments of stocks, with all it is made of: two traces, one trace twice, or
 * a baseline's file and a trace. It must not know why they are compared.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_RUN_DIFF_H
#define GPUMEMTRACE_ANALYZER_DIFF_RUN_DIFF_H

#include "baseline.h"
#include "diff_tree.h"

/* What is live in the stock right after event `index` (INDEX_NONE: nothing); or what a file kept. */
struct run_diff_side {
    const struct study *study; /* NULL: kept, or nothing */
    uint32_t stock;
    uint64_t index;
    const struct baseline_stock *kept;
};

struct run_diff {
    struct text_set names;
    struct holding sides[2]; /* before, after */
    struct diff_tree difference;
};

/* On -1 nothing has to be released. */
int run_diff_find(struct run_diff *change, const struct run_diff_side *before,
                  const struct run_diff_side *after, struct err *err);
void run_diff_release(struct run_diff *change);

/* The first row that grew; NULL: none did. */
const struct diff_row *run_diff_guilty(const struct run_diff *change);

#endif
