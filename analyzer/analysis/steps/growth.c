/* SPDX-License-Identifier: MIT */
/* Growth per step; see growth.h. */
#include "growth.h"

#include <stdlib.h>

#include "analyzer/thresholds/thresholds.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"
#include "site_period.h"

/* --- the verdict on one line --- */

/* Leaves out the last window until it is complete. */
static size_t whole_windows(const struct trend *trend, uint64_t ends_count)
{
    return trend->window ? (size_t)(ends_count / trend->window) : 0;
}

/* First window of the last third. */
static size_t late_begin(size_t windows)
{
    return windows - 1 - (windows + 1) / 3;
}

static uint64_t highest(const struct trend *trend, size_t first, size_t last)
{
    uint64_t most = 0;
    for (size_t i = first; i < last; i++)
        if (trend->samples[i] > most)
            most = trend->samples[i];
    return most;
}

static uint64_t lowest(const struct trend *trend, size_t first, size_t last)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = first; i < last; i++)
        if (trend->samples[i] < least)
            least = trend->samples[i];
    return least;
}

static double rise_per_end(const struct trend *trend, size_t first, size_t last)
{
    return ((double)trend->samples[last] - (double)trend->samples[first]) /
           ((double)(last - first) * (double)trend->window);
}

/* True if the last third rises. The last third of all that grows rises, and this test is cheaper
 * than computing the line. */
static bool rises_late(const struct trend *trend, size_t windows)
{
    return trend->samples[windows - 1] > trend->samples[late_begin(windows)];
}

/* is_steady: the bytes never fell from end to end, and rose at least half of the time. */
static enum growth_verdict judge_line(const struct trend *trend, size_t windows,
                                      const struct trend_line *line, bool is_steady)
{
    const size_t last = windows - 1;
    const size_t third = late_begin(windows);
    const size_t half = (windows + 1) / 2;
    const bool rises = line->slope > 0 && (line->low > 0 || is_steady);
    if (rises && rise_per_end(trend, third, last) * 4 >= line->slope)
        return lowest(trend, third, windows) > lowest(trend, 0, windows - third) ? GROWTH_GROWS
                                                                                 : GROWTH_UNKNOWN;
    if (line->high <= 0 || highest(trend, half, windows) <= highest(trend, 0, half) ||
        (line->slope > 0 && trend_fit(trend, third, windows).high * 4 < line->slope))
        return GROWTH_FLAT;
    return GROWTH_UNKNOWN;
}

static struct growth_line judge(const struct trend *trend, size_t windows, bool is_steady)
{
    const struct trend_line line = trend_fit(trend, 0, windows);
    return (struct growth_line){.verdict = judge_line(trend, windows, &line, is_steady),
                                .has_slope = true,
                                .slope = line.slope,
                                .low = line.low,
                                .high = line.high};
}

/* How much larger the rests (rests.h) are at the last end than at the first. */
static uint64_t risen_rests(const struct site_ends *site)
{
    return site->last_rest_bytes > site->first_rest_bytes
               ? site->last_rest_bytes - site->first_rest_bytes
               : 0;
}

/* True if at least half of the growth is that of rests. */
static bool is_of_rests(const struct site_ends *site)
{
    const uint64_t risen_bytes = risen_rests(site);
    return risen_bytes && risen_bytes * 2 >= site->last_bytes - site->first_bytes;
}

/* The number of blocks of a site that grows by enlarging them; 0: it keeps more and more blocks. */
static uint64_t find_enlarged(const struct site_ends *site, const struct trend *counts,
                              size_t windows)
{
    const uint64_t count = counts->samples[late_begin(windows)];
    for (size_t i = late_begin(windows) + 1; i < windows; i++)
        if (counts->samples[i] != count)
            return 0;
    return site->was_resized ? 0 : count;
}

/* Takes the growth of enlarged blocks from their sizes, if each step replaces each of them once.
 * The sizes are exact, while the live bytes depend on whether old and new block live at once. */
