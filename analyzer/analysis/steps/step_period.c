/* SPDX-License-Identifier: MIT */
/* Follows the rounds of a program; see step_period.h. */
#include "step_period.h"

#include <stdlib.h>

void step_period_release(struct step_period *period)
{
    free(period->roles);
    *period = (struct step_period){0};
}

/* Blocks that are freed all at once end a round, also the first one. Returns true if a step ends
 * before the round. */
static bool begin_round(struct step_period *period, const struct history *history,
                        const struct block *block)
{
    const uint32_t backward = block_is_of_backward(history, block) ? block->birth_round : 0;
    const bool is_inside = backward && backward == period->backward;
    period->backward = backward;
    period->frees_at_end = period->frees_count;
    return (period->begins_count++ > 0 || period->has_dropped) && !is_inside;
}

bool step_period_change(struct step_period *period, const struct history *history,
                        const struct change *change)
{
    const struct block *block = change->block;
    if (!period->roles || (block->account != period->account && period->account != HISTORY_NONE))
        return false;
    const unsigned role = step_period_role(period, site_stack(block->site_id));
    if (!change->birth) {
        period->frees_count++;
        period->has_dropped |= (role & ROUND_DROPS) != 0;
        return false;
    }
    const bool begins = period->has_dropped || (role & ROUND_BEGINS && !period->is_beginning);
    const bool is_after = period->is_last_whole && !period->births_left;
    const bool ends = (begins && begin_round(period, history, block)) || is_after;
    period->is_last_whole &= !is_after;
    period->is_beginning = (role & ROUND_BEGINS) != 0;
    period->has_dropped = false;
    period->births_left -= (role & ROUND_PART) != 0;
    period->frees_count = 0;
    return ends;
}

bool step_period_is_over(struct step_period *period)
{
    if (!period->is_last_whole || period->births_left || period->frees_count < period->frees_at_end)
        return false;
    period->is_last_whole = false;
    return true;
}
