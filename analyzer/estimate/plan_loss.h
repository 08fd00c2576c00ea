/* SPDX-License-Identifier: MIT */
/*
 * Plans the last linear layer and the loss as one operation, which works on pieces of the tokens
 * (--logits=chunked).
 */
#pragma once

#include "plan.h"

/* Does nothing if --logits is not chunked. -1: the model has no loss that reads a linear layer's
 * result. */
int plan_chunked_loss(struct plan *plan, struct err *err);
