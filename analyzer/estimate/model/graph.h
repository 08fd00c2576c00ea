/* SPDX-License-Identifier: MIT */
/*
 * Reads the field "layers" of a model file as one flat list: repeats blocks, decides conditions,
 * joins names, and turns the names of "from" into numbers of layers.
 *
 *     layer   {"type": …, "name": …, "from": NAME or [NAME …], "if": CONDITION, fields …}
 *     block   {"layers": […], "name": …, "from": NAME, "if": CONDITION, "repeat": COUNT,
 *              "registered": [NAME …]}
 *
 * A layer without "from" reads the previous layer. A NAME means an earlier layer or block in the
 * same block or in a block around it; "input" means the input of the innermost block. If a
 * condition leaves an item out, readers of the item read its input instead.
 */
#pragma once

#include "dimensions.h"
#include "model.h"
#include "tuning.h"

#define GRAPH_DEPTH_MOST 8
#define GRAPH_ITEMS_MOST (10 * MODEL_LAYERS_MOST) /* including those that conditions leave out */

/*
 * Fills the model's layers, their inputs, and the order in which they are registered, from the
 * file's "layers" and "registered". On failure the caller releases the model.
 */
int graph_read(struct model *model, const json_t *file, struct dimensions *dimensions,
               const struct tuning *tuning, struct err *err);
