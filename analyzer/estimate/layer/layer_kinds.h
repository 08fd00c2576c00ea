/* SPDX-License-Identifier: MIT */
/*
 * The table of layer types, from layers.def. It must not know how a formula works.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_LAYER_KINDS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_LAYER_LAYER_KINDS_H

#include "layer.h"

extern const struct layer_kind layer_kinds[];
extern const size_t layer_kind_count;

/* NULL: no such type. Names are PyTorch's, or those of activations.def, and case matters. */
const struct layer_kind *layer_kind_find(const char *name);

/* The type whose name is nearest to a mistyped one, NULL: none is near. */
const char *layer_kind_nearest(const char *typed);

#endif
