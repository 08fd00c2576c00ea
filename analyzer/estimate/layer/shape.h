/* SPDX-License-Identifier: MIT */
/* The shape of a tensor: its rank and dimensions. */
#pragma once

#include "analyzer/util/checked.h"

#define SHAPE_RANK_MAX 6

struct shape {
    unsigned rank;
    uint64_t dims[SHAPE_RANK_MAX];
};

static inline struct shape shape_of(uint64_t width)
{
    return (struct shape){.rank = 1, .dims = {width}};
}

static inline struct shape shape_of2(uint64_t rows, uint64_t columns)
{
    return (struct shape){.rank = 2, .dims = {rows, columns}};
}

uint64_t shape_elements(const struct shape *shape, struct checked *checked);

#define SHAPE_TEXT_BYTES 128
/* "64 x 112 x 112"; "scalar" for rank 0. */
const char *shape_text(const struct shape *shape, char text[SHAPE_TEXT_BYTES]);
