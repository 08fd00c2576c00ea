/* SPDX-License-Identifier: MIT */
/* Finds the phase that repeats; see phase_period.h. */
#include "phase_period.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/util/array.h"

enum { FEWEST_PHASES = 8 };

/* The depth of the span, but at most PHASE_PERIOD_DEEPEST, because a trace can nest many phases,
 * and steps have few phases around them. */
static uint32_t depth_of(const struct spans *spans, uint32_t span)
{
    uint32_t depth = 0;
    while (depth < PHASE_PERIOD_DEEPEST && (span = spans->items[span].thread_outer) != HISTORY_NONE)
        depth++;
    return depth;
}

static bool may_be_step(const struct path *path)
{
    return path->source != PHASE_SOURCE_INFERRED && !strstr(path->name, "::") &&
           strncasecmp(path->name, "epoch", strlen("epoch")) != 0;
}

bool phase_period_has(const struct phase_period *period, const struct history *history,
                      const struct spans *spans, uint32_t span)
{
    const struct path *path = &history->paths[spans->items[span].path];
    return path->name == period->name && path->source != PHASE_SOURCE_INFERRED &&
           depth_of(spans, span) == period->depth;
}

static struct phase_period *find_period(struct phase_periods *periods, const char *name,
                                        uint32_t depth)
{
    size_t i = 0;
    while (i < periods->count &&
           (periods->items[i].name != name || periods->items[i].depth != depth))
        i++;
    if (i == PHASE_PERIODS_MAX)
        return NULL;
    if (i == periods->count)
        periods->items[periods->count++] = (struct phase_period){.name = name, .depth = depth};
    return &periods->items[i];
}

int phase_periods_begin(struct phase_periods *periods, uint32_t span, uint64_t tick,
                        struct err *err)
{
    if (ARRAY_REACH(periods->begins, periods->begin_capacity, periods->begin_count, span, err))
        return -1;
    periods->begins[span] = tick;
    return 0;
}

void phase_periods_release(struct phase_periods *periods)
{
    free(periods->begins);
}

void phase_periods_end(struct phase_periods *periods, const struct cursor *at, uint32_t span,
                       uint64_t tick)
{
    const struct path *path = &at->history->paths[at->spans->items[span].path];
    if (!at->event || !may_be_step(path)) /* a phase without an end event ends no step */
        return;
    const uint32_t depth = depth_of(at->spans, span);
    struct phase_period *own =
        depth < PHASE_PERIOD_DEEPEST ? find_period(periods, path->name, depth) : NULL;
    if (!own)
        return;
    if (!own->ends_count++)
        own->first_end = tick;
    else if (tick - own->last_end > own->longest_gap)
        own->longest_gap = tick - own->last_end;
    own->last_end = tick;
    own->covered_count += tick - periods->begins[span];
}

static bool repeats(const struct phase_period *period, uint64_t tick_count)
{
    const uint64_t all = period->last_end - period->first_end;
    return period->ends_count >= FEWEST_PHASES && all * 4 >= tick_count &&
           period->longest_gap * (period->ends_count - 1) <= 3 * all;
}

const struct phase_period *phase_periods_find(const struct phase_periods *periods,
                                              uint64_t tick_count)
{
    const struct phase_period *found = NULL;
    for (size_t i = 0; i < periods->count; i++) {
        const struct phase_period *own = &periods->items[i];
        if (repeats(own, tick_count) &&
            (!found || own->depth < found->depth ||
             (own->depth == found->depth && own->covered_count > found->covered_count)))
            found = own;
    }
    return found;
}
