/* SPDX-License-Identifier: MIT */
/* The units of FSDP in a plan: whose weights are gathered together, and what ranks exchange of each. It must not know the order of that. */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_UNITS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_UNITS_H

#include "plan.h"

/* The plan's layers and parameters are there. Nothing where the weights are not shared. */
int plan_units(struct plan *plan, struct err *err);

#endif
