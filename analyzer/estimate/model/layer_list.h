/* SPDX-License-Identifier: MIT */
/*
 * Reads gpumemtrace's own description of a model, a JSON list of layers (MODEL-FORMAT.md). Refuses
 * unknown keys, checks every value, and names the layer and the field in each message.
 */
#pragma once

#include "given.h"
#include "model.h"

/* Fills all of the model except what model_resolve fills. On failure the caller releases the
 * model. */
int layer_list_read(struct model *model, json_t *root, const struct given *given, struct err *err);