static void measure_enlarged(struct growing *item, const struct growth *growth)
{
    const struct site_blocks *blocks = item->blocks;
    const uint64_t count = item->enlarged_count, births = blocks->births_count;
    const uint64_t expected = count * growth->ends_count, slack = 2 * count;
    if (!count || blocks->sizes.falls_count || births < FEWEST_ENDS * count ||
        births + slack < expected || births > expected + slack)
        return;
    const double per_block = (double)(blocks->sizes.last_bytes - blocks->sizes.first_bytes) /
                             (double)(births / count - 1);
    item->enlarged_by_bytes = (uint64_t)(per_block + 0.5);
    item->line.slope = item->line.low = item->line.high = per_block * (double)count;
}

/* Returns true if the bytes rise and are swept (sweeps.h), and do not fall oftener in another way.
 * Then the growth is that of the rises. */
static bool find_saw(struct growing *item, const struct site_ends *site)
{
    const struct sweeps *sweeps = item->sweeps;
    if (!sweeps->at.count || sweeps->at.count * 2 < site->falls_count ||
        sweeps_are_over(sweeps, site->ends_count))
        return false;
    const uint64_t usual = occurrences_usual(&site->rises);
    const double slope =
        usual ? item->rise_bytes / (double)usual
              : (double)site->risen_bytes / (double)(site->ends_count - 1 - site->falls_count);
    item->is_saw = true;
    item->pace = sweeps_pace(sweeps, 1 + WARM_UP_ENDS, site->ends_count);
    item->line = (struct growth_line){GROWTH_GROWS, true, slope, slope, slope};
    return true;
}

/* --- what grows --- */

ORDER_BY(compare_growing, struct growing, FALLING(line.slope),
         site_id_compare(a->site_id, b->site_id));

ORDER_BY(compare_churning, struct churning, FALLING(bytes),
         site_id_compare(a->site_id, b->site_id));

static int keep(struct growth *growth, size_t *capacity, const struct growing *item,
                struct err *err)
{
    if (ARRAY_GROW(growth->items, *capacity, growth->count, err))
        return -1;
    growth->items[growth->count++] = *item;
    return 0;
}

/* --- steps that ended --- */

/* True if most blocks of the stack may be kept for a backward of the forward that is going on. */
static bool may_wait(const struct step_period *period, const struct site_ends *site)
{
    return period->roles && !(step_period_role(period, site_stack(site->site_id)) & ROUND_FED) &&
           site->blocks.graph_births_count * 2 > site->blocks.births_count;
}

/* True if the site filled a cache after the first third of the steps. A site that did so earlier,
 * or that held half of it before, is one that replaces its blocks in each step. */
static bool is_filled(const struct site_ends *site)
{
    const struct turnover *turnover = &site->turnover;
    return turnover_is_full(turnover) && turnover->risen_at * 3 >= site->ends_count &&
           site->first_bytes <= turnover->level.bytes / 2;
}

static void add_filled(struct filled *filled, const struct account_ends *own,
                       const struct site_ends *site, const struct growth_line *line)
{
    const uint64_t bytes = site->turnover.most.bytes;
    filled->slope += line->verdict == GROWTH_GROWS ? line->slope : 0;
    if (bytes <= filled->bytes || bytes < own->most_bytes / KEPT_DIVISOR)
        return;
    filled->site_id = site->site_id;
    filled->bytes = bytes;
    filled->since_step = growth_step_of_end(site->turnover.risen_at);
}

