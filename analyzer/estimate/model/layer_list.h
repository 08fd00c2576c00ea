/* SPDX-License-Identifier: MIT */
/*
 * The reader of our own description, a JSON list of layers (MODEL-FORMAT.md). It refuses unknown
 * keys, checks every value, and names the layer and the field in each message.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_LAYER_LIST_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_LAYER_LIST_H

#include "given.h"
#include "model.h"

/* Fills all of the model except what model_resolve fills. On failure the caller releases it. */
int layer_list_read(struct model *model, json_t *root, const struct given *given, struct err *err);

#endif
