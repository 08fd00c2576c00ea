/* SPDX-License-Identifier: MIT */
/*
 * The formulas that layers.def names: shapes (layer_shapes.c), parameters (layer_parameters.c), and
 * the tensors that forward and backward make besides results (layer_extra.c).
 */
#pragma once

#include "layer.h"

/* A formula that several layers name is declared several times. */
#define LAYER(name, rank, shape_column, parameters_column, fields, required, saves, inplace,       \
              extra_column, backward_column, traits)                                               \
    int shape_##shape_column(struct layer *, const struct shape *, struct shape *, struct err *);  \
    void parameters_##parameters_column(const struct layer *, enum dtype, struct tensors *);       \
    void extra_##extra_column(const struct layer *, const struct flow *, struct tensors *);        \
    void backward_##backward_column(const struct layer *, const struct flow *, struct tensors *);
#include "layers.def"
