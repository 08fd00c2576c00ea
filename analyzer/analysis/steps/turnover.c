/* SPDX-License-Identifier: MIT */
/* Tells a cache that is full from a leak; see turnover.h. */
#include "turnover.h"

#include "analyzer/thresholds/thresholds.h"

void turnover_free(struct turnover *turnover, const struct turnover_free *freed)
{
    if (!turnover->level.count) {
        turnover->level = turnover->least = freed->live;
        turnover->since_index = freed->index;
    }
    turnover->open.count++;
    turnover->open.bytes += freed->size_bytes;
    turnover->open.early_count += freed->begin_index < turnover->since_index;
}

static void raise_to(uint64_t *most, uint64_t value)
{
    *most = value > *most ? value : *most;
}

static void lower_to(uint64_t *least, uint64_t value)
{
    *least = value < *least ? value : *least;
}

void turnover_end(struct turnover *turnover, uint64_t at, const struct turnover_level *now,
                  const struct turnover_level *last)
{
    if (now->bytes > last->bytes)
        raise_to(&turnover->rise.bytes, now->bytes - last->bytes);
    if (now->count > last->count)
        raise_to(&turnover->rise.count, now->count - last->count);
    turnover->steps_count += turnover->has_born && turnover->open.count;
    turnover->freed.count += turnover->open.count;
    turnover->freed.bytes += turnover->open.bytes;
    turnover->freed.early_count += turnover->open.early_count;
    turnover->open = (struct turnover_freed){0};
    turnover->has_born = false;
    if (!turnover->level.count) {
        turnover->risen_at = now->bytes > last->bytes ? at : turnover->risen_at;
        return;
    }
    raise_to(&turnover->most.bytes, now->bytes);
    raise_to(&turnover->most.count, now->count);
    lower_to(&turnover->least.bytes, now->bytes);
    lower_to(&turnover->least.count, now->count);
}

static bool stays(uint64_t level, uint64_t most, uint64_t least, uint64_t above)
{
    const uint64_t limit = level / ABOVE_LEVEL_DIVISOR;
    return most <= level + (above < limit ? above : limit) &&
           least >= level - level / BELOW_LEVEL_DIVISOR;
}

bool turnover_is_full(const struct turnover *turnover)
{
    const struct turnover_level *level = &turnover->level, *most = &turnover->most;
    const struct turnover_freed *freed = &turnover->freed;
    const uint64_t old_count = freed->count < level->count ? freed->count : level->count;
    const bool replaces = turnover->steps_count >= TURNOVER_STEPS_FEWEST &&
                          freed->bytes >= level->bytes / REPLACED_DIVISOR &&
                          freed->early_count * EARLY_DIVISOR >= old_count;
    if (!level->count || !replaces)
        return false;
    /* A limit of blocks lets the bytes differ, but not grow. */
    return stays(level->bytes, most->bytes, turnover->least.bytes, turnover->rise.bytes) ||
           (stays(level->count, most->count, turnover->least.count, turnover->rise.count) &&
            most->bytes <= level->bytes + level->bytes / BELOW_LEVEL_DIVISOR);
}
