/* SPDX-License-Identifier: MIT */
/*
 * Plans the units of FSDP: which parameters are gathered together, and how many bytes of each unit
 * the ranks exchange.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_UNITS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_UNITS_H

#include "plan.h"

/* Needs the plan's layers and parameters. Does nothing if the ranks do not share weights in
 * units. */
int plan_units(struct plan *plan, struct err *err);

#endif
