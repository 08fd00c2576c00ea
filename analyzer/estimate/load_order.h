/* SPDX-License-Identifier: MIT */
/*
 * The order in which model.to() moves tensors to the device: those of a module's children before its own. Where sizes differ,
 * it decides how PyTorch's segments are split. It must not know bytes.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_LOAD_ORDER_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_LOAD_ORDER_H

#include "plan.h"

/* Numbers of layers, as many as the plan has; the caller frees them. NULL: out of memory. */
size_t *load_order(const struct plan *plan, struct err *err);

#endif
