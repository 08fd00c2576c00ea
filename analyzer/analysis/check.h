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
    const struct check_limit *limit; /* of a peak; NULL: of another kind */
    bool is_of_phase;                /* the peak while a phase was open */
    bool passed;
    /* Of a broken one, who is to blame: filled by who looks for the evidence; owned, NULL: nobody. */
    char *label, *file;
    uint32_t line;
};

struct check_results {
    struct check_result *items;
    size_t count, capacity;
};

/* Each adds one result. -1: out of memory, or the trace cannot tell (ERR_INPUT). */
int check_peak(struct check_results *results, const struct study *study, uint32_t account,
               const struct check_limit *limit, struct err *err);
int check_leak(struct check_results *results, const struct study *study, uint32_t account,
               uint64_t limit_bytes, struct err *err);
/* What grows per step as `leaks` says it, but without its floor; known caches do not count. */
int check_growth(struct check_results *results, const struct study *study, uint32_t account,
                 uint64_t limit_bytes, struct err *err);
/* base_bytes: the baseline's peak; 0 where it has no such account. */
int check_baseline(struct check_results *results, const struct study *study, uint32_t account,
                   uint64_t base_bytes, double tolerance_ratio, struct err *err);
/* estimated_bytes: of the model, as that account counts. */
int check_estimate(struct check_results *results, const struct study *study, uint32_t account,
                   uint64_t estimated_bytes, double tolerance_ratio, struct err *err);
/* External fragmentation at the peak; what is not known passes no limit (ERR_INPUT). */
int check_fragmentation(struct check_results *results, const struct study *study, uint32_t account,
                        double limit_ratio, struct err *err);
/* Refusals that were served after a flush, of the account's device. */
int check_retries(struct check_results *results, const struct study *study, uint32_t account,
                  uint64_t limit, struct err *err);
/* Failed allocations of the account's device, caught or fatal; no result where there is none. */
int check_failures(struct check_results *results, const struct study *study, uint32_t account,
                   struct err *err);

/* Adds those of the trace `from` once more, as those of `path`. */
int check_results_repeat(struct check_results *results, const char *from, const char *path,
                         struct err *err);
bool check_all_passed(const struct check_results *results);
void check_results_release(struct check_results *results);

/* 0: the trace is complete and lost nothing; else -1 and ERR_INPUT. */
int check_complete(const struct trace *trace, struct err *err);

#endif
