/* SPDX-License-Identifier: MIT */
/*
 * Whether a run is one of this model at all: are the model's parameters there, tensor by tensor? It must not print.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_COMPARE_LIKENESS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_COMPARE_LIKENESS_H

#include "compare.h"

struct likeness {
    uint64_t tensors_count, tensors_bytes; /* parameters of the model */
    uint64_t found_count, found_bytes; /* … that have a block of their size at the run's peak */
    uint64_t measured_bytes;           /* of parameters at that peak */
    uint64_t strange_bytes; /* … in blocks of a size that no parameter of the model has */
    /* Not as many bytes of parameters, and less than half are there by their sizes, or many are strange: common sizes are
     * met by chance among all blocks of a larger model. */
    bool is_another;
};

int likeness_find(struct likeness *likeness, const struct study *study, uint32_t account,
                  const struct comparison *comparison, const struct estimate *estimate,
                  struct err *err);

#endif
