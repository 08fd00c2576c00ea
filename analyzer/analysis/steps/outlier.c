/* SPDX-License-Identifier: MIT */
/* Finds the step that stands out; see outlier.h. */
#include "outlier.h"

#include <stdlib.h>

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/util/array.h"

/* --- a typical step --- */

ORDER_BY(compare_bytes, uint64_t, ORDER(*a, *b));

static uint64_t median(uint64_t bytes[STEP_WINDOWS], size_t count)
{
    SORT(bytes, count, compare_bytes);
    return bytes[(count - 1) / 2];
}

static void find_typical(struct outlier *outlier, const struct account_steps *own)
{
    uint64_t peaks[STEP_WINDOWS], starts[STEP_WINDOWS], rises[STEP_WINDOWS];
    outlier->has_typical = own->window_count > 0;
    if (!outlier->has_typical)
        return;
    for (size_t i = 0; i < own->window_count; i++) {
        const struct step *step = &own->windows[i].first;
        peaks[i] = step->peak_bytes;
        starts[i] = step->start_bytes;
        rises[i] = step->peak_bytes - step->start_bytes;
    }
    outlier->typical_peak_bytes = median(peaks, own->window_count);
    outlier->typical_start_bytes = median(starts, own->window_count);
    outlier->typical_rise_bytes = median(rises, own->window_count);
}

/* --- the step --- */

/* The account's last failed allocation, if it is in the step that did not end; else NULL. */
static const struct failure *find_failure(const struct step_watch *watch,
                                          const struct history *history, uint32_t account)
{
    for (size_t i = history->failure_count; i-- > 0;)
        if (history->failures[i].account == account)
            return history->failures[i].at.index >= watch->recent_ends[0] ? &history->failures[i]
                                                                          : NULL;
    return NULL;
}

static void choose_step(struct outlier *outlier, const struct step_watch *watch,
                        const struct history *history, uint32_t account,
                        const struct account_steps *own)
{
    outlier->failure = find_failure(watch, history, account);
    outlier->is_open = outlier->failure != NULL;
    if (!outlier->is_open) {
        outlier->step = own->highest;
        return;
    }
    outlier->step = step_watch_open_step(watch, own, &history->accounts[account]);
}

/* steps_count: of the trace. The first step is in no sum. */
static bool request_is_new(const struct failure *failure, const struct account_steps *own,
                           uint64_t steps_count)
{
    for (size_t i = 0; i < own->site_count; i++)
        if (site_stack(own->sites[i].site_id) == failure->event.stack_id &&
            own->sites[i].steps_count * 2 >= steps_count - 1)
            return false;
    return failure->event.stack_id != 0;
}

/* --- its call stacks --- */

/* The bytes of the site above those of a typical step. */
static double more_bytes(const struct outlier_site *site)
{
    return (double)site->bytes - site->typical_bytes;
}

ORDER_BY(compare_sites, struct outlier_site, FALLING_IN(more_bytes),
         site_id_compare(a->site_id, b->site_id));

/* Sums of the largest block of each known site. */
struct largest {
    double bytes, typical_bytes;
};

/* is_summed: the sums of the site include this step already. others_count: the number of other
 * steps, with and without the site. Bytes are averaged over all of them, because a step that runs
 * more code than others allocated more. The largest blocks are averaged over those with the site,
 * because they are compared by size. */
static void add_site(struct outlier *outlier, struct largest *largest,
                     const struct site_steps *site, struct step_site own, bool is_summed,
                     uint64_t others_count)
{
    const double others = (double)(site->steps_count - is_summed);
    const uint64_t other_bytes = site->bytes - (is_summed ? own.bytes : 0);
    const uint64_t other_largest = site->largest_bytes - (is_summed ? own.largest_bytes : 0);
    const double typical = others > 0 ? (double)other_bytes / (double)others_count : 0;
    const bool is_new = others * 2 < (double)others_count || others <= 0;
    if (!is_new) {
        largest->bytes += (double)own.largest_bytes;
        largest->typical_bytes += (double)other_largest / others;
    }
    if ((double)own.bytes > typical)
        outlier->sites[outlier->count++] = (struct outlier_site){
            .site_id = site->site_id,
            .bytes = own.bytes,
            .typical_bytes = typical,
            .is_new = is_new,
            .larger_ratio =
                is_new ? 0 : (double)own.largest_bytes / ((double)other_largest / others)};
}

static void sum_up(struct outlier *outlier, const struct largest *largest)
{
    double bytes = 0, typical = 0;
    for (size_t i = 0; i < outlier->count; i++) {
        const struct outlier_site *site = &outlier->sites[i];
        if (site->is_new) {
            outlier->new_bytes += site->bytes;
            outlier->new_has_others |= site->typical_bytes > 0;
            continue;
        }
        bytes += (double)site->bytes;
        typical += site->typical_bytes;
    }
    outlier->more_bytes = bytes - typical;
    outlier->more_ratio = typical > 0 ? bytes / typical : 0;
    outlier->larger_ratio =
        largest->typical_bytes > 0 ? largest->bytes / largest->typical_bytes : 0;
}

