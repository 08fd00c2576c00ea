/* SPDX-License-Identifier: MIT */
/*
 * A training (or inference) loop, written onto a schedule: which memory a framework takes and gives
 * back, in order, for two steps, so that the second one finds the optimizer's states in place.
 * It must not know how the schedule is judged.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_TRAINING_LOOP_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_TRAINING_LOOP_H

#include "plan.h"
#include "schedule.h"

#define TRAINING_LOOP_STEPS 2

/* Fills the schedule and saved_bytes of the plan's layers. -1: *err says which layer cannot run. */
int training_loop_record(struct plan *plan, struct schedule *schedule, struct err *err);

#endif
