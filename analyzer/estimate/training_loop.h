/* SPDX-License-Identifier: MIT */
/*
 * Records a training or inference loop as a schedule: the allocations and frees of a framework in
 * two training steps. Two are needed because only the second step begins with the optimizer's
 * states.
 *
 *     init       parameters and buffers, layer by layer
 *     data       the previous batch is freed, and the next one arrives
 *     forward    each layer makes its result; its input is freed, unless backward needs it
 *     backward   each layer, from the last to the first, makes the gradients of its input and its
 *                parameters; then its saved tensors and the gradient of its result are freed
 *     optimizer  states (in the first step) and temporaries; at its end the gradients are freed
 *                (set to none); the outputs are freed at the end of the training step
 *
 * A storage lives while it has a holder: the loop, the layer that runs, or autograd's graph. The
 * result of a view or an in-place layer is the storage of its input.
 */
#pragma once

#include "plan.h"
#include "schedule.h"

#define TRAINING_LOOP_STEPS 2

/* Fills the schedule, and sets saved_bytes in the plan's layers. -1: *err says which layer cannot
 * run. */
int training_loop_record(struct plan *plan, struct schedule *schedule, struct err *err);
