/* SPDX-License-Identifier: MIT */
/*
 * Decides whether the recorded run has this model at all. To do so, looks for a block of the run
 * with the size of each of the model's parameters.
 */
#pragma once

#include "compare.h"

struct likeness {
    uint64_t tensors_count, tensors_bytes; /* parameters of the model */
    /* those parameters for which the run has a block of the same size at its peak */
    uint64_t found_count, found_bytes;
    uint64_t measured_bytes; /* of the run's parameters at that peak */
    uint64_t
        strange_bytes; /* part of these in blocks of a size that no parameter of the model has */
    /*
     * The run has another model: its bytes of parameters differ from the model's, and either less
     * than half of the model's bytes are found by size, or many bytes are strange. Strange bytes
     * are looked at because a larger model has blocks of common sizes by chance.
     */
    bool is_another;
};

int likeness_find(struct likeness *likeness, const struct study *study, uint32_t account,
                  const struct comparison *comparison, const struct estimate *estimate,
                  struct err *err);
