/* SPDX-License-Identifier: MIT */
/*
 * Limits on memory, checked against a trace: each limit gives one result per device, with both
 * numbers. Limits apply to live bytes: what a pool reserves depends on its history. It must not know
 * how results are shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_CHECK_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_CHECK_H

#include "study.h"

struct check_limit {
    const char *phase; /* name or path, not terminated; NULL: the whole run */
    size_t phase_length;
    uint64_t bytes;
};

/* "4GiB" or "phase:NAME=4GiB"; the limit points into text. */
int check_limit_parse(struct check_limit *limit, const char *text, struct err *err);

struct check_result {
    const char *kind; /* peak, leak, growth or baseline */
    char *subject;    /* "device 0 pytorch pool peak in forward"; owned */
    char *trace;      /* its path; owned */
    int device;
    uint64_t measured_bytes, limit_bytes;
    bool is_of_phase; /* the peak while a phase was open */
    bool passed;
};

struct check_results {
    struct check_result *items;
    size_t count, capacity;
};

/* Each adds one result. -1: out of memory, or the trace cannot tell (ERR_INPUT). */
int check_peak(struct check_results *results, const struct study *study, uint32_t stock,
               const struct check_limit *limit, struct err *err);
int check_leak(struct check_results *results, const struct study *study, uint32_t stock,
               uint64_t limit_bytes, struct err *err);
/* What grows per step as `leaks` says it, but without its floor; known caches do not count. */
int check_growth(struct check_results *results, const struct study *study, uint32_t stock,
                 uint64_t limit_bytes, struct err *err);
/* base_stock HISTORY_NONE: the baseline has no such stock; the limit is 0. */
int check_baseline(struct check_results *results, const struct study *study, uint32_t stock,
                   const struct study *base, uint32_t base_stock, double tolerance_ratio,
                   struct err *err);

bool check_all_passed(const struct check_results *results);
void check_results_release(struct check_results *results);

/* 0: the trace is complete and lost nothing; else -1 and ERR_INPUT. */
int check_complete(const struct trace *trace, struct err *err);

/* The stock of `other` that stands for a stock of `study`: same device, account, pool name. */
uint32_t check_counterpart(const struct study *other, const struct study *study, uint32_t stock);

#endif
