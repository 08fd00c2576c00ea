/* SPDX-License-Identifier: MIT */
/*
 * Weights on the device, one allocation each, in the order of their names. It must not know models.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_WEIGHTS_LOAD_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_WEIGHTS_LOAD_H

#include "analyzer/estimate/weights/weights.h"
#include "estimate.h"

int weights_load(const struct weights *weights, struct footprint *load, struct err *err);

#endif
