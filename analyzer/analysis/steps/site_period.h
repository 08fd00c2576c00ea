/* SPDX-License-Identifier: MIT */
/*
 * Finds the call stack whose births begin the steps, in a trace without steps. This stack must
 * repeat. A stack repeats if it has at least eight births over at least a quarter of the ticks, and
 * no gap between two births is longer than three times the mean gap. At most a quarter of these
 * blocks may be live at once, because a loop that only fills memory has no steps.
 *
 *     for batch in data:       600 steps         the call of the model
 *         model(batch)         ├─ forward:22     600 births of the embedding  ◄── begin the steps
 *                              └─ forward:23   7,200 births of 12 layers
 *
 * Layers repeat within a step. Therefore the stacks inside one call of a model (the outermost
 * function "forward", and its callers) count together, as often as the model ran. This number is
 * the number of births of the stack with the fewest births. The number that occurs most often is
 * the number of steps (if several occur equally often, the lowest), and the result is the first
 * stack that has it. But each birth may be one layer, if a model is called layer by layer, or if
 * the code has no model. Therefore these stacks are rejected:
 *
 *   - a stack in a call of the model, if the births of other stacks of that call are no multiple of
 *     its births (give or take two steps);
 *   - a stack in a torch.nn.Sequential, unless other stacks of that call have a multiple of its
 *     births;
 *   - any stack in a framework's pool. It is accepted only if other stacks of its call have a
 *     multiple of its births, or if something outside the call of the model (a batch) repeats as
 *     often between its first and last birth. If there is no model, it is accepted only if anything
 *     has a multiple of its births.
 *
 * If the result is rejected, the stack with the fewest births is taken, provided that the births of
 * all others are multiples of its births. Stacks that repeat more often may come in bursts, such as
 * one layer after the other.
 *
 * If still no stack is found, the model may keep all that it allocates; an example is a model whose
 * outputs keep their graphs. In this case a stack outside of models is taken (a batch). It must
 * allocate at a steady pace, autograd must not keep its blocks, and all births in calls of models
 * must be multiples of its births over the same time.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_SITE_PERIOD_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_SITE_PERIOD_H

#include "growth_watch.h"

struct site_period {
    const struct site_ends *site; /* NULL: no such stack */
    bool is_fed; /* each step calls a model with something that is allocated outside the model */
};

/* -1: out of memory. */
int site_period_find(struct site_period *period, const struct account_ends *own,
                     const struct trace *trace, uint64_t tick_count, struct err *err);

#endif
