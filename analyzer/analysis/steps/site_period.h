/* SPDX-License-Identifier: MIT */
/*
 * Finds the call stack whose births begin the steps of a trace without steps. It repeats: it has at
 * least eight births, never more than a quarter of them live at once (a loop that only fills memory
 * has no steps), no gap longer than three times the mean, over at least a quarter of the ticks.
 *
 *     for batch in data:       600 steps         the call of the model
 *         model(batch)         ├─ forward:22     600 births of the embedding  ◄── begin the steps
 *                              └─ forward:23   7,200 births of 12 layers
 *
 * Layers repeat within a step. So the stacks inside one call of a model (the outermost function
 * "forward", and its callers) count together, as often as the model ran: with the fewest births of
 * any of them. The most frequent of all these numbers is the number of steps (among equals the
 * lowest), and the result is the first stack that has it. But each birth may be a layer, if a model
 * is called layer by layer or code has no model. So these stacks are rejected:
 *
 *   - a stack in a call of the model, if other stacks of that call are no multiples of it, but for
 *     two steps more or less;
 *   - a stack in a torch.nn.Sequential, unless others of that call repeat more often, by a
 *     multiple;
 *   - any stack in a framework's pool, unless others of its call repeat more often, by a multiple,
 *     or something outside the call of the model (a batch) repeats as often between its first and
 *     last birth. Without a model: unless anything repeats more often, by a multiple.
 *
 * Then the stack with the fewest births is taken, if all others are multiples of it. Stacks that
 * repeat more often may come in bursts, as one layer after the other.
 *
 * If no stack is found, the model may keep all that it allocates, as one whose outputs keep their
 * graphs. Then a stack outside of models is taken that allocates at a steady pace and whose blocks
 * autograd does not keep (a batch), if all births in calls of models are multiples of its own, over
 * the same time.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_SITE_PERIOD_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_SITE_PERIOD_H

#include "growth_watch.h"

struct site_period {
    const struct site_ends *site; /* NULL: no such stack */
    bool is_fed; /* each step calls a model with something that is allocated outside of it */
};

/* -1: out of memory. */
int site_period_find(struct site_period *period, const struct account_ends *own,
                     const struct trace *trace, uint64_t tick_count, struct err *err);

#endif
