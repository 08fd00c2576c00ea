/* SPDX-License-Identifier: MIT */
/*
 * Checks limits on memory against a trace. Each limit gives one result per device, with the
 * measured value and the limit. Limits on bytes apply to live bytes, because what a pool reserves
 * depends on its history.
 */
#pragma once

#include "study.h"

struct check_limit {
    const char *phase; /* name or path, not terminated; NULL: the whole run */
    size_t phase_length;
    uint64_t bytes;
};

/* Parses "4GiB" or "phase:NAME=4GiB". The limit points into `text`. */
int check_limit_parse(struct check_limit *limit, const char *text, struct err *err);

enum check_unit { CHECK_BYTES, CHECK_COUNT, CHECK_RATIO };

/* In a subject, between the figure and its base. */
#define CHECK_AGAINST " against "

struct check_result {
    const char
        *kind;     /* peak, leak, growth, baseline, estimate, fragmentation, retries or failures */
    char *subject; /* "device 0 pytorch pool peak in forward"; owned */
    /* "the baseline" or "the estimate", at the end of the subject; the limit is a multiple of it.
     * NULL: the limit stands alone. */
    const char *base;
    char *trace; /* path of the trace; owned */
    int device;
    uint32_t account;
    enum check_unit unit;
    uint64_t measured_bytes, limit_bytes; /* counts instead of bytes if unit is CHECK_COUNT */
    double measured_ratio, limit_ratio;
    const struct check_limit *limit; /* the limit on a peak; NULL for the other kinds */
    bool is_of_phase;                /* the measured peak is the one while a phase was open */
    bool passed;
    /* The line that is to blame for a broken limit; the search for evidence fills it in.
     * Owned; NULL: no line is known. */
    char *label, *file;
    uint32_t line;
};

struct check_results {
    struct check_result *items;
    size_t count, capacity;
};

/* Each of these functions adds one result. They return -1 if memory ran out, or if the trace lacks
 * what the check needs (ERR_INPUT). */
int check_peak(struct check_results *results, const struct study *study, uint32_t account,
               const struct check_limit *limit, struct err *err);
int check_leak(struct check_results *results, const struct study *study, uint32_t account,
               uint64_t limit_bytes, struct err *err);
/* Growth per step as `leaks` reports it, but without its lower limit; known caches do not count. */
int check_growth(struct check_results *results, const struct study *study, uint32_t account,
                 uint64_t limit_bytes, struct err *err);
/* base_bytes: the peak of this account in the baseline; 0 if the baseline has no such account. */
int check_baseline(struct check_results *results, const struct study *study, uint32_t account,
                   uint64_t base_bytes, double tolerance_ratio, struct err *err);
/* estimated_bytes: the model's estimate for this account. */
int check_estimate(struct check_results *results, const struct study *study, uint32_t account,
                   uint64_t estimated_bytes, double tolerance_ratio, struct err *err);
/* Checks external fragmentation at the peak. Returns -1 with ERR_INPUT if it is unknown. */
int check_fragmentation(struct check_results *results, const struct study *study, uint32_t account,
                        double limit_ratio, struct err *err);
/* Counts the requests on the account's device that were refused at first, and were served after the
 * framework had flushed its cache. */
int check_retries(struct check_results *results, const struct study *study, uint32_t account,
                  uint64_t limit, struct err *err);
/* Counts the failed allocations on the account's device, whether the program caught them or ended.
 * Adds no result if there were none. */
int check_failures(struct check_results *results, const struct study *study, uint32_t account,
                   struct err *err);

/* Copies the results of the trace `from`, and enters the copies as results of the trace `path`. */
int check_results_repeat(struct check_results *results, const char *from, const char *path,
                         struct err *err);
bool check_all_passed(const struct check_results *results);
void check_results_release(struct check_results *results);

/* Returns 0 if the trace is complete and lost no events, else -1 with ERR_INPUT. */
int check_complete(const struct trace *trace, struct err *err);
