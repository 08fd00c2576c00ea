/* SPDX-License-Identifier: MIT */
/*
 * The units of FSDP: which parameters are gathered together, and the bytes
 * that ranks exchange of each unit.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_UNITS_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_PLAN_UNITS_H

#include "plan.h"

/* Needs the plan's layers and parameters. Does nothing if ranks do not share weights by units. */
int plan_units(struct plan *plan, struct err *err);

#endif
