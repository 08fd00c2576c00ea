/* SPDX-License-Identifier: MIT */
/*
 * What descriptors of the graph interface are asked for: engines, heuristics, plans and their workspaces.
 * It must not know how attributes are kept.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_GRAPH_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_GRAPH_H

#include <stdbool.h>

#include "backend.h"

/* When a descriptor is finalized: adds the attributes that cuDNN computes. A status of cuDNN. */
int graph_complete(struct contents *contents);

/* Whether an attribute that is not set is an empty list. */
bool graph_attribute_is_empty(int name);

#endif
