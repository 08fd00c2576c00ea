/* SPDX-License-Identifier: MIT */
/*
 * Which call each event inside another call belongs to: a context that the first cudaMalloc makes,
 * a module it loads. It must not know what the events mean.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_NESTING_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_NESTING_H

#include "analyzer/replay/history.h"

struct nested {
    uint32_t event;
    uint32_t parent; /* event of the call around it; HISTORY_NONE: not recorded */
};

struct nesting {
    struct nested *items; /* in event order; samples of memory are left out */
    size_t count;
};

int nesting_find(struct nesting *nesting, const struct trace *trace, struct err *err);
void nesting_release(struct nesting *nesting);

#endif
