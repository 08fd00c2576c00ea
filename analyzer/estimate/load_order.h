/* SPDX-License-Identifier: MIT */
/*
 * The order in which model.to() moves tensors to the device: first the tensors of a module's
 * children, then its own. If sizes differ, the order decides how PyTorch splits its segments.
 */
#pragma once

#include "plan.h"

/* Returns the numbers of all layers of the plan in that order. The caller frees the array. NULL:
 * out of memory. */
size_t *load_order(const struct plan *plan, struct err *err);
