/* SPDX-License-Identifier: MIT */
/* The table of layer types, from layers.def. */
#pragma once

#include "layer.h"

extern const struct layer_kind layer_kinds[];
extern const size_t layer_kind_count;

/* Finds a type by PyTorch's name or by one of activations.def; case matters. NULL: no such type. */
const struct layer_kind *layer_kind_find(const char *name);

/* Returns the name of the type that is nearest to a mistyped name. NULL: none is near. */
const char *layer_kind_nearest(const char *typed);
