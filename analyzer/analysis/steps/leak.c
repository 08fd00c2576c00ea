/* SPDX-License-Identifier: MIT */
/* Decides whether an account leaks; see leak.h. */
#include "leak.h"

#include "cache_names.h"

#include "analyzer/thresholds/thresholds.h"

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

/* A saw counts if enough steps rise, and if its sweeps are visible at the peak. If they come at a
 * regular pace, they are no growth. */
static void add_saw(struct leak *leak, const struct growing *site, uint64_t peak_bytes)
{
    if (site->sweeps->most_bytes < peak_bytes / VISIBLE_DIVISOR ||
        site->rises->count < RISING_STEPS_FEWEST)
        return;
    if (site->pace)
        leak->flushed_slope += site->line.slope;
    else
        leak->saw_slope += site->line.slope;
}

/* A request makes its blocks in each step, and a few may be longer by chance. A buffer that is kept
 * for several steps is larger because it needed room. */
static bool goes_on(const struct growing *site, const struct growth *growth)
{
    const struct site_blocks *blocks = site->blocks;
    return blocks->sizes.falls_count || rising_goes_on(&blocks->sizes) ||
           blocks->births_count * 2 <= site->enlarged_count * growth->ends_count;
}

static void add_enlarged(struct leak *leak, const struct growing *site, const struct growth *growth)
{
    const double copied_slope = site->line.slope / (double)site->enlarged_count;
    leak->enlarges_on |= goes_on(site, growth);
    leak->enlarged_slope += site->line.slope;
    leak->enlarged_low += site->line.low;
    leak->enlarged_high += site->line.high;
    if (copied_slope > leak->copied_slope)
        leak->copied_slope = copied_slope;
}

static int add_growing(struct leak *leak, const struct growing *site, const struct growth *growth,
                       struct symbols *symbols, const struct leak_room *room, struct err *err)
{
    const char *cache;
    if (cache_name_find(&cache, symbols, site_stack(site->site_id), err))
        return -1;
    if (cache) {
        leak->cache = leak->cache ? leak->cache : cache;
        leak->cache_slope += site->line.slope;
        return 0;
    }
    if (site->is_saw) {
        add_saw(leak, site, room->peak_bytes);
        return 0;
    }
    if (site->enlarged_count) {
        add_enlarged(leak, site, growth);
        return 0;
    }
    if (site->rises->count > leak->rises_count)
        leak->rises_count = site->rises->count;
    leak->slope += site->line.slope;
    leak->low += site->line.low;
    leak->high += site->line.high;
    leak->waiting_slope += site->waits ? site->line.slope : 0;
    leak->larger_slope += rising_never_falls(&site->blocks->sizes) ? site->line.slope : 0;
    leak->keeps_graph |= site->is_of_graph;
    leak->count++;
    return 0;
}

/*
 * Takes the growth of the account as a whole if no call stack shows any growth, less the growth of
 * caches, of enlarged blocks and of rests. It does not do this if a pool takes this account's
 * memory (left_out), because a pool requests its segments from different lines each time.
 */
static void take_total(struct leak *leak, const struct growth *growth)
{
    const struct growth_line *total = &growth->total;
    const double known = leak->cache_slope + leak->enlarged_slope + leak->saw_slope +
                         leak->flushed_slope + growth->filled.slope + growth->rest_slope;
    if (total->low <= known)
        return;
    leak->slope = total->slope - known;
    leak->low = total->low - known;
    leak->high = total->high - known;
    leak->rises_count = growth->total_rises;
}

/* False if the account as a whole rises less than half as fast as the stacks that grow. In this
 * case other stacks free as much as these keep. */
static bool matters(const struct leak *leak, const struct growth *growth, double slope)
{
    return slope > leak->floor && (growth->total.high - leak->left_out_slope) * 2 >= slope;
}

/* False if the slope is smaller than its error, or too few steps rise. */
static bool is_sure(const struct leak *leak, const struct growth *growth)
{
    return leak->high - leak->low <= 2 * leak->slope && leak->rises_count >= RISING_STEPS_FEWEST &&
           (growth->ends_count >= FEW_STEPS || leak->rises_count >= growth->total_intervals);
}

static enum leak_verdict judge(const struct leak *leak, const struct growth *growth, bool leaks,
                               bool enlarges)
{
    if (leaks)
        return LEAK_FOUND;
    if (enlarges || (leak->saw_slope > leak->floor && growth->total.verdict != GROWTH_FLAT))
        return LEAK_GROWS;
    if (leak->waits || leak->is_unsure)
        return LEAK_UNKNOWN;
    return growth->total.verdict != GROWTH_UNKNOWN || growth->total.high <= leak->floor ||
                   leak->flushed_slope > 0 || growth->filled.slope > 0
               ? LEAK_NONE
               : LEAK_UNKNOWN;
}

int leak_find(struct leak *leak, const struct growth *growth, struct symbols *symbols,
              const struct leak_room *room, struct err *err)
{
    const bool *left_out = room->left_out;
    const uint64_t visible_bytes = room->peak_bytes / VISIBLE_DIVISOR;
    const bool grows = (growth->kept.get_larger && growth->kept.bytes > visible_bytes) ||
                       growth->lost.bytes > visible_bytes;
    *leak = (struct leak){.verdict = grows ? LEAK_GROWS : LEAK_UNKNOWN,
                          .floor = (double)room->bytes / FLOOR_STEPS};
    if (!growth->total.has_slope)
        return 0;
    for (size_t i = 0; i < growth->count; i++)
        if (left_out && left_out[site_stack(growth->items[i].site_id)])
            leak->left_out_slope += growth->items[i].line.slope;
        else if (add_growing(leak, &growth->items[i], growth, symbols, room, err))
            return -1;
    if (!leak->count && !left_out && growth->total.verdict == GROWTH_GROWS)
        take_total(leak, growth);
    const bool rises = matters(leak, growth, leak->slope);
    leak->waits = rises && leak->waiting_slope * 2 >= leak->slope;
    const bool leaks = rises && !leak->waits && is_sure(leak, growth);
    const bool replaces = matters(leak, growth, leak->enlarged_slope);
    const bool enlarges = replaces && leak->enlarges_on;
    leak->is_unsure = (rises && !leak->waits && !leaks) || (replaces && !enlarges);
    leak->verdict = judge(leak, growth, leaks, enlarges);
    const double slope = leaks ? leak->slope : leak->enlarged_slope + leak->saw_slope;
    leak->is_small =
        slope * (double)growth->ends_count < (double)(room->peak_bytes / VISIBLE_DIVISOR);
    leak->peak_slope =
        (leaks ? leak->slope : 0) + (enlarges ? leak->enlarged_slope + leak->copied_slope : 0);
    leak->check_slope =
        (leaks || leak->slope <= leak->floor ? leak->slope : 0) + leak->saw_slope +
        (enlarges || leak->enlarged_slope <= leak->floor ? leak->enlarged_slope : 0);
    return 0;
}
