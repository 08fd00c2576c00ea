/* SPDX-License-Identifier: MIT */
/*
 * Measured beside estimated: one account of a trace and the estimate of its model. It must not
 * print.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_COMPARE_COMPARE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_COMPARE_COMPARE_H

#include "analyzer/analysis/study.h"
#include "analyzer/estimate/estimate.h"

struct compare_pair {
    bool measured_known, estimated_known;
    uint64_t measured_bytes, estimated_bytes;
};

/* One reason why the run's peak differs from the estimated one. */
struct departure {
    enum departure_kind {
        DEPARTURE_category,     /* the run held more of it, or less */
        DEPARTURE_not_modelled, /* of a category that the estimate does not cover */
        DEPARTURE_rounding,     /* up to blocks of the framework's allocator */
        DEPARTURE_moment        /* the estimate's peak is in another phase than the run's */
    } kind;
    enum category category; /* of the first two */
    int64_t bytes;          /* above 0: the run has more */
};
enum { DEPARTURES_MOST = CATEGORY_COUNT + 2 };

struct comparison {
    struct compare_pair live;     /* highest live bytes; estimated: requested */
    struct compare_pair reserved; /* of a framework pool; not known in the driver layer */
    struct compare_pair segments; /* of these what was free when most was live */
    struct compare_pair
        context; /* with modules, and other processes where nothing tells them apart */
    /* Each side at its own peak. */
    struct compare_pair categories[CATEGORY_COUNT];
    /* The trace cannot tell buffers from parameters: on both sides they count as parameters. */
    bool buffers_are_parameters;
    struct compare_pair phases[SCHEDULE_PHASES]; /* highest live bytes in each */
    const char *measured_phase;                  /* of the peak; NULL: outside any */
    /* By name, the largest first; they sum to the difference of the peaks. */
    struct departure departures[DEPARTURES_MOST];
    size_t departure_count;
    const struct estimate_moment
        *departure_moment; /* of the estimate: its highest where the run's peak is */
};

#define COMPARE_CONTEXT_UNKNOWN UINT64_MAX
/* context_bytes: as estimated, or COMPARE_CONTEXT_UNKNOWN. */
int compare_account(struct comparison *comparison, const struct study *study, uint32_t account,
                    const struct estimate *estimate, uint64_t context_bytes, struct err *err);

#endif
