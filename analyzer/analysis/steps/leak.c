/* SPDX-License-Identifier: MIT */
/* Decides whether an account leaks; see leak.h. */
#include "leak.h"

#include "cache_names.h"

static const double FLOOR_STEPS = 1e7;

const char *leak_verdict_name(enum leak_verdict verdict)
{
    static const char *const names[] = {
        [LEAK_UNKNOWN] = "cannot tell",
        [LEAK_NONE] = "no leak",
        [LEAK_GROWS] = "grows",
        [LEAK_FOUND] = "leak",
    };

    return names[verdict];
}

static void add_enlarged(struct leak *leak, const struct growing *site)
{
    const double copied_slope = site->line.slope / (double)site->enlarged_count;

    leak->enlarged_slope += site->line.slope;
    leak->enlarged_low += site->line.low;
    leak->enlarged_high += site->line.high;
    if (copied_slope > leak->copied_slope)
        leak->copied_slope = copied_slope;
}

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
    if (site->enlarged_count) {
        add_enlarged(leak, site);
        return 0;
    }
    leak->slope += site->line.slope;
    leak->low += site->line.low;
    leak->high += site->line.high;
    leak->waiting_slope += site->waits ? site->line.slope : 0;
    leak->keeps_graph |= site->is_of_graph;
    leak->count++;
    return 0;
}

/*
 * Takes the growth of the account as a whole if no call stack shows any growth, less the growth of
 * caches and of enlarged blocks. It does not do this if a pool takes this account's memory
 * (left_out), because a pool requests its segments from different lines each time.
 */
static void take_total(struct leak *leak, const struct growth_line *total)
{
    const double known = leak->cache_slope + leak->enlarged_slope;

    if (total->low <= known)
        return;
    leak->slope = total->slope - known;
    leak->low = total->low - known;
    leak->high = total->high - known;
}

/* False if the account as a whole rises less than half as fast as the stacks that grow. In this
 * case other stacks free as much as these keep. */
static bool matters(const struct leak *leak, const struct growth *growth, double slope)
{
    return slope > leak->floor && (growth->total.high - leak->left_out_slope) * 2 >= slope;
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
    if (!leak->count && !left_out && growth->total.verdict == GROWTH_GROWS)
        take_total(leak, &growth->total);
    leak->waits = matters(leak, growth, leak->slope) && leak->waiting_slope * 2 >= leak->slope;
    const bool leaks = matters(leak, growth, leak->slope) && !leak->waits;
    const bool enlarges = matters(leak, growth, leak->enlarged_slope);
    if (leaks || enlarges)
        leak->verdict = leaks ? LEAK_FOUND : LEAK_GROWS;
    else if (leak->waits)
        leak->verdict = LEAK_UNKNOWN;
    else if (growth->total.verdict != GROWTH_UNKNOWN || growth->total.high <= leak->floor)
        leak->verdict = LEAK_NONE;
    leak->peak_slope =
        (leaks ? leak->slope : 0) + (enlarges ? leak->enlarged_slope + leak->copied_slope : 0);
    leak->check_slope =
        (leaks || leak->slope <= leak->floor ? leak->slope : 0) +
        (enlarges || leak->enlarged_slope <= leak->floor ? leak->enlarged_slope : 0);
    return 0;
}
