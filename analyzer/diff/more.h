/* SPDX-License-Identifier: MIT */
/*
 * Describes the growth from one device to another, each at its own peak. The texts outlive both
 * traces.
 */
#pragma once

#include "run_diff.h"

/* The line to blame. site "": there is no growth. */
struct more {
    char site[2 * CALL_LINE_BYTES], file[CALL_LINE_BYTES]; /* file "", line 0: unknown */
    uint32_t line;
    enum category category;
    uint64_t bytes, explained_bytes; /* copied from struct diff_row */
    double explained_ratio;
    /* The second line, if it has at least half as many bytes as the first. */
    char next_site[2 * CALL_LINE_BYTES];
    uint64_t next_bytes;
};

/* Compares a device of `study` with the device `less_device` of `less`. If of_driver is set,
 * compares the driver's memory, otherwise the leading layers. */
int more_find(struct more *more, const struct study *less, int less_device,
              const struct study *study, int device, bool of_driver, struct err *err);
/* Describes the change that run_diff has found. */
struct more more_of(const struct run_diff *change);
