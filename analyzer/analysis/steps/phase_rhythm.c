/* SPDX-License-Identifier: MIT */
/* Which phase repeats; see phase_rhythm.h. */
#include "phase_rhythm.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/util/array.h"

enum { FEWEST_PHASES = 8 };

/* At most PHASE_RHYTHM_DEEPEST: a file can hold many phases inside each other, and steps lie outside. */
static uint32_t depth_of(const struct spans *spans, uint32_t span)
{
    uint32_t depth = 0;

    while (depth < PHASE_RHYTHM_DEEPEST && (span = spans->items[span].thread_outer) != HISTORY_NONE)
        depth++;
    return depth;
}

static bool may_be_step(const struct path *path)
{
    return path->source != PHASE_SOURCE_INFERRED && !strstr(path->name, "::") &&
           strncasecmp(path->name, "epoch", strlen("epoch")) != 0;
}

bool phase_rhythm_has(const struct phase_rhythm *rhythm, const struct history *history,
                      const struct spans *spans, uint32_t span)
{
    const struct path *path = &history->paths[spans->items[span].path];

    return path->name == rhythm->name && path->source != PHASE_SOURCE_INFERRED &&
           depth_of(spans, span) == rhythm->depth;
}

static struct phase_rhythm *find_rhythm(struct phase_rhythms *rhythms, const char *name,
                                        uint32_t depth)
{
    size_t i = 0;

    while (i < rhythms->count &&
           (rhythms->items[i].name != name || rhythms->items[i].depth != depth))
        i++;
    if (i == PHASE_RHYTHMS_MAX)
        return NULL;
    if (i == rhythms->count)
        rhythms->items[rhythms->count++] = (struct phase_rhythm){.name = name, .depth = depth};
    return &rhythms->items[i];
}

int phase_rhythms_begin(struct phase_rhythms *rhythms, uint32_t span, uint64_t beat,
                        struct err *err)
{
    uint64_t *begins = array_reach(rhythms->begins, &rhythms->begin_capacity, &rhythms->begin_count,
                                   sizeof *begins, span, err);
    if (!begins)
        return -1;
    rhythms->begins = begins;
    begins[span] = beat;
    return 0;
}

void phase_rhythms_release(struct phase_rhythms *rhythms)
{
    free(rhythms->begins);
}

void phase_rhythms_end(struct phase_rhythms *rhythms, const struct cursor *at,
                       const struct spans *spans, uint32_t span, uint64_t beat)
{
    const struct path *path = &at->history->paths[spans->items[span].path];

    if (!at->event || !may_be_step(path)) /* a phase that nobody ended ends no step */
        return;
    const uint32_t depth = depth_of(spans, span);
    struct phase_rhythm *own =
        depth < PHASE_RHYTHM_DEEPEST ? find_rhythm(rhythms, path->name, depth) : NULL;
    if (!own)
        return;
    if (!own->ends_count++)
        own->first_end = beat;
    else if (beat - own->last_end > own->longest_gap)
        own->longest_gap = beat - own->last_end;
    own->last_end = beat;
    own->covered_count += beat - rhythms->begins[span];
}

static bool repeats(const struct phase_rhythm *rhythm, uint64_t beat_count)
{
    const uint64_t all = rhythm->last_end - rhythm->first_end;

    return rhythm->ends_count >= FEWEST_PHASES && all * 4 >= beat_count &&
           rhythm->longest_gap * (rhythm->ends_count - 1) <= 3 * all;
}

const struct phase_rhythm *phase_rhythms_find(const struct phase_rhythms *rhythms,
                                              uint64_t beat_count)
{
    const struct phase_rhythm *found = NULL;

    for (size_t i = 0; i < rhythms->count; i++) {
        const struct phase_rhythm *own = &rhythms->items[i];
        if (repeats(own, beat_count) &&
            (!found || own->depth < found->depth ||
             (own->depth == found->depth && own->covered_count > found->covered_count)))
            found = own;
    }
    return found;
}
