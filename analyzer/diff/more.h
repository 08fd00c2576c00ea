/* SPDX-License-Identifier: MIT */
/*
 * What one device holds more than another, each at its own peak, in words that outlive both traces. It must not
 * know why they are compared.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_MORE_H
#define GPUMEMTRACE_ANALYZER_DIFF_MORE_H

#include "run_diff.h"

/* The line to blame; site "": nothing is more. */
struct more {
    char site[2 * CALL_LINE_BYTES], file[CALL_LINE_BYTES]; /* file "", line 0: not known */
    uint32_t line;
    enum category category;
    uint64_t bytes, explained_bytes; /* as in struct diff_row */
    double explained_ratio;
    /* Where the first does not hold most of it alone, the second one. */
    char next_site[2 * CALL_LINE_BYTES];
    uint64_t next_bytes;
};

/* A device of a trace. */
struct more_side {
    const char *path;
    int device;
};

/* Opens both traces. of_driver: of the driver's memory, else of the leading layer. */
int more_find(struct more *more, const struct more_side *less, const struct more_side *side,
              bool of_driver, struct err *err);
/* The same of two devices of one trace, by their leading layers. */
int more_find_within(struct more *more, const struct study *study, int less, int device,
                     struct err *err);
/* The same of a change that is known. */
struct more more_of(const struct run_diff *change);

#endif
