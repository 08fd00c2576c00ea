/* SPDX-License-Identifier: MIT */
/*
 * The run of an estimate as a row of moments: what was live when, by category, and by the layer that made it. It must
 * not know how they are drawn.
 *
 *     schedule   | load | data  forward of layer 0  1  2 …  backward of layer … 1  0  optimizer | data …
 *     moments       ·      ·                 ·   ·  ·                        ·  ·  ·      ·        ·
 *
 * A moment is the highest of one layer in one phase; where a model has many layers, of several that follow each other.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_SERIES_RUN_SERIES_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_SERIES_RUN_SERIES_H

#include "analyzer/estimate/estimate.h"

enum { RUN_MOMENTS_MOST = 240 };

struct run_moment {
    struct estimate_moment highest;
    uint64_t lowest_bytes;
    uint64_t event;                        /* when it was highest; from 1 */
    uint64_t step;                         /* 0: the model is loaded */
    uint64_t phase_bytes[SCHEDULE_PHASES]; /* of the highest, by the phase that made them */
};

/* A layer, or a phase outside of layers, with what it made that is live at the peak. */
struct run_site {
    int32_t layer; /* SCHEDULE_NO_LAYER */
    enum schedule_phase phase;
    uint64_t peak_bytes;
    const uint64_t *bytes; /* at each moment */
};

struct run_series {
    struct run_moment *moments;
    size_t count, peak;     /* peak: number of the moment */
    struct run_site *sites; /* all, the largest at the peak first */
    size_t site_count;
    uint64_t *bytes; /* of the sites */
};

/* Writes the run down once more; the estimate stays as it is. */
int run_series_make(struct run_series *series, struct estimate *estimate, struct err *err);
void run_series_release(struct run_series *series);

#endif
