/* SPDX-License-Identifier: MIT */
/*
 * A training (or inference) loop, written onto a tape: which memory a framework takes and gives
 * back, in order, for two steps, so that the second one finds the optimizer's states in place.
 * It must not know how the tape is judged.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_RUN_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_RUN_H

#include "plan.h"
#include "tape.h"

#define RUN_STEPS 2

/* Fills the tape and saved_bytes of the plan's layers. -1: *err says which layer cannot run. */
int run_record(struct plan *plan, struct tape *tape, struct err *err);

#endif
