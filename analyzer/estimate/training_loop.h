/* SPDX-License-Identifier: MIT */
/*
 * A training or inference loop, written down as a schedule: the allocations and frees of a
 * framework in two training steps, because only the second step begins with the optimizer's states.
 *
 *     init       parameters and buffers, layer by layer
 *     data       the previous batch is freed, the next one arrives
 *     forward    each layer makes its result; its input is freed, unless backward needs it
 *     backward   from the last layer on: the gradient of its input, those of its parameters; then
 *                what it saved and the gradient of its result are freed
 *     optimizer  states (first step), temporaries; at its end the gradients are freed (set to none)
 *                … and the outputs at the end of the step
 *
 * A storage lives while someone holds it: the loop, the layer that runs, or autograd's graph. Views
 * and in-place layers pass their input's storage on.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_TRAINING_LOOP_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_TRAINING_LOOP_H

#include "plan.h"
#include "schedule.h"

#define TRAINING_LOOP_STEPS 2

/* Fills the schedule and saved_bytes of the plan's layers. -1: *err says which layer cannot run. */
int training_loop_record(struct plan *plan, struct schedule *schedule, struct err *err);

#endif
