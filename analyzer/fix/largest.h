/* SPDX-License-Identifier: MIT */
/*
 * The search of `run --vary`: the largest value of a range with which
 * a program fits, found by runs.
 *
 *     low, high     first: if one fits and the other does not, the answer lies between
 *     the middle    between the last that fits and the first that does not, until they meet
 *
 * The answer is right if no value fits above one that does not. Runs
 * that contradict this are reported.
 */
#ifndef GPUMEMTRACE_ANALYZER_FIX_LARGEST_H
#define GPUMEMTRACE_ANALYZER_FIX_LARGEST_H

#include "fix.h"

enum largest_end {
    /* `fits` is the last before `refused`, or the search ended before the two met */
    LARGEST_FOUND,
    LARGEST_ALL,    /* `high` fits */
    LARGEST_NONE,   /* neither `low` nor `high` fits */
    LARGEST_UNEVEN, /* `high` fits and `low` does not */
    /* `low` was stopped or failed for another reason than memory: nothing is known */
    LARGEST_FAILED,
};

/* Stands for no run; the numbers of runs are indices in fix->runs. */
#define LARGEST_NO_RUN SIZE_MAX

struct largest {
    enum largest_end end;
    /* runs of the largest value that fits and of the smallest above it that does not; or no run */
    size_t fits, refused;
    bool is_closed; /* no value of the range lies between the two */
    /* run `higher` had a smaller value and a higher peak than run `lower`; or no run */
    size_t higher, lower;
    bool is_flat; /* `low` and `high` have the same peak */
};

/* Searches the range of fix->varies[0]. -1 and *err. */
int largest_find(struct largest *largest, struct fix *fix, struct err *err);
/* The value of a run. */
long largest_value(const struct fix *fix, size_t run);

#endif
