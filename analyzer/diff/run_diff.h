/* SPDX-License-Identifier: MIT */
/*
 * The change between two moments of accounts: of two traces, of one trace, or of a baseline and a
 * trace.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_RUN_DIFF_H
#define GPUMEMTRACE_ANALYZER_DIFF_RUN_DIFF_H

#include "baseline.h"
#include "diff_tree.h"

/*
 * One side: live memory of the account right after a moment (index INDEX_NONE: nothing), or a
 * baseline.
 */
struct run_diff_side {
    const struct study *study; /* NULL: baseline, or nothing */
    uint32_t account;
    struct moment at;
    const struct baseline_account *kept;
    const struct symbol_sources *sources; /* for the study's symbols; NULL: none */
    uint64_t peak_bytes;                  /* a row says what the peak had more; 0: none */
};

struct run_diff {
    struct text_set names;
    struct holding sides[2]; /* before, after */
    struct diff_tree difference;
    /*
     * If the peaks are in different parts of the program: the side that was replaced by the moment
     * most like the other side's peak, plus a row for what its own peak had more. -1: neither.
     */
    int moved_side;
    uint64_t alike_bytes; /* bytes of that moment */
};

/* On -1 nothing has to be released. */
int run_diff_find(struct run_diff *change, const struct run_diff_side *before,
                  const struct run_diff_side *after, struct err *err);
/*
 * As run_diff_find, for the peaks of two runs. If the peaks have little in common, the lower one is
 * replaced by the moment of its run that is most like the higher one; this reads that trace again.
 */
int run_diff_of_peaks(struct run_diff *change, const struct run_diff_side *before,
                      const struct run_diff_side *after, struct err *err);
void run_diff_release(struct run_diff *change);

/* The first row that grew, and the next one; NULL: none. */
const struct diff_row *run_diff_guilty(const struct run_diff *change);
const struct diff_row *run_diff_next(const struct run_diff *change);
/* The row that shrank most; NULL: none. */
const struct diff_row *run_diff_shrunk(const struct run_diff *change);

#endif
