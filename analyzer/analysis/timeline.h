/* SPDX-License-Identifier: MIT */
/*
 * Live bytes over time, thinned to a bounded number of samples: the run is cut into equal times,
 * and each keeps the moment when most was live in it, so that no peak is lost. It watches the
 * replay, and has to know before how long the run is; it keeps the samples of each stock.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_TIMELINE_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_TIMELINE_H

#include "analyzer/replay/history/observer.h"

struct sample {
    uint64_t time_ns;   /* of the moment; of the cut's end if nothing changed in it */
    uint64_t max_bytes; /* most live in the cut */
    uint64_t min_bytes;
};

struct timeline {
    struct sample *samples;
    size_t count;
};

struct timelines {
    size_t sample_count;
    uint64_t step_ns;              /* length of one cut */
    uint64_t now_ns;               /* the latest event so far */
    struct stock_timeline *stocks; /* by stock */
    size_t stock_count, stock_capacity;
};

/* length_ns: the latest time of an event that counts. Fewer samples than asked for when the run has
 * fewer nanoseconds. */
void timelines_init(struct timelines *timelines, size_t sample_count, uint64_t length_ns);
struct observer timelines_observer(struct timelines *timelines);
void timelines_release(struct timelines *timelines);

/* Of a stock of a layer; valid until timelines_release. */
struct timeline timeline_of(const struct timelines *timelines, uint32_t stock);

#endif
