/* SPDX-License-Identifier: MIT */
/* Chooses the points and snapshots of a run; see series.h. */
#include "series.h"

#include <stdlib.h>

#include "sites.h"
#include "analyzer/util/array.h"

/* --- moments --- */

static int add_snapshot(struct series *series, const struct moment *at, struct err *err)
{
    if (ARRAY_GROW(series->snapshots, series->snapshot_capacity, series->snapshot_count, err))
        return -1;
    if (at->index != INDEX_NONE)
        series->snapshots[series->snapshot_count++] = *at;
    return 0;
}

/* Adds the failures. If there are too many, adds only the first and the last ones. */
static int add_failures(struct series *series, const struct history *history, struct err *err)
{
    const size_t count = history->failure_count, half = SERIES_FAILURES / 2;
    for (size_t i = 0; i < count; i++)
        if ((i < half || i >= count - half) && add_snapshot(series, &history->failures[i].at, err))
            return -1;
    return 0;
}

/* Adds the moment before each end of a step, because the event that ends a step may be the first
 * of the next one. Only the second replay knows that moment's seq and time: stamp_snapshot. */
static int add_ends_of_steps(struct series *series, const struct ended_steps *ended,
                             struct err *err)
{
    for (size_t i = 0; i < ended->count; i++) {
        const struct moment at = {.index = ended->indices[i] - 1};
        if (ended->indices[i] && add_snapshot(series, &at, err))
            return -1;
    }
    return 0;
}

/* Adds evenly spaced points of a device's leading account. If there are several devices, they share
 * the number of points. */
static int add_grid(struct series *series, const struct history *history,
                    const struct timelines *timelines, uint32_t account, struct err *err)
{
    const struct timeline_cut *cuts = timelines_of(timelines, account);
    const size_t most = SERIES_GRID - timelines->ended.count;
    const size_t stride = timelines->used * history->device_count / most + 1;
    for (size_t i = 0; cuts && i < timelines->used; i += stride) {
        const struct moment at = {
            .index = cuts[i].index, .seq = cuts[i].seq, .time_ns = cuts[i].time_ns};
        if (cuts[i].is_present && add_snapshot(series, &at, err))
            return -1;
    }
    return 0;
}

ORDER_BY(compare_moments, struct moment, RISING(index));

/* Sorts the snapshots and removes duplicates. */
static void sort_snapshots(struct series *series)
{
    size_t count = 0;
    SORT(series->snapshots, series->snapshot_count, compare_moments);
    for (size_t i = 0; i < series->snapshot_count; i++)
        if (!count || series->snapshots[i].index != series->snapshots[count - 1].index)
            series->snapshots[count++] = series->snapshots[i];
    series->snapshot_count = count;
}

static int choose_snapshots(struct series *series, const struct history *history,
                            const struct timelines *timelines, struct err *err)
{
    if (add_snapshot(series, &history->last, err) || add_failures(series, history, err) ||
        add_ends_of_steps(series, &timelines->ended, err))
        return -1;
    for (size_t i = 0; i < history->account_count; i++)
        if (account_is_of_layer(&history->accounts[i]) &&
            add_snapshot(series, &history->accounts[i].peak, err))
            return -1;
    for (size_t i = 0; i < history->device_count; i++)
        if (add_grid(series, history, timelines, history->devices[i].leading, err))
            return -1;
    sort_snapshots(series);
    return 0;
}

size_t series_snapshot_from(const struct series *series, uint64_t index)
{
    return SORTED_BELOW(struct moment, index, series->snapshots, series->snapshot_count, index);
}

size_t series_snapshot(const struct series *series, uint64_t index)
{
    const size_t found = series_snapshot_from(series, index);
    return found < series->snapshot_count && series->snapshots[found].index == index ? found
                                                                                     : SIZE_MAX;
}

/* --- maps --- */

static bool is_peak(const struct history *history, uint64_t index)
{
    for (size_t i = 0; i < history->account_count; i++)
        if (account_is_of_layer(&history->accounts[i]) && history->accounts[i].peak.index == index)
            return true;
    return false;
}

