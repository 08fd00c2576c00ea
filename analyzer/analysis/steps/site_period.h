/* SPDX-License-Identifier: MIT */
/*
 * The call stack whose births begin the steps of a trace that has none: one that repeats, at least
 * eight births, of which never more than a quarter are live at once (a loop that only fills memory has
 * no steps), no gap longer than three times the mean, over at least a quarter of the ticks.
 *
 *     for batch in data:       600 steps         the call of the model
 *         model(batch)         ├─ forward:22     600 births of the embedding  ◄── begin the steps
 *                              └─ forward:23   7,200 births of 12 layers
 *
 * Layers repeat within a step. So stacks that go through one call of a model (the outermost function
 * "forward", and its callers) count together, with the fewest births of any of them: as often as the
 * model ran. Of all numbers of births the most frequent is the number of steps (the lowest, of several),
 * and the stack the first that has it. But each birth may be a layer: of a model that is called layer by
 * layer, or of code without a model. So these do not tell
 *
 *   - a stack in a call of the model in which others are no multiples of it, but for two steps more or less;
 *   - one in a torch.nn.Sequential, unless others of that call repeat more often, by a multiple;
 *   - in a framework's pool, any, unless that is so, or something outside the call of the model (a batch)
 *     repeats as often between its first and last birth; without a model, unless anything repeats more
 *     often, by a multiple.
 *
 * Then the fewest births of any tell, if all others are multiples of it. What repeats more often may
 * come in bursts, as a layer after the other.
 *
 * If none tells, a model may keep all that it makes, as one whose outputs keep their graphs: then what is made
 * outside it, at a steady pace and by no operator of a graph (a batch), tells the steps, if all births in calls
 * of models are multiples of it, and made as long. It must not know growth.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_SITE_PERIOD_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_SITE_PERIOD_H

#include "growth_watch.h"

struct site_period {
    const struct site_ends *site; /* NULL: no stack tells */
    bool is_fed; /* a model is called in each step, with something that is made outside it */
};

/* -1: out of memory. */
int site_period_find(struct site_period *period, const struct account_ends *own,
                     const struct trace *trace, uint64_t tick_count, struct err *err);

#endif
