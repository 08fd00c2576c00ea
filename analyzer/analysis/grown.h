/* SPDX-License-Identifier: MIT */
/*
 * What grew between two traces: the live bytes of one stock each, by call stack. Stacks of
 * different processes are the same when all their frames read the same. It must not know why two
 * traces are compared.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_GROWN_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_GROWN_H

#include "study.h"

struct grown_site {
    uint32_t stack_id; /* of the later trace */
    uint64_t before_bytes, after_bytes;
};

struct grown {
    struct grown_site *items; /* what grew, by how much, the most first */
    size_t count;
};

/* One side: what is live in the stock right after event `index` (INDEX_NONE: nothing). */
struct grown_side {
    const struct study *study;
    uint32_t stock;
    uint64_t index;
};

int grown_find(struct grown *grown, const struct grown_side *before, const struct grown_side *after,
               struct err *err);
void grown_release(struct grown *grown);

#endif
