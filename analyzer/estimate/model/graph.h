/* SPDX-License-Identifier: MIT */
/*
 * The field "layers" of a model file as one flat list: blocks are repeated, conditions decided, names
 * joined, and the words of "from" become numbers of layers. It must not know the fields of a layer.
 *
 *     layer   {"type": …, "name": …, "from": NAME or [NAME …], "if": CONDITION, fields …}
 *     block   {"layers": […], "name": …, "from": NAME, "if": CONDITION, "repeat": COUNT, "registered": [NAME …]}
 *
 * Without "from" a layer reads the one before it. A NAME is that of a layer or block before it in its own
 * block or in one around it; "input" is what the innermost block reads. What a condition leaves out hands
 * on what it would have read.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_GRAPH_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_GRAPH_H

#include "dimensions.h"
#include "model.h"
#include "tuning.h"

#define GRAPH_DEPTH_MOST 8
#define GRAPH_ITEMS_MOST (10 * MODEL_LAYERS_MOST) /* with those that conditions leave out */

/* Fills the layers of the model, what each reads, and the order of their registration, from the file's "layers" and "registered". On failure the caller releases the model. */
int graph_read(struct model *model, const json_t *file, struct dimensions *dimensions,
               const struct tuning *tuning, struct err *err);

#endif
