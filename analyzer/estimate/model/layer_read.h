/* SPDX-License-Identifier: MIT */
/*
 * Reads one layer of a model file: its type and its fields. An unknown field or a value out of
 * range fails with a message that names the layer and the field.
 */
#pragma once

#include "analyzer/estimate/layer/layer.h"
#include "dimensions.h"

#define LAYER_TYPE_BYTES 64

/* Fills the layer. `name` is its path in the model, as "encoder.layer.0.attention". */
int layer_read(struct layer *layer, json_t *object, const char *name, size_t index,
               struct dimensions *dimensions, struct err *err);
