/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a run trains or runs this model at all: it looks for the model's parameters,
 * tensor by tensor, among the run's blocks.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_COMPARE_LIKENESS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_COMPARE_LIKENESS_H

#include "compare.h"

struct likeness {
    uint64_t tensors_count, tensors_bytes; /* parameters of the model */
    /* … for which the run has a block of that size at its peak */
    uint64_t found_count, found_bytes;
    uint64_t measured_bytes; /* of the run's parameters at that peak */
    uint64_t strange_bytes;  /* … in blocks of a size that no parameter of the model has */
    /*
     * The run has another model: its bytes of parameters differ, and less than half of the model's
     * are found by size or many are strange. Strange bytes count, because a larger model has
     * blocks of common sizes by chance.
     */
    bool is_another;
};

int likeness_find(struct likeness *likeness, const struct study *study, uint32_t account,
                  const struct comparison *comparison, const struct estimate *estimate,
                  struct err *err);

#endif
