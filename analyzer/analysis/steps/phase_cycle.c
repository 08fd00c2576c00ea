/* SPDX-License-Identifier: MIT */
/* Finds the phase that closes a cycle; see phase_cycle.h. */
#include "phase_cycle.h"

#include <string.h>

enum { FEW_CLOSES = 8, SHORTEST_GAP = 2, LONGEST_GAP = 8, SAME_GAPS = 2, LOOP_ENDS = 3 };

static bool is_same(const struct cycle_phase *phase, const struct span *span)
{
    const bool are_known = phase->callers[CALLER_KNOWN] && span->callers[CALLER_KNOWN];
    const int rank = are_known ? CALLER_KNOWN : CALLER_SOME;
    return phase->path == span->path && phase->callers[rank] == span->callers[rank];
}

/* The number of the phase in the cycle. cycle->count: the phase is new. */
static uint32_t find_phase(const struct phase_cycle *cycle, const struct span *span)
{
    uint32_t number = 0;
    while (number < cycle->count && !is_same(&cycle->items[number], span))
        number++;
    return number;
}

static enum cycle_end close_cycle(struct phase_cycle *cycle, uint32_t number, enum cycle_end how)
{
    if (number != cycle->closing)
        cycle->follows_others = how == CYCLE_CLOSES_ANEW;
    cycle->closing = number;
    cycle->others_count = cycle->same_count = 0;
    cycle->closes_count++;
    return how;
}

/* True if the phase ends at regular intervals, but less often than the phase that closes the
 * cycle. */
static bool comes_between(const struct phase_cycle *cycle, struct cycle_phase *phase)
{
    const uint64_t gap = cycle->closes_count - phase->closes_before;
    phase->same_gaps = gap == phase->gap ? phase->same_gaps + 1 : 1;
    phase->gap = gap;
    phase->closes_before = cycle->closes_count;
    return gap >= SHORTEST_GAP && gap <= LONGEST_GAP && phase->same_gaps >= SAME_GAPS;
}

static enum cycle_end end_new(struct phase_cycle *cycle, const struct span *span)
{
    const uint32_t number = cycle->count++;
    cycle->items[number] =
        (struct cycle_phase){.path = span->path, .closes_before = cycle->closes_count};
    memcpy(cycle->items[number].callers, span->callers, sizeof span->callers);
    if (!number)
        return close_cycle(cycle, number, CYCLE_CLOSES);
    if (cycle->closes_count > FEW_CLOSES)
        return CYCLE_GOES_ON;
    cycle->most_others_count = cycle->ends_count;
    return close_cycle(cycle, number, CYCLE_CLOSES_ANEW);
}

/* True if ends_count, a number of ends in a row, is more than twice the highest number before, plus
 * two. */
static bool is_long(const struct phase_cycle *cycle, uint64_t ends_count)
{
    return ends_count > 2 * cycle->most_others_count + 2;
}

static enum cycle_end end_closing(struct phase_cycle *cycle)
{
    if (cycle->follows_others && !cycle->others_count) {
        if (!is_long(cycle, ++cycle->same_count))
            return CYCLE_GOES_ON;
        cycle->follows_others = false;
    }
    if (cycle->others_count > cycle->most_others_count)
        cycle->most_others_count = cycle->others_count;
    return close_cycle(cycle, cycle->closing, CYCLE_CLOSES);
}

static enum cycle_end end_other(struct phase_cycle *cycle, uint32_t number)
{
    struct cycle_phase *phase = &cycle->items[number];
    if (comes_between(cycle, phase)) {
        cycle->most_others_count = phase->gap;
        return close_cycle(cycle, number, CYCLE_CLOSES_ANEW);
    }
    if (!is_long(cycle, ++cycle->others_count))
        return CYCLE_GOES_ON;
    cycle->most_others_count = 0;
    return close_cycle(cycle, number, CYCLE_CLOSES);
}

bool phase_cycle_is_sequence(const struct phase_cycle *cycle)
{
    return cycle->count > 1 && cycle->last < cycle->count && !cycle->has_alternated &&
           cycle->last_count >= LOOP_ENDS;
}

enum cycle_end phase_cycle_end(struct phase_cycle *cycle, const struct span *span)
{
    const uint32_t number = find_phase(cycle, span);
    const bool is_last = cycle->ends_count && number == cycle->last;
    enum cycle_end how = CYCLE_GOES_ON;
    cycle->has_alternated |= !is_last && number != cycle->count;
    cycle->last_count = is_last ? cycle->last_count + 1 : 1;
    cycle->last = number;
    if (number == cycle->count && number < CYCLE_PHASES_MAX)
        how = end_new(cycle, span);
    else if (number < cycle->count)
        how = number == cycle->closing ? end_closing(cycle) : end_other(cycle, number);
    cycle->ends_count++;
    return how;
}
