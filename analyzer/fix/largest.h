/* SPDX-License-Identifier: MIT */
/*
 * The search of `run --vary`. It makes runs to find the largest value of a range with which a
 * program fits.
 *
 *     low, high     are tried first: if one fits and the other does not, the answer is between
 *     the middle    is tried next, between the largest value that fits and the smallest that does
 *                   not, until the two meet
 *
 * The answer is right if no value fits above a value that does not fit. Runs that contradict this
 * are reported.
 */
#pragma once

#include "fix.h"

enum largest_end {
    /* `fits` is the last value before `refused`, or the search ended before the two met */
    LARGEST_FOUND,
    LARGEST_ALL,    /* `high` fits */
    LARGEST_NONE,   /* neither `low` nor `high` fits */
    LARGEST_UNEVEN, /* `high` fits and `low` does not */
    /* the run with `low` was stopped, or failed for another reason than memory: nothing is known */
    LARGEST_FAILED,
};

/* Stands for no run. The numbers of runs are indices in fix->runs. */
#define LARGEST_NO_RUN SIZE_MAX

struct largest {
    enum largest_end end;
    /* the run of the largest value that fits, and the run of the smallest larger value that does
     * not; or LARGEST_NO_RUN */
    size_t fits, refused;
    bool is_closed; /* no value of the range lies between the two */
    /* run `higher` had a smaller value and a higher peak than run `lower`; or LARGEST_NO_RUN */
    size_t higher, lower;
    bool is_flat; /* the runs with `low` and with `high` have the same peak */
};

/* Searches the range of fix->varies[0]. Returns -1 and sets *err on an error. */
int largest_find(struct largest *largest, struct fix *fix, struct err *err);
/* Returns the value that a run was made with. */
long largest_value(const struct fix *fix, size_t run);
