/* SPDX-License-Identifier: MIT */
/*
 * A baseline that is committed beside the program: who held memory at the peaks of the leading
 * layers, as names, one line for each call path, sorted. It has no address, no time and
 * no sum, so that two branches that each changed a line merge; the peak is the sum of its lines.
 *
 *     {"schema": "gpumemtrace.baseline/1", "stocks": [
 *     {"device": 0, "layer": "pool", "pool": "pytorch", "sites": [
 *     {"way": [["gpt.py", 58, "main"]], "called": "cross_entropy", "phase": "forward",
 *      "category": "activations", "each": 2048000, "bytes": 2048000, "count": 1},       on one line
 *     null]},
 *     null]}
 *
 * What holds nothing at the peak is there, of 0 bytes, because "each", the bytes of its blocks on average, tells
 * lines apart. The null at each end lets all lines before it end alike. It must not know limits.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_BASELINE_H
#define GPUMEMTRACE_ANALYZER_DIFF_BASELINE_H

#include <jansson.h>
#include <stdio.h>

#include "holding.h"

struct baseline_account {
    int device;               /* DEVICE_UNKNOWN */
    const char *layer, *pool; /* pool NULL: none */
    bool is_in_backward;      /* the peak */
    uint64_t bytes;
    const json_t *sites;
};

struct baseline {
    char *path;
    json_t *root; /* NULL: not loaded */
    struct baseline_account *accounts;
    size_t count;
};

/* 1: loaded; 0: the file is no such baseline, a trace for example; -1 and *err. */
int baseline_load(struct baseline *baseline, const char *path, struct err *err);
void baseline_release(struct baseline *baseline);

/* NULL: it has no such account. */
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
