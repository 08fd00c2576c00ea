/* SPDX-License-Identifier: MIT */
/*
 * A short list of tensors, as a layer owns or makes them. It must not know layers.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_TENSORS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_TENSORS_H

#include <stddef.h>

#include "analyzer/analysis/category.h"
#include "analyzer/util/checked.h"

/* count tensors of the same size; each is an allocation of its own. */
struct tensor {
    enum category category;
    uint64_t element_bytes, elements, count;
};

#define TENSORS_MAX 12

struct tensors {
    struct tensor items[TENSORS_MAX];
    size_t count;
    struct checked checked;
};

void tensors_add(struct tensors *tensors, enum category category, uint64_t element_bytes,
                 uint64_t elements, uint64_t count);
/* Sums over one category. */
uint64_t tensors_elements(struct tensors *tensors, enum category category);
uint64_t tensors_bytes(struct tensors *tensors, enum category category);

#endif
