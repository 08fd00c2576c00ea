/* SPDX-License-Identifier: MIT */
/*
 * The formulas that layers.def names: shapes (layer_shapes.c), parameters (layer_parameters.c), and
 * what the passes make besides results (layer_extra.c). It must not know which layer uses which.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_LAYER_FORMULAS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_LAYER_FORMULAS_H

#include "layer.h"

/* Several layers name the same formula: its declaration is repeated. */
#define LAYER(name, rank, shape_column, parameters_column, fields, required, saves, inplace,       \
              extra_column, backward_column, traits)                                               \
    int shape_##shape_column(struct layer *, const struct shape *, struct shape *, struct err *);  \
    void parameters_##parameters_column(const struct layer *, enum dtype, struct tensors *);       \
    void extra_##extra_column(const struct layer *, const struct flow *, struct tensors *);        \
    void backward_##backward_column(const struct layer *, const struct flow *, struct tensors *);
#include "layers.def"

#endif
