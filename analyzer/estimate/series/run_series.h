/* SPDX-License-Identifier: MIT */
/*
 * The run of an estimate as a series of moments: the live bytes by category
 * and by the layer that made them.
 *
 *     schedule   | load | data  forward of layer 0  1  2 …  backward of layer … 1  0  optimizer | …
 *     moments       ·      ·                 ·   ·  ·                        ·  ·  ·      ·
 *
 * A moment is the highest of one layer in one phase, or of several
 * consecutive layers if the model has many.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_SERIES_RUN_SERIES_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_SERIES_RUN_SERIES_H

#include "analyzer/estimate/estimate.h"

enum { RUN_MOMENTS_MOST = 240 };

struct run_moment {
    struct estimate_moment highest;
    uint64_t lowest_bytes;
    uint64_t event; /* number of the event at which it was highest, from 1 */
    uint64_t step;  /* training step, from 1; 0: the model is loaded */
    /* live bytes of `highest`, by the phase that made them */
    uint64_t phase_bytes[SCHEDULE_PHASES];
};

/* A layer, or a phase outside of layers, and the live bytes that it made. */
struct run_site {
    int32_t layer; /* SCHEDULE_NO_LAYER */
    enum schedule_phase phase;
    uint64_t peak_bytes;
    const uint64_t *bytes; /* live bytes at each moment */
};

struct run_series {
    struct run_moment *moments;
    size_t count, peak;     /* peak: index of the highest moment */
    struct run_site *sites; /* all sites, the largest at the peak first */
    size_t site_count;
    uint64_t *bytes; /* memory of all sites' `bytes` */
};

/* Records the run again. The estimate's figures stay as they are. */
int run_series_make(struct run_series *series, struct estimate *estimate, struct err *err);
void run_series_release(struct run_series *series);

#endif
