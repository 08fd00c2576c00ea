/* SPDX-License-Identifier: MIT */
/*
 * Reads the field "layers" of a model file as one flat list: repeats blocks, decides conditions,
 * joins names, and turns the names of "from" into numbers of layers.
 *
 *     layer   {"type": …, "name": …, "from": NAME or [NAME …], "if": CONDITION, fields …}
 *     block   {"layers": […], "name": …, "from": NAME, "if": CONDITION, "repeat": COUNT,
 *              "registered": [NAME …]}
 *
 * Without "from" a layer reads the one before it. A NAME is that of an earlier layer or block in
 * its own block or in one around it; "input" is the input of the innermost block. An item that a
 * condition leaves out passes its input on.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_GRAPH_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_GRAPH_H

#include "dimensions.h"
#include "model.h"
#include "tuning.h"

#define GRAPH_DEPTH_MOST 8
#define GRAPH_ITEMS_MOST (10 * MODEL_LAYERS_MOST) /* including those that conditions leave out */

/*
 * Fills the model's layers, their inputs, and the order of their registration, from the file's
 * "layers" and "registered". On failure the caller releases the model.
 */
int graph_read(struct model *model, const json_t *file, struct dimensions *dimensions,
               const struct tuning *tuning, struct err *err);

#endif
