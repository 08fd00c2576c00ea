/* SPDX-License-Identifier: MIT */
/* A short list of tensors that a layer owns or makes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/analysis/category.h"
#include "analyzer/util/checked.h"
#include "shape.h"

/* `count` tensors of the same size, each of which is an allocation of its own. */
struct tensor {
    enum category category;
    uint64_t bytes, elements, count; /* bytes and elements are those of one */
    uint64_t values;                 /* values packed into its elements; 0: as many as elements */
    bool brief;                      /* freed when the next tensor of the list is made */
    /* name of a parameter or buffer within its layer; NULL: it has the layer's own name */
    const char *name;
    struct shape shape; /* rank 0: unknown, or one element */
};

#define TENSORS_MAX 12

struct tensors {
    struct tensor items[TENSORS_MAX];
    size_t count;
    struct checked checked;
};

void tensors_add(struct tensors *tensors, enum category category, uint64_t element_bytes,
                 uint64_t elements, uint64_t count);
/* Adds one tensor that has a name and a shape. */
void tensors_own(struct tensors *tensors, enum category category, uint64_t element_bytes,
                 const char *name, struct shape shape);
/* These sum over the tensors of one category. Each of the `count` copies of a tensor counts. */
uint64_t tensors_count(const struct tensors *tensors, enum category category);
uint64_t tensors_elements(struct tensors *tensors, enum category category);
uint64_t tensors_bytes(struct tensors *tensors, enum category category);