static int add_site(struct growth *growth, size_t *capacity, const struct account_ends *own,
                    const struct site_ends *site, size_t windows, struct err *err)
{
    const uint64_t intervals = site->ends_count - 1;
    const bool is_steady = !site->falls_count && site->rises.count * 2 >= intervals;
    const bool fills = is_filled(site);
    struct growing item = {.site_id = site->site_id,
                           .blocks = &site->blocks,
                           .is_of_graph = site->is_of_graph,
                           .first_bytes = site->first_bytes,
                           .last_bytes = site->last_bytes,
                           .end_bytes = site->live_bytes,
                           .rises = &site->rises,
                           .sweeps = &site->sweeps};
    if (site->changes_count < 2)
        return 0;
    if (site->rises.count)
        item.rise_bytes = (double)site->risen_bytes / (double)site->rises.count;
    item.since_step = site->first_bytes ? 1 : site->changed_at + 1 + WARM_UP_ENDS;
    if (find_saw(&item, site))
        return keep(growth, capacity, &item, err);
    if (site->last_bytes > site->first_bytes && rises_late(&site->trend, windows) &&
        (is_steady || trend_rises(&site->trend, 0, windows)))
        item.line = judge(&site->trend, windows, is_steady);
    if (fills)
        add_filled(&growth->filled, own, site, &item.line);
    if (item.line.verdict != GROWTH_GROWS || fills || is_of_rests(site))
        return 0;
    item.enlarged_count = find_enlarged(site, &site->counts, windows);
    measure_enlarged(&item, growth);
    item.waits = may_wait(growth->period, site);
    return keep(growth, capacity, &item, err);
}

static int find_churn(struct growth *growth, const struct account_ends *own, struct err *err)
{
    growth->churn = array_new(own->count, sizeof *growth->churn, err);
    if (!growth->churn)
        return -1;
    for (size_t i = 0; i < own->count; i++)
        if (own->sites[i].churn_bytes)
            growth->churn[growth->churn_count++] =
                (struct churning){.site_id = own->sites[i].site_id,
                                  .bytes = own->sites[i].churn_bytes,
                                  .count = own->sites[i].churn_count};
    SORT(growth->churn, growth->churn_count, compare_churning);
    if (growth->churn_count > GROWTH_CHURN_MAX)
        growth->churn_count = GROWTH_CHURN_MAX;
    return 0;
}

/* The step from which on the total stays at its highest value, if it rose before; else 0. */
static uint64_t find_flat(const struct trend *trend, size_t windows)
{
    const uint64_t most = highest(trend, 0, windows);
    size_t at = windows;
    while (at && most - trend->samples[at - 1] <= most / VISIBLE_DIVISOR)
        at--;
    if (at > late_begin(windows) || most - trend->samples[0] <= most / VISIBLE_DIVISOR)
        return 0;
    return at * trend->window + 1 + WARM_UP_ENDS;
}

/* Finds the site whose frees end the rounds. In a framework's pool, it may be any layer. */
static void find_dropped(struct growth *growth, const struct account_ends *own)
{
    const uint64_t site_id = growth->period->site_id;
    const uint32_t number = site_numbers_get(&own->numbers, site_id);
    if (own->is_pool || number == PAIR_MAP_NONE ||
        !(step_period_role(growth->period, site_stack(site_id)) & ROUND_DROPS))
        return;
    growth->dropped_site_id = site_id;
    growth->dropped_count = own->sites[number].blocks.most_live_count;
}

/* True if the site made its first block since the last step began, and freed less than a tenth
 * while the program still allocated. (A phase may end after the next birth, so the end of the last
 * step comes too late.) Blocks that autograd keeps may wait for a backward. */
static bool is_kept_after(const struct account_ends *own, const struct site_ends *site,
                          uint64_t since_index)
{
    const struct site_blocks *blocks = &site->blocks;
    return site->site_id && !site->was_resized && blocks->most_live_count >= KEPT_BLOCKS_FEWEST &&
           blocks->begin_index >= since_index &&
           blocks->born_bytes - blocks->most_live_bytes <= blocks->born_bytes / 10 &&
           (!blocks->fell_index || blocks->fell_index > own->last_birth_index) &&
           blocks->graph_births_count * 2 <= blocks->births_count;
}

/* True if the stack makes a model or moves it to the card. A copy is not meant: a list may collect
 * copies. */
static bool makes_model(const struct trace *trace, uint32_t stack_id)
{
    while ((stack_id = trace_python_frame(trace, stack_id))) {
        const struct trace_frame *frame = &trace->frames[stack_id];
        if (frame->address < trace->location_limit &&
            torch_is(trace->locations[frame->address].means, TORCH_model_making))
            return true;
        stack_id = frame->parent_id;
    }
    return false;
}

