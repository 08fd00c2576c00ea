/* SPDX-License-Identifier: MIT */
/*
 * Measured beside estimated: one stock of a trace and the estimate of its model. It must not
 * print.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_COMPARE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_COMPARE_H

#include "analyzer/analysis/study.h"
#include "estimate.h"

struct compare_pair {
    bool measured_known, estimated_known;
    uint64_t measured_bytes, estimated_bytes;
};

struct comparison {
    struct compare_pair live;     /* highest live bytes; estimated: requested */
    struct compare_pair reserved; /* of a framework pool; not known in the driver layer */
    /* Each side at its own peak. */
    struct compare_pair categories[CATEGORY_COUNT];
    /* The trace cannot tell buffers from parameters: on both sides they count as parameters. */
    bool buffers_are_parameters;
    struct compare_pair phases[SCHEDULE_PHASES]; /* highest live bytes in each */
    const char *measured_phase;                  /* of the peak; NULL: outside any */
};

int compare_stock(struct comparison *comparison, const struct study *study, uint32_t stock,
                  const struct estimate *estimate, struct err *err);

#endif
