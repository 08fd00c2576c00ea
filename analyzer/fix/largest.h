/* SPDX-License-Identifier: MIT */
/*
 * The largest value of a range with which a program fits, by runs. It must not know what a run is.
 *
 *     low, high     first: where the one fits and the other does not, the answer lies between
 *     the middle    of what fits and what does not, until they are neighbours
 *
 * That is right where more never fits after less did not. What was seen against it is told.
 */
#ifndef GPUMEMTRACE_ANALYZER_FIX_LARGEST_H
#define GPUMEMTRACE_ANALYZER_FIX_LARGEST_H

#include "fix.h"

enum largest_end {
    LARGEST_FOUND,  /* fits is the last before refused, or the search was ended before they met */
    LARGEST_ALL,    /* the high one fits */
    LARGEST_NONE,   /* the low one does not, nor does the high one */
    LARGEST_UNEVEN, /* the low one does not, and the high one does */
    LARGEST_FAILED, /* the low one failed, and not for want of memory, or was stopped: nothing is known */
};

/* Numbers in fix->runs. */
#define LARGEST_NO_RUN SIZE_MAX

struct largest {
    enum largest_end end;
    size_t fits,
        refused;    /* the largest that fits, and the smallest above it that does not; or no run */
    bool is_closed; /* no value of the range lies between the two */
    size_t higher, lower; /* of less and of more, the one had the higher peak; or no run */
    bool is_flat;         /* the low one and the high one have the same peak */
};

/* Of fix->varies[0], which has a range. -1 and *err. */
int largest_find(struct largest *largest, struct fix *fix, struct err *err);
/* The value in a run. */
long largest_value(const struct fix *fix, size_t run);

#endif