static bool is_late_failure(const struct history *history, uint64_t index)
{
    const size_t count = history->failure_count,
                 first = count > SERIES_MAPPED_FAILURES ? count - SERIES_MAPPED_FAILURES : 0;
    for (size_t i = first; i < count; i++)
        if (history->failures[i].at.index == index)
            return true;
    return false;
}

static int choose_maps(struct series *series, const struct history *history, struct err *err)
{
    const size_t count = series->snapshot_count, stride = count / SERIES_MAPS + 1;
    series->maps = array_new(count, sizeof *series->maps, err);
    if (!series->maps)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const uint64_t index = series->snapshots[i].index;
        const bool is_asked_for =
            i + 1 == count || is_peak(history, index) || is_late_failure(history, index);
        if (!is_asked_for && i % stride)
            continue;
        series->maps[series->map_count++] =
            (struct map_moment){index, is_asked_for ? SERIES_BLOCKS : SERIES_BLOCKS_BETWEEN};
    }
    return 0;
}

/* --- groups --- */

static int add_group(struct series_groups *groups, struct pair_map *numbers, uint32_t account,
                     uint64_t id, struct err *err)
{
    if (groups->count == groups->most || pair_map_get(numbers, account, id) != PAIR_MAP_NONE)
        return 0;
    groups->ids[groups->count] = id;
    return pair_map_put(numbers, account, id, (uint32_t)groups->count++, err);
}

/* Adds groups for the largest sites at a moment, up to most_stacks stacks in all. */
static int add_held_sites(struct series *series, const struct categories *categories,
                          uint32_t account, uint64_t index, size_t most_stacks, struct err *err)
{
    struct account_series *own = &series->accounts[account];
    struct sites sites;
    int status = 0;
    if (index == INDEX_NONE)
        return 0;
    if (sites_at(&sites, categories, account, index, err))
        return -1;
    own->stacks.most = most_stacks;
    for (size_t i = 0; i < sites.count && !status; i++) {
        const struct site *site = &sites.items[i];
        status = add_group(&own->stacks, &series->stack_groups, account, site->site_id, err) ||
                         add_group(&own->phases, &series->phase_groups, account, site->path, err)
                     ? -1
                     : 0;
    }
    sites_release(&sites);
    return status;
}

/* Chooses the groups. Up to 7/10 of the stacks may come from the peak. With the last failure's
 * stacks there may be up to 9/10, and the end fills the rest. */
static int choose_groups_of(struct series *series, const struct categories *categories,
                            uint32_t account, struct err *err)
{
    const struct history *history = categories->history;
    const struct account *own = &history->accounts[account];
    const struct failure *last = NULL;
    for (size_t i = 0; i < history->failure_count; i++)
        if (history->failures[i].event.device == own->device)
            last = &history->failures[i];
    series->accounts[account].phases.most = SERIES_PHASES;
    return add_held_sites(series, categories, account, own->peak.index, SERIES_STACKS * 7 / 10,
                          err) ||
                   add_held_sites(series, categories, account, last ? last->at.index : INDEX_NONE,
                                  SERIES_STACKS * 9 / 10, err) ||
                   add_held_sites(series, categories, account, history->last.index, SERIES_STACKS,
                                  err)
               ? -1
               : 0;
}

static int choose_groups(struct series *series, const struct categories *categories,
                         struct err *err)
{
    const struct history *history = categories->history;
    series->account_count = history->account_count;
    series->accounts = array_new(series->account_count, sizeof *series->accounts, err);
    if (!series->accounts)
        return -1;
    for (uint32_t i = 0; i < history->account_count; i++)
        if (account_is_of_layer(&history->accounts[i]) &&
            choose_groups_of(series, categories, i, err))
            return -1;
    return 0;
}

/* --- the sums --- */

static size_t category_of(const void *self, const struct block *block)
{
    return categories_of(self, block);
}

static size_t phase_of(const void *self, const struct block *block)
{
    const struct series *series = self;
    const uint32_t group = pair_map_get(&series->phase_groups, block->account, block->path);
    return group == PAIR_MAP_NONE ? SERIES_PHASES : group;
}

