/* SPDX-License-Identifier: MIT */
/* Compares the measured bytes of one account of a trace with the estimated bytes of its model. */
#pragma once

#include "analyzer/analysis/study.h"
#include "analyzer/estimate/estimate.h"

struct compare_pair {
    bool measured_known, estimated_known;
    uint64_t measured_bytes, estimated_bytes;
};

/* One reason why the run's peak differs from the estimated one. */
struct departure {
    enum departure_kind {
        DEPARTURE_category,     /* the run held another number of bytes of the category */
        DEPARTURE_not_modelled, /* bytes of a category that the estimate does not cover */
        DEPARTURE_rounding,     /* the framework's allocator rounds blocks up */
        DEPARTURE_moment        /* the estimate's peak is in another phase than the run's */
    } kind;
    enum category category; /* set for the first two kinds */
    int64_t bytes;          /* above 0: the run held more */
};
enum { DEPARTURES_MOST = CATEGORY_COUNT + 2 };

struct comparison {
    struct compare_pair live;     /* highest live bytes; estimated as requested bytes */
    struct compare_pair reserved; /* of a framework's pool; unknown for the driver's account */
    struct compare_pair segments; /* the free part of `reserved` at the peak of live bytes */
    /* includes modules, and other processes if the trace cannot separate these */
    struct compare_pair context;
    /* Each side of a pair is taken at its own peak. */
    struct compare_pair categories[CATEGORY_COUNT];
    /* The trace cannot tell buffers from parameters, so both sides count buffers as parameters. */
    bool buffers_are_parameters;
    struct compare_pair phases[SCHEDULE_PHASES]; /* highest live bytes in each phase */
    const char *measured_phase;                  /* the phase of the peak; NULL: no phase */
    /* Sorted from the largest to the smallest. Their sum is the difference of the two peaks. */
    struct departure departures[DEPARTURES_MOST];
    size_t departure_count;
    /* the estimate's highest moment in the phase of the run's peak */
    const struct estimate_moment *departure_moment;
};

#define COMPARE_CONTEXT_UNKNOWN UINT64_MAX
/* context_bytes is the estimated size of the context, or COMPARE_CONTEXT_UNKNOWN. */
int compare_account(struct comparison *comparison, const struct study *study, uint32_t account,
                    const struct estimate *estimate, uint64_t context_bytes, struct err *err);
