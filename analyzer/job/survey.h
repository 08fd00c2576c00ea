/* SPDX-License-Identifier: MIT */
/*
 * A trace's identity, cards and sums of events. No replay is needed, because SQLite computes the
 * sums. Ranks that did the same have the same sums.
 */
#pragma once

#include "analyzer/load/load.h"
#include "recorded_peaks.h"

/* Sums of the alloc events. They are equal if two ranks made the same allocations, in any order. */
struct survey_sums {
    /* the sums that the recorder wrote; "": it wrote none, and SQLite computes them */
    char text[96];
    int64_t count, largest_bytes;
    /* These are floating-point, because a refused request may be 2^63-1 bytes and overflow an
     * integer sum. */
    double bytes, results;
};

struct survey_card {
    int device;
    char uuid[64]; /* "": not known */
    uint64_t total_bytes;
    bool is_used; /* the process had memory of the driver on this card; job.c finds out */
};

struct survey {
    const char *path;
    bool keeps_file;          /* the file stays open until a reading takes it over */
    struct opened_trace file; /* its db is NULL unless the file is kept */
    struct trace_integer rank, pid, start_unix_ns, start_monotonic_ns, end_ns, exit_status;
    bool is_complete, is_simulated;
    int64_t lost_events;
    char *command, *host, *run_id, *dry_run_events; /* NULL: not known */
    struct survey_card *cards;                      /* ascending by device */
    size_t card_count, card_capacity;
    struct survey_sums sums;
    int64_t refused_count; /* number of refused alloc events */
    struct recorded_peaks peaks;
};

/* Surveys all paths on several threads, and puts the results in the order of the paths. The files
 * of the first `kept_count` paths stay open. On -1, *err is the first error in this order, and
 * nothing has to be released. */
int surveys_take(struct survey *surveys, const char *const *paths, int count, int kept_count,
                 struct err *err);
void surveys_release(struct survey *surveys, int count);

/* True if two ranks of one job did the same, as far as the sums tell. */
bool surveys_are_alike(const struct survey *a, const struct survey *b);
/* True if the recorder wrote that each allocation was served. */
bool survey_refused_none(const struct survey *survey);
/* True if two processes ran on one machine since it was booted. Processes of dry runs must belong
 * to the same run, which simulates their machine. */
bool surveys_share_machine(const struct survey *a, const struct survey *b);
