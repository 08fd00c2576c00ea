/* SPDX-License-Identifier: MIT */
/*
 * Loads weights into the simulated allocator: one allocation for each tensor, in the order of the
 * tensors' names.
 */
#pragma once

#include "analyzer/estimate/weights/weights.h"
#include "estimate.h"

int weights_load(const struct weights *weights, struct footprint *load, struct err *err);
