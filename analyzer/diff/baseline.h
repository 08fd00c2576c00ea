/* SPDX-License-Identifier: MIT */
/*
 * A baseline that is committed beside the program: the memory at the peaks of the leading layers,
 * one line for each call path, as names, sorted. It has no address, no time and no sum, so that two
 * branches that each changed a line merge; the peak is the sum of its lines.
 *
 *     {"schema": "gpumemtrace.baseline/1", "accounts": [
 *     {"device": 0, "layer": "pool", "pool": "pytorch", "sites": [
 *     {"call_path": [["gpt.py", 58, "main"]], "called": "cross_entropy", "phase": "forward",
 *      "category": "activations", "each": 2048000, "bytes": 2048000, "count": 1},       on one line
 *     null]},
 *     null]}
 *
 * Call paths with 0 bytes at the peak are included, because "each", the average size of a block,
 * distinguishes lines. The final null of each list lets all lines before it end with a comma.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_BASELINE_H
#define GPUMEMTRACE_ANALYZER_DIFF_BASELINE_H

#include <jansson.h>
#include <stdio.h>

#include "holding.h"

struct baseline_account {
    int device;               /* or DEVICE_UNKNOWN */
    const char *layer, *pool; /* pool NULL: none */
    bool is_in_backward;      /* is the peak in backward */
    uint64_t bytes;
    const json_t *sites;
};

struct baseline {
    char *path;
    json_t *root; /* NULL: not loaded */
    struct baseline_account *accounts;
    size_t count;
};

/* 1: loaded; 0: the file is no baseline (a trace, for example); -1: *err says why. */
int baseline_load(struct baseline *baseline, const char *path, struct err *err);
void baseline_release(struct baseline *baseline);

/* NULL: the baseline has no such account. */
const struct baseline_account *baseline_find(const struct baseline *baseline,
                                             const struct study *study, uint32_t account);
int baseline_holding(struct holding *holding, struct text_set *names,
                     const struct baseline_account *account, struct err *err);

/* Writes one account at its peak. */
int baseline_write_account(FILE *file, const struct study *study, uint32_t account,
                           struct err *err);
void baseline_write_head(FILE *file);
void baseline_write_end(FILE *file);

#endif
