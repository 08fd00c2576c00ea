/* SPDX-License-Identifier: MIT */
/* The peaks that the recorder wrote at the end of a trace (meta.peaks), as a replay would find them. It must not know
 * how they are compared. */
#ifndef GPUMEMTRACE_ANALYZER_JOB_RECORDED_PEAKS_H
#define GPUMEMTRACE_ANALYZER_JOB_RECORDED_PEAKS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct recorded_peak {
    int device;
    char *pool;          /* that leads there; NULL: none, the driver's memory does */
    uint64_t peak_bytes; /* of the leading layer */
    uint64_t driver_peak_bytes;
};

struct recorded_peaks {
    struct recorded_peak *items; /* ascending device, an unknown one last */
    size_t count, capacity;
    bool are_known; /* false: the trace has to be replayed */
};

/* text: meta.peaks. What is not written as it should be is not known. On -1 nothing has to be released. */
int recorded_peaks_read(struct recorded_peaks *peaks, const char *text, sqlite3 *db,
                        const char *path, struct err *err);
void recorded_peaks_release(struct recorded_peaks *peaks);

#endif
