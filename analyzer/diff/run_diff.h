/* SPDX-License-Identifier: MIT */
/*
 * The change between two moments of accounts. The moments are of two traces, of one trace, or of a
 * baseline and a trace.
 */
#pragma once

#include "baseline.h"
#include "diff_tree.h"

/*
 * One side: a baseline, or the live memory of the account right after a moment. Nothing is live if
 * the moment's index is INDEX_NONE.
 */
struct run_diff_side {
    const struct study *study; /* NULL: a baseline, or nothing */
    uint32_t account;
    struct moment at;
    const struct baseline_account *kept;
    const struct symbol_sources *sources; /* for the study's symbols; NULL: none */
    /* if the peak is higher, a row has the rest; 0: no such row */
    uint64_t peak_bytes;
};

struct run_diff {
    struct text_set names;
    struct holding sides[2]; /* before, after */
    struct diff_tree difference;
    /*
     * The side whose peak was replaced, if the peaks are in different parts of the program; -1:
     * neither. It was replaced by its moment that is most like the other side's peak, plus a row
     * for the bytes that its own peak had more.
     */
    int moved_side;
    uint64_t alike_bytes; /* bytes of the moment that replaced the peak */
};

/* Finds the change. On -1 nothing has to be released. */
int run_diff_find(struct run_diff *change, const struct run_diff_side *before,
                  const struct run_diff_side *after, struct err *err);
/*
 * Like run_diff_find, for the peaks of two runs. If the peaks have little in common, the lower one
 * is replaced by the moment of its run that is most like the higher one. To find this moment, the
 * trace of the lower peak is read again.
 */
int run_diff_of_peaks(struct run_diff *change, const struct run_diff_side *before,
                      const struct run_diff_side *after, struct err *err);
void run_diff_release(struct run_diff *change);

/* The first of these returns the first row that grew, the second returns the next one. NULL:
 * none. */
const struct diff_row *run_diff_guilty(const struct run_diff *change);
const struct diff_row *run_diff_next(const struct run_diff *change);
/* Returns the row that shrank most, or NULL if none shrank. */
const struct diff_row *run_diff_shrunk(const struct run_diff *change);