static size_t stack_of(const void *self, const struct block *block)
{
    const struct series *series = self;
    const uint32_t group = pair_map_get(&series->stack_groups, block->account, block->site_id);
    return group == PAIR_MAP_NONE ? SERIES_STACKS : group;
}

static size_t line_of(const void *self, const struct block *block)
{
    const size_t group = stack_of(self, block);
    return group < SERIES_LINE_STACKS ? group : SERIES_LINE_STACKS;
}

static int ask_points(struct breakdown *breakdown, const struct timelines *timelines,
                      uint32_t account, struct err *err)
{
    size_t count;
    uint64_t *moments = timelines_moments(timelines, account, &count, err);
    return moments ? breakdown_ask(breakdown, account, moments, count, err) : -1;
}

static int ask_snapshots(struct series *series, uint32_t account, struct err *err)
{
    uint64_t *moments = array_new(series->snapshot_count, sizeof *moments, err);
    if (!moments)
        return -1;
    for (size_t i = 0; i < series->snapshot_count; i++)
        moments[i] = series->snapshots[i].index;
    return breakdown_ask(&series->by_stack, account, moments, series->snapshot_count, err);
}

static int ask_all(struct series *series, const struct history *history,
                   const struct timelines *timelines, struct err *err)
{
    struct breakdown *at_points[] = {&series->by_category, &series->by_phase, &series->by_line};
    for (uint32_t i = 0; i < history->account_count; i++) {
        if (!account_is_of_layer(&history->accounts[i]))
            continue;
        for (size_t k = 0; k < sizeof at_points / sizeof *at_points; k++)
            if (ask_points(at_points[k], timelines, i, err))
                return -1;
        if (ask_snapshots(series, i, err))
            return -1;
    }
    return 0;
}

/* Sets a snapshot's seq and time. They are unknown until now, because the highest moment of a cut
 * may lie before the first event of the cut. */
static int stamp_snapshot(void *self, const struct cursor *at)
{
    struct series *series = self;
    if (series->stamped < series->snapshot_count &&
        at->index == series->snapshots[series->stamped].index)
        series->snapshots[series->stamped++] = cursor_moment(at);
    return 0;
}

int series_begin(struct series *series, const struct categories *categories,
                 const struct timelines *timelines, struct observer observers[SERIES_OBSERVERS],
                 struct err *err)
{
    const struct history *history = categories->history;
    const size_t count = history->account_count;
    const struct breakdown_groups by_category = {CATEGORY_COUNT, category_of, categories};
    const struct breakdown_groups by_phase = {SERIES_PHASES + 1, phase_of, series};
    const struct breakdown_groups by_line = {SERIES_LINE_STACKS + 1, line_of, series};
    const struct breakdown_groups by_stack = {SERIES_STACKS + 1, stack_of, series};
    if (choose_snapshots(series, history, timelines, err) || choose_maps(series, history, err) ||
        choose_groups(series, categories, err) ||
        breakdown_init(&series->by_category, &by_category, count, err) ||
        breakdown_init(&series->by_phase, &by_phase, count, err) ||
        breakdown_init(&series->by_line, &by_line, count, err) ||
        breakdown_init(&series->by_stack, &by_stack, count, err) ||
        ask_all(series, history, timelines, err))
        return -1;
    series->map = (struct memory_map){.moments = series->maps, .moment_count = series->map_count};
    observers[0] = breakdown_observer(&series->by_category);
    observers[1] = breakdown_observer(&series->by_phase);
    observers[2] = breakdown_observer(&series->by_line);
    observers[3] = breakdown_observer(&series->by_stack);
    observers[4] = memory_map_observer(&series->map);
    observers[5] = (struct observer){.self = series, .on_event = stamp_snapshot};
    return 0;
}

void series_release(struct series *series)
{
    breakdown_release(&series->by_category);
    breakdown_release(&series->by_phase);
    breakdown_release(&series->by_line);
    breakdown_release(&series->by_stack);
    memory_map_release(&series->map);
    pair_map_release(&series->phase_groups);
    pair_map_release(&series->stack_groups);
    free(series->accounts);
    free(series->maps);
    free(series->snapshots);
    *series = (struct series){0};
}
