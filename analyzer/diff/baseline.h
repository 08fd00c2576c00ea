/* SPDX-License-Identifier: MIT */
/*
 * A baseline is a file that is committed beside the program. It holds the memory at the peaks of
 * the leading layers: one line for each call path, written with names and sorted. It has no
 * address, no time and no sum, so the changes of two branches that each changed a line can be
 * merged. The peak is the sum of its lines.
 *
 *     {"schema": "gpumemtrace.baseline/1", "accounts": [
 *     {"device": 0, "layer": "pool", "pool": "pytorch", "sites": [
 *     {"call_path": [["gpt.py", 58, "main"]], "called": "cross_entropy", "phase": "forward",
 *      "category": "activations", "each": 2048000, "bytes": 2048000, "count": 1},       on one line
 *     null]},
 *     null]}
 *
 * Call paths that hold 0 bytes at the peak are included. Their "each", the average size of a block,
 * helps to tell lines apart. The final null of each list lets all lines before it end with a comma.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "holding.h"

struct baseline_account {
    int device;               /* the device's number, or DEVICE_UNKNOWN */
    const char *layer, *pool; /* pool is NULL if there is none */
    bool is_in_backward;      /* the peak is in backward */
    uint64_t bytes;
    const json_t *sites;
};

struct baseline {
    char *path;
    json_t *root; /* NULL: not loaded */
    struct baseline_account *accounts;
    size_t count;
};

/* Returns 1 if the baseline is loaded, 0 if the file is no baseline (for example a trace), and -1
 * if *err says why it failed. */
int baseline_load(struct baseline *baseline, const char *path, struct err *err);
void baseline_release(struct baseline *baseline);

/* Returns the account, or NULL if the baseline has no such account. */
const struct baseline_account *baseline_find(const struct baseline *baseline,
                                             const struct study *study, uint32_t account);
int baseline_holding(struct holding *holding, struct text_set *names,
                     const struct baseline_account *account, struct err *err);

/* Writes one account as it is at its peak. */
int baseline_write_account(FILE *file, const struct study *study, uint32_t account,
                           struct err *err);
void baseline_write_head(FILE *file);
void baseline_write_end(FILE *file);
