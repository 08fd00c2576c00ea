/* SPDX-License-Identifier: MIT */
/*
 * Live bytes over time, thinned to a bounded number of samples: the run is cut into equal times,
 * and each keeps the moment when most was live in it, so that no peak is lost.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_TIMELINE_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_TIMELINE_H

#include "analyzer/replay/history.h"

struct sample {
    uint64_t time_ns;   /* of the moment; of the cut's end if nothing changed in it */
    uint64_t max_bytes; /* most live in the cut */
    uint64_t min_bytes;
};

struct timeline {
    struct sample *samples;
    size_t count;
};

/* Fewer samples than asked for when the run has fewer nanoseconds. */
int timeline_of(struct timeline *timeline, const struct history *history, uint32_t stock,
                size_t count, struct err *err);
void timeline_release(struct timeline *timeline);

#endif
