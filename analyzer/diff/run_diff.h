/* SPDX-License-Identifier: MIT */
/*
 * The change between two moments of accounts, with all it is made of: two traces, one trace twice, or
 * a baseline's file and a trace. It must not know why they are compared.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_RUN_DIFF_H
#define GPUMEMTRACE_ANALYZER_DIFF_RUN_DIFF_H

#include "baseline.h"
#include "diff_tree.h"

/* What is live in the account right after a moment (index INDEX_NONE: nothing); or what a file kept. */
struct run_diff_side {
    const struct study *study; /* NULL: kept, or nothing */
    uint32_t account;
    struct moment at;
    const struct baseline_account *kept;
    const struct symbol_sources *sources; /* of the study's symbols; NULL: none */
    uint64_t peak_bytes;                  /* what lacks to it, the peak had elsewhere; 0: nothing */
};

struct run_diff {
    struct text_set names;
    struct holding sides[2]; /* before, after */
    struct diff_tree difference;
    /* The peaks are in different parts of the program: this side is the moment that is most like the other's
     * peak, with what its own peak had more; -1: neither is. */
    int moved_side;
    uint64_t alike_bytes; /* of that moment */
};

/* On -1 nothing has to be released. */
int run_diff_find(struct run_diff *change, const struct run_diff_side *before,
                  const struct run_diff_side *after, struct err *err);
/* The same where both moments are the peaks of their runs: of those that have little in common, the lower one
 * gives way to a moment of its run that is more like the higher one. Reads that trace once more. */
int run_diff_of_peaks(struct run_diff *change, const struct run_diff_side *before,
                      const struct run_diff_side *after, struct err *err);
void run_diff_release(struct run_diff *change);

/* The first row that grew; NULL: none did. And the one after it. */
const struct diff_row *run_diff_guilty(const struct run_diff *change);
const struct diff_row *run_diff_next(const struct run_diff *change);
/* The row that shrank most; NULL: none did. */
const struct diff_row *run_diff_shrunk(const struct run_diff *change);

#endif
