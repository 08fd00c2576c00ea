/* SPDX-License-Identifier: MIT */
/* The peaks that the recorder wrote at the end of a trace (meta.peaks). A replay would find the
 * same peaks. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct recorded_peak {
    int device;
    /* the pool that is the leading layer; NULL: the leading layer is the driver's memory */
    char *pool;
    uint64_t peak_bytes; /* peak of the leading layer */
    uint64_t driver_peak_bytes;
};

struct recorded_peaks {
    struct recorded_peak *items; /* by device, ascending; an unknown device is last */
    size_t count, capacity;
    bool are_known; /* false: the trace must be replayed */
};

/* Parses `text`, the value of meta.peaks. If the text is malformed, are_known stays false. On -1
 * nothing has to be released. */
int recorded_peaks_read(struct recorded_peaks *peaks, const char *text, sqlite3 *db,
                        const char *path, struct err *err);
void recorded_peaks_release(struct recorded_peaks *peaks);
