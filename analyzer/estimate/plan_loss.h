/* SPDX-License-Identifier: MIT */
/* A plan whose head and loss are one operation, in pieces of tokens: --logits=chunked. It must not know the order of allocations. */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_LOSS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_LOSS_H

#include "plan.h"

/* Nothing with another setting. -1: the model has no loss of a linear layer's result. */
int plan_chunked_loss(struct plan *plan, struct err *err);

#endif