/* step_count: of the trace. The first step is in no average. */
static int find_sites(struct outlier *outlier, const struct account_steps *own, uint64_t step_count,
                      struct err *err)
{
    const size_t most = outlier->is_open ? own->touched_count + 1 : own->highest_site_count;
    const bool is_first = outlier->step.ordinal == 1;
    struct largest largest = {0};
    outlier->sites = array_new(most, sizeof *outlier->sites, err);
    if (!outlier->sites)
        return -1;
    if (outlier->is_open)
        for (size_t i = 0; i < own->touched_count; i++) {
            const struct site_steps *site = &own->sites[own->touched[i]];
            add_site(outlier, &largest, site,
                     (struct step_site){own->touched[i], site->now_bytes, site->now_largest_bytes},
                     false, step_count - 1);
        }
    else
        for (size_t i = 0; i < own->highest_site_count; i++) {
            const struct step_site *site = &own->highest_sites[i];
            add_site(outlier, &largest, &own->sites[site->number], *site, !is_first,
                     step_count - (is_first ? 1 : 2));
        }
    SORT(outlier->sites, outlier->count, compare_sites);
    sum_up(outlier, &largest);
    return 0;
}

/* Finds what the step held at a moment, in an array by site number. */
static int find_held(struct outlier *outlier, const struct account_steps *own,
                     const struct history *history, uint32_t account, uint64_t index,
                     struct err *err)
{
    struct live_walk walk = live_walk_begin(history, account, index);
    uint64_t *held = array_new(own->site_count, sizeof *held, err);
    const struct block *block;
    if (!held)
        return -1;
    while ((block = live_walk_next(&walk))) {
        const uint32_t number = site_numbers_get(&own->numbers, block->site_id);
        if (block->life.begin_index < outlier->step.begin_index)
            outlier->before_bytes += block->size_bytes;
        else if (number < own->site_count)
            held[number] += block->size_bytes;
    }
    for (size_t i = 0; i < outlier->count; i++) {
        struct outlier_site *site = &outlier->sites[i];
        const uint32_t number = site_numbers_get(&own->numbers, site->site_id);
        if (number < own->site_count)
            site->held_bytes = held[number];
    }
    free(held);
    return 0;
}

/* Returns the moment whose blocks tell the cause: the failure of a step that did not end, or the
 * peak of the first step. INDEX_NONE: there is none, or the history does not keep it. */
static uint64_t find_moment(const struct outlier *outlier, const struct step_watch *watch,
                            const struct account *account)
{
    if (outlier->is_open)
        return outlier->failure->at.index;
    return outlier->step.ordinal == 1 && account->peak.index < watch->first_end_index
               ? account->peak.index
               : INDEX_NONE;
}

static double began_with_more(const struct outlier *outlier, uint64_t start_bytes)
{
    return (double)start_bytes - (double)outlier->typical_start_bytes;
}

/* Bytes that larger blocks explain of a step that did not end, or of the first one. */
static double larger_bytes(const struct outlier *outlier)
{
    const double by_rise = (outlier->larger_ratio - 1) * (double)outlier->typical_rise_bytes;
    double held = 0;
    for (size_t i = 0; i < outlier->count; i++)
        held += outlier_larger_bytes(&outlier->sites[i]);
    return held > by_rise ? held : by_rise;
}

static void take_if_more(struct outlier *outlier, enum outlier_cause cause, double bytes)
{
    if (bytes <= outlier->cause_bytes || bytes * 20 < (double)outlier->typical_peak_bytes)
        return;
    outlier->cause = cause;
    outlier->cause_bytes = bytes;
}

static void find_cause_of_open(struct outlier *outlier)
{
    const uint64_t start = outlier->step.start_bytes, before = outlier->before_bytes;
    take_if_more(outlier, OUTLIER_BEGAN, began_with_more(outlier, before < start ? before : start));
    take_if_more(outlier, OUTLIER_NEW, (double)outlier->new_bytes);
    take_if_more(outlier, OUTLIER_MORE, larger_bytes(outlier));
}

static enum outlier_cause cause_of_ended(const struct outlier *outlier)
{
    const struct step *step = &outlier->step;
    const double excess = (double)step->peak_bytes - (double)outlier->typical_peak_bytes;
    const double began = began_with_more(outlier, step->start_bytes);
    if (!outlier->has_typical || excess * 10 <= (double)outlier->typical_peak_bytes)
        return OUTLIER_NONE;
    if (step->ordinal == 1)
        return larger_bytes(outlier) * 2 >= excess ? OUTLIER_MORE : OUTLIER_FIRST;
    if (began * 2 >= excess)
        return OUTLIER_BEGAN;
    if (!outlier->new_bytes && outlier->more_bytes < 1)
        return OUTLIER_KEPT;
    return (double)outlier->new_bytes >= outlier->more_bytes ? OUTLIER_NEW : OUTLIER_MORE;
}

int outlier_find(struct outlier *outlier, const struct step_watch *watch,
                 const struct history *history, uint32_t account, struct err *err)
{
    const struct account_steps *own = step_watch_of(watch, account);
    *outlier = (struct outlier){0};
    if (!own || !watch->step_count)
        return 0;
    find_typical(outlier, own);
    choose_step(outlier, watch, history, account, own);
    const uint64_t index = find_moment(outlier, watch, &history->accounts[account]);
    if (outlier->has_typical &&
        (find_sites(outlier, own, watch->step_count, err) ||
         (index != INDEX_NONE && find_held(outlier, own, history, account, index, err)))) {
        outlier_release(outlier);
        return -1;
    }
    if (outlier->is_open && outlier->has_typical) {
        outlier->request_is_new = request_is_new(outlier->failure, own, watch->step_count);
        find_cause_of_open(outlier);
    } else if (!outlier->is_open)
        outlier->cause = cause_of_ended(outlier);
    return 0;
}

void outlier_release(struct outlier *outlier)
{
    free(outlier->sites);
    *outlier = (struct outlier){0};
}
