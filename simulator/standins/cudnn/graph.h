/* SPDX-License-Identifier: MIT */
/*
 * The attributes of the graph interface that cuDNN computes: engines, heuristics, plans and their
 * workspaces. backend.h stores attributes.
 */
#pragma once

#include <stdbool.h>

#include "backend.h"

/* Called when a descriptor is finalized: adds the attributes that cuDNN computes. Returns a status
 * of cuDNN. */
int graph_complete(struct contents *contents);

/* Whether this attribute, if it is not set, is an empty list. */
bool graph_attribute_is_empty(int name);