/* Orders the sites by what they held. */
static void add_after(struct kept *after, const struct site_ends *site,
                      const struct site_ends *most[2])
{
    const uint64_t bytes = site->blocks.most_live_bytes;
    if (!most[0] || bytes > most[0]->blocks.most_live_bytes) {
        most[1] = most[0];
        most[0] = site;
    } else if (!most[1] || bytes > most[1]->blocks.most_live_bytes)
        most[1] = site;
    after->bytes += bytes;
}

/* The ends of steps say nothing of memory that is kept later, for example by an evaluation. The
 * weights of a model do not count, because a program that makes another model is going to use
 * it. */
static void find_after(struct growth *growth, const struct account_ends *own,
                       const struct trace *trace, uint64_t since_index)
{
    const struct site_ends *most[2] = {NULL, NULL};
    struct kept after = {0};
    uint64_t most_count = 0, least_count = UINT64_MAX;
    for (size_t i = 0; i < own->count; i++) {
        const uint64_t count = own->sites[i].blocks.most_live_count;
        if (!is_kept_after(own, &own->sites[i], since_index) ||
            makes_model(trace, site_stack(own->sites[i].site_id)))
            continue;
        add_after(&after, &own->sites[i], most);
        most_count = count > most_count ? count : most_count;
        least_count = count < least_count ? count : least_count;
    }
    if (!most[0] || after.bytes < own->most_bytes / KEPT_DIVISOR)
        return;
    for (size_t i = 0; i < 2 && most[i]; i++)
        after.site_ids[after.count++] = most[i]->site_id;
    after.blocks_count = most_count - least_count <= BLOCKS_IN_USE ? least_count : 0;
    growth->after = after;
}

static int find_at_ends(struct growth *growth, const struct account_ends *own,
                        const struct growth_watch *watch, struct err *err)
{
    const uint64_t since_index = watch->step_begins[(watch->step_number - 1) % STEP_BEGINS];
    const struct site_ends *total = &own->total;
    const size_t windows = whole_windows(&total->trend, total->ends_count);
    size_t capacity = 0;
    growth->counted_steps = growth->total_intervals = total->ends_count - 1;
    growth->total_rises = total->rises.count;
    growth->total = judge(&total->trend, windows,
                          !total->falls_count && total->rises.count * 2 >= growth->counted_steps);
    growth->rest_slope = (double)risen_rests(total) / (double)growth->counted_steps;
    if (growth->total.verdict == GROWTH_GROWS && is_of_rests(total))
        growth->total.verdict = GROWTH_FLAT;
    if (growth->total.verdict == GROWTH_FLAT)
        growth->flat_since = find_flat(&total->trend, windows);
    find_dropped(growth, own);
    find_after(growth, own, watch->trace, since_index);
    for (size_t i = 0; i < own->count; i++)
        if (add_site(growth, &capacity, own, &own->sites[i], windows, err))
            return -1;
    return find_churn(growth, own, err);
}

/* --- rounds of a program that marks no steps --- */

int growth_find_period(struct step_period *period, const struct growth_watch *watch,
                       uint32_t account, struct err *err)
{
    const bool is_together = account == HISTORY_NONE;
    *period = (struct step_period){0};
    if (watch->has_ended || step_ends_begun(watch->ends) < STEP_ENDS ||
        (is_together ? watch->has_pool : account >= watch->account_count))
        return 0;
    const struct phase_period *phase = phase_periods_find(&watch->phases, watch->tick_count);
    if (!phase &&
        site_period_find(period, is_together ? &watch->together : &watch->accounts[account],
                         watch->trace, err))
        return -1;
    if (phase)
        period->phase = *phase;
    period->account = account;
    period->is_last_whole &= !is_together; /* earlier births were not counted */
    return 0;
}

/* --- without steps --- */

/* True if the site keeps all of its blocks. In a framework's pool, only blocks that get larger
 * count, because the weights of a model are kept too. */
static bool is_kept(const struct account_ends *own, const struct site_ends *site, bool get_larger)
{
    const struct site_blocks *blocks = &site->blocks;
    if (!site->site_id || site->was_resized)
        return false;
    return get_larger ? rising_is_kept(&blocks->sizes, blocks->births_count, blocks->frees_count)
                      : !own->is_pool && !blocks->frees_count &&
                            blocks->births_count >= KEPT_BLOCKS_FEWEST;
}

