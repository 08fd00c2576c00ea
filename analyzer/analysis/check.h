/* SPDX-License-Identifier: MIT */
/*
 * Checks limits on memory against a trace. Each limit gives one result per device, with the
 * measured value and the limit. Limits on bytes apply to live bytes, because what a pool reserves
 * depends on its history.
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

enum check_unit { CHECK_BYTES, CHECK_COUNT, CHECK_RATIO };

struct check_result {
    const char
        *kind;     /* peak, leak, growth, baseline, estimate, fragmentation, retries or failures */
    char *subject; /* "device 0 pytorch pool peak in forward"; owned */
    char *trace;   /* its path; owned */
    int device;
    uint32_t account;
    enum check_unit unit;
    uint64_t measured_bytes, limit_bytes; /* or counts */
    double measured_ratio, limit_ratio;
    const struct check_limit *limit; /* of a peak; NULL: another kind */
    bool is_of_phase;                /* it is the peak while a phase was open */
    bool passed;
    /* The guilty line of a broken limit, filled in by the search for evidence.
     * Owned; NULL: none known. */
    char *label, *file;
    uint32_t line;
};

struct check_results {
    struct check_result *items;
    size_t count, capacity;
};

/* Each function adds one result. -1: out of memory, or the trace cannot tell (ERR_INPUT). */
int check_peak(struct check_results *results, const struct study *study, uint32_t account,
               const struct check_limit *limit, struct err *err);
int check_leak(struct check_results *results, const struct study *study, uint32_t account,
               uint64_t limit_bytes, struct err *err);
/* Growth per step as `leaks` reports it, but without its lower limit; known caches do not count. */
int check_growth(struct check_results *results, const struct study *study, uint32_t account,
                 uint64_t limit_bytes, struct err *err);
/* base_bytes: the baseline's peak; 0 if it has no such account. */
int check_baseline(struct check_results *results, const struct study *study, uint32_t account,
                   uint64_t base_bytes, double tolerance_ratio, struct err *err);
/* estimated_bytes: the model's estimate for this account. */
int check_estimate(struct check_results *results, const struct study *study, uint32_t account,
                   uint64_t estimated_bytes, double tolerance_ratio, struct err *err);
/* External fragmentation at the peak; unknown fragmentation fails (ERR_INPUT). */
int check_fragmentation(struct check_results *results, const struct study *study, uint32_t account,
                        double limit_ratio, struct err *err);
/* Requests on the account's device that were refused, then served after a flush. */
int check_retries(struct check_results *results, const struct study *study, uint32_t account,
                  uint64_t limit, struct err *err);
/* Failed allocations on the account's device, caught or fatal; adds no result if
 * there were none. */
int check_failures(struct check_results *results, const struct study *study, uint32_t account,
                   struct err *err);

/* Copies the results of trace `from`, as results of trace `path`. */
int check_results_repeat(struct check_results *results, const char *from, const char *path,
                         struct err *err);
bool check_all_passed(const struct check_results *results);
void check_results_release(struct check_results *results);

/* 0: the trace is complete and lost nothing; else -1 and ERR_INPUT. */
int check_complete(const struct trace *trace, struct err *err);

#endif
