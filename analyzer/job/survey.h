/* SPDX-License-Identifier: MIT */
/*
 * What a trace says of itself without a replay: whose it is, which cards it had, and sums of its events, which
 * SQLite counts. Ranks that did the same have the same sums. It must not know what events do.
 */
#ifndef GPUMEMTRACE_ANALYZER_JOB_SURVEY_H
#define GPUMEMTRACE_ANALYZER_JOB_SURVEY_H

#include "analyzer/load/trace.h"
#include "recorded_peaks.h"

/* Of the alloc events; equal where two ranks allocated the same, in whatever order. */
struct survey_sums {
    char text[96]; /* as the recorder wrote them; "": it did not, and SQLite counts */
    int64_t count, largest_bytes;
    double bytes,
        results; /* sums of integers could overflow: what is refused may be 2^63-1 bytes */
};

struct survey_card {
    int device;
    char uuid[64]; /* "": not known */
    uint64_t total_bytes;
    bool is_used; /* the process had memory of the driver there; the job finds that out */
};

struct survey {
    const char *path;
    struct trace_integer rank, pid, start_unix_ns, start_monotonic_ns, end_ns, exit_status;
    bool is_complete, is_simulated;
    int64_t lost_events;
    char *command, *host, *run_id, *dry_run_events; /* NULL: not known */
    struct survey_card *cards;                      /* ascending device */
    size_t card_count, card_capacity;
    struct survey_sums sums;
    int64_t refused_count; /* of the alloc events */
    struct recorded_peaks peaks;
};

/* Of all paths, in their order, on several threads. -1: the first error in that order, and nothing is to be released. */
int surveys_take(struct survey *surveys, const char *const *paths, int count, struct err *err);
void surveys_release(struct survey *surveys, int count);

/* Whether two ranks of one job did the same, as far as the sums tell. */
bool surveys_are_alike(const struct survey *a, const struct survey *b);
/* Each of its allocations was served, as far as the recorder said so. */
bool survey_refused_none(const struct survey *survey);
/* Whether two processes ran on the same machine since it was booted; those of dry runs share only what they simulate
 * together. */
bool surveys_share_machine(const struct survey *a, const struct survey *b);

#endif