/* Takes the two sites that hold most. They must hold a tenth of what is live at the end. */
static void find_kept(struct growth *growth, const struct account_ends *own, bool get_larger)
{
    const struct site_ends *most[2] = {NULL, NULL};
    struct kept *kept = &growth->kept;
    for (size_t i = 0; i < own->count; i++) {
        const struct site_ends *site = &own->sites[i];
        if (!is_kept(own, site, get_larger))
            continue;
        if (!most[0] || site->live_bytes > most[0]->live_bytes) {
            most[1] = most[0];
            most[0] = site;
        } else if (!most[1] || site->live_bytes > most[1]->live_bytes)
            most[1] = site;
    }
    for (size_t i = 0; i < 2 && most[i] && most[i]->live_bytes >= own->most_bytes / KEPT_DIVISOR;
         i++) {
        kept->get_larger = get_larger;
        kept->site_ids[kept->count++] = most[i]->site_id;
        kept->blocks_count += most[i]->live_count;
        kept->bytes += most[i]->live_bytes;
    }
}

/* Finds the site that lost most, now and then. In a framework's pool, blocks of one line may be
 * kept on purpose, and the pool keeps the driver's. */
static void find_lost(struct growth *growth, const struct growth_watch *watch,
                      const struct account_ends *own)
{
    struct lost *lost = &growth->lost;
    for (size_t i = 0; i < own->count && (!watch->has_pool || own->is_beside); i++) {
        const struct site_ends *site = &own->sites[i];
        if (site->site_id && !site->was_resized && site->live_count >= KEPT_BLOCKS_FEWEST &&
            site->blocks.frees_count >= KEPT_BLOCKS_FEWEST && ebb_rises(&site->ebb) &&
            site->live_bytes > lost->bytes && site->live_bytes >= own->most_bytes / KEPT_DIVISOR)
            *lost = (struct lost){site->site_id, site->live_count, site->live_bytes,
                                  site->blocks.frees_count};
    }
}

/* --- the entry --- */

/* Rounds of all accounts together judge only memory that is not the card's. A program that loads
 * weights through a pinned buffer has such rounds, and keeps the weights. */
static bool judges(const struct growth_watch *watch, uint32_t account)
{
    const struct step_period *period = &watch->ends->period;
    return !period->roles || period->account != HISTORY_NONE ||
           (account < watch->account_count && watch->accounts[account].is_beside);
}

static int find(struct growth *growth, const struct growth_watch *watch, uint32_t account,
                struct err *err)
{
    if (growth->ends < STEP_ENDS)
        growth->ends_count = watch->has_ended ? watch->ends->counts[growth->ends] : 1;
    if (account >= watch->account_count || !watch->accounts[account].is_used)
        return 0;
    const struct account_ends *own = &watch->accounts[account];
    if (growth_watch_has_steps(watch) && judges(watch, account))
        return find_at_ends(growth, own, watch, err);
    if (growth->ends == STEP_ENDS)
        find_kept(growth, own, true);
    if (growth->ends == STEP_ENDS)
        find_lost(growth, watch, own);
    if (growth->ends == STEP_ENDS && !growth->kept.count)
        find_kept(growth, own, false);
    return 0;
}

int growth_find(struct growth *growth, const struct growth_watch *watch, uint32_t account,
                struct err *err)
{
    *growth = (struct growth){.ends = !judges(watch, account) ? STEP_ENDS
                                      : watch->has_ended      ? step_ends_kind(watch->ends)
                                                              : step_ends_begun(watch->ends),
                              .needed_steps = WARM_UP_ENDS + FEWEST_ENDS + watch->ends->last.is_cut,
                              .period = &watch->ends->period};
    const int status = find(growth, watch, account, err);
    if (status)
        growth_release(growth);
    else
        SORT(growth->items, growth->count, compare_growing);
    return status;
}

void growth_release(struct growth *growth)
{
    free(growth->items);
    free(growth->churn);
    *growth = (struct growth){0};
}
