/* SPDX-License-Identifier: MIT */
/*
 * Turns the run of an estimate into a series of moments. Each moment has the live bytes by category
 * and by the layer that made them.
 *
 *     schedule   | load | data  forward of layer 0  1  2 …  backward of layer … 1  0  optimizer | …
 *     moments       ·      ·                 ·   ·  ·                        ·  ·  ·      ·
 *
 * A moment is the highest point of one layer in one phase. If the model has many layers, it is the
 * highest point of several consecutive layers.
 */
#pragma once

#include "analyzer/estimate/estimate.h"

enum { RUN_MOMENTS_MOST = 240 };

struct run_moment {
    struct estimate_moment highest;
    uint64_t lowest_bytes;
    uint64_t event; /* number, from 1, of the event at the highest point */
    uint64_t step;  /* training step, from 1; 0: the model is loaded */
    /* for each phase: the live bytes of `highest` that were made in it */
    uint64_t phase_bytes[SCHEDULE_PHASES];
};

/* A layer, or a phase outside of layers, and the live bytes that it made. */
struct run_site {
    int32_t layer; /* SCHEDULE_NO_LAYER: the site is a phase */
    enum schedule_phase phase;
    uint64_t peak_bytes;
    const uint64_t *bytes; /* live bytes at each moment */
};

struct run_series {
    struct run_moment *moments;
    size_t count, peak;     /* peak: index of the highest moment */
    struct run_site *sites; /* all sites, sorted from the largest at the peak to the smallest */
    size_t site_count;
    uint64_t *bytes; /* the array that all sites' `bytes` point into */
};

/* Records the run again. The estimate's figures stay as they are. */
int run_series_make(struct run_series *series, struct estimate *estimate, struct err *err);
void run_series_release(struct run_series *series);
