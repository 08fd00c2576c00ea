/* SPDX-License-Identifier: MIT */
/* Whether it leaks; see leak.h. */
#include "leak.h"

#include "cache_names.h"

static const double FLOOR_STEPS = 1e7;

static int add_growing(struct leak *leak, const struct growing *site, struct symbols *symbols,
                       struct err *err)
{
    const char *cache;

    if (cache_name_find(&cache, symbols, site->stack_id, err))
        return -1;
    if (cache) {
        leak->cache = leak->cache ? leak->cache : cache;
        leak->cache_slope += site->line.slope;
        return 0;
    }
    leak->slope += site->line.slope;
    leak->low += site->line.low;
    leak->high += site->line.high;
    leak->count++;
    return 0;
}

/* Growth that no call stack shows is the stock's own, less what caches took. */
static void take_total(struct leak *leak, const struct growth_line *total)
{
    const double known = leak->cache_slope + leak->left_out_slope;

    if (total->low <= known)
        return;
    leak->slope = total->slope - known;
    leak->low = total->low - known;
    leak->high = total->high - known;
}

int leak_find(struct leak *leak, const struct growth *growth, struct symbols *symbols,
              const bool *left_out, uint64_t room_bytes, struct err *err)
{
    *leak = (struct leak){.verdict = LEAK_UNKNOWN, .floor = (double)room_bytes / FLOOR_STEPS};
    if (!growth->total.has_slope)
        return 0;
    for (size_t i = 0; i < growth->count; i++)
        if (left_out && left_out[growth->items[i].stack_id])
            leak->left_out_slope += growth->items[i].line.slope;
        else if (add_growing(leak, &growth->items[i], symbols, err))
            return -1;
    if (!leak->count && growth->total.verdict == GROWTH_GROWS)
        take_total(leak, &growth->total);
    /* What one call stack keeps another may give back: then the whole cannot rise as fast. */
    if (leak->slope > leak->floor &&
        (growth->total.high - leak->left_out_slope) * 2 >= leak->slope) {
        leak->verdict = LEAK_FOUND;
        return 0;
    }
    if (growth->total.verdict != GROWTH_UNKNOWN || growth->total.high <= leak->floor)
        leak->verdict = LEAK_NONE;
    return 0;
}
