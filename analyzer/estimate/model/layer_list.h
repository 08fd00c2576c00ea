/* SPDX-License-Identifier: MIT */
/*
 * The reader of our own description, a JSON list of layers (MODEL-FORMAT.md): it knows or refuses
 * every key, checks every value, and each message names the layer and the field. It must not know
 * files.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_LAYER_LIST_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_LAYER_LIST_H

#include "given.h"
#include "model.h"

/* Fills all of the model but what model_resolve does. On failure the caller releases it. */
int layer_list_read(struct model *model, json_t *root, const struct given *given, struct err *err);

#endif
