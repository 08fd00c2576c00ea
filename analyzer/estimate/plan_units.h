/* SPDX-License-Identifier: MIT */
/*
 * Plans the units of FSDP: which parameters are gathered together, and how many bytes of each unit
 * the ranks exchange.
 */
#pragma once

#include "plan.h"

/* Needs the plan's layers and parameters. Does nothing if the ranks do not share weights in
 * units. */
int plan_units(struct plan *plan, struct err *err);
