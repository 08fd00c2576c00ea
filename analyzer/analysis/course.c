/* SPDX-License-Identifier: MIT */
/* Points and snapshots of a run; see course.h. */
#include "course.h"

#include <stdlib.h>

#include "sites.h"
#include "analyzer/util/array.h"

/* --- which moments --- */

static int add_snapshot(struct course *course, const struct moment *at, struct err *err)
{
    struct moment *grown = array_grow(course->snapshots, &course->snapshot_capacity,
                                      course->snapshot_count, sizeof *grown, err);

    if (!grown)
        return -1;
    course->snapshots = grown;
    if (at->index != INDEX_NONE)
        grown[course->snapshot_count++] = *at;
    return 0;
}

/* Of many failures the first and the last. */
static int add_failures(struct course *course, const struct history *history, struct err *err)
{
    const size_t count = history->failure_count, half = COURSE_FAILURES / 2;

    for (size_t i = 0; i < count; i++)
        if ((i < half || i >= count - half) && add_snapshot(course, &history->failures[i].at, err))
            return -1;
    return 0;
}

/* The moment before each end: the event that ends a step may be the first of the next one. Which one the moment is shows
 * only in the second replay: stamp_snapshot. */
static int add_ends_of_steps(struct course *course, const struct ended_steps *ended,
                             struct err *err)
{
    for (size_t i = 0; i < ended->count; i++) {
        const struct moment at = {.index = ended->indices[i] - 1};
        if (ended->indices[i] && add_snapshot(course, &at, err))
            return -1;
    }
    return 0;
}

/* Points of a device's leading account, as far apart as suits so many devices. */
static int add_grid(struct course *course, const struct history *history,
                    const struct timelines *timelines, uint32_t account, struct err *err)
{
    const struct timeline_cut *cuts = timelines_of(timelines, account);
    const size_t most = COURSE_GRID - timelines->ended.count;
    const size_t stride = timelines->used * history->device_count / most + 1;

    for (size_t i = 0; cuts && i < timelines->used; i += stride) {
        const struct moment at = {
            .index = cuts[i].index, .seq = cuts[i].seq, .time_ns = cuts[i].time_ns};
        if (cuts[i].is_present && add_snapshot(course, &at, err))
            return -1;
    }
    return 0;
}

static int compare_moments(const void *one, const void *other)
{
    const uint64_t a = ((const struct moment *)one)->index,
                   b = ((const struct moment *)other)->index;

    return a < b ? -1 : a > b;
}

/* In order, each once. */
static void sort_snapshots(struct course *course)
{
    size_t count = 0;

    qsort(course->snapshots, course->snapshot_count, sizeof *course->snapshots, compare_moments);
    for (size_t i = 0; i < course->snapshot_count; i++)
        if (!count || course->snapshots[i].index != course->snapshots[count - 1].index)
            course->snapshots[count++] = course->snapshots[i];
    course->snapshot_count = count;
}

static int choose_snapshots(struct course *course, const struct history *history,
                            const struct timelines *timelines, struct err *err)
{
    if (add_snapshot(course, &history->last, err) || add_failures(course, history, err) ||
        add_ends_of_steps(course, &timelines->ended, err))
        return -1;
    for (size_t i = 0; i < history->account_count; i++)
        if (account_is_of_layer(&history->accounts[i]) &&
            add_snapshot(course, &history->accounts[i].peak, err))
            return -1;
    for (size_t i = 0; i < history->device_count; i++)
        if (add_grid(course, history, timelines, history->devices[i].leading, err))
            return -1;
    sort_snapshots(course);
    return 0;
}

size_t course_snapshot_from(const struct course *course, uint64_t index)
{
    size_t from = 0, to = course->snapshot_count;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (course->snapshots[middle].index < index)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

size_t course_snapshot(const struct course *course, uint64_t index)
{
    const size_t found = course_snapshot_from(course, index);

    return found < course->snapshot_count && course->snapshots[found].index == index ? found
                                                                                     : SIZE_MAX;
}

/* --- which of them have a map --- */

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
                 first = count > COURSE_MAPPED_FAILURES ? count - COURSE_MAPPED_FAILURES : 0;

    for (size_t i = first; i < count; i++)
        if (history->failures[i].at.index == index)
            return true;
    return false;
}

static int choose_maps(struct course *course, const struct history *history, struct err *err)
{
    const size_t count = course->snapshot_count, stride = count / COURSE_MAPS + 1;

    course->maps = array_new(count, sizeof *course->maps, err);
    if (!course->maps)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const uint64_t index = course->snapshots[i].index;
        const bool is_asked_for =
            i + 1 == count || is_peak(history, index) || is_late_failure(history, index);
        if (!is_asked_for && i % stride)
            continue;
        course->maps[course->map_count++] =
            (struct map_moment){index, is_asked_for ? COURSE_BLOCKS : COURSE_BLOCKS_BETWEEN};
    }
    return 0;
}

/* --- which groups --- */

static int add_group(struct course_groups *groups, struct pair_map *numbers, uint32_t account,
                     uint64_t id, struct err *err)
{
    if (groups->count == groups->most || pair_map_get(numbers, account, id) != PAIR_MAP_NONE)
        return 0;
    groups->ids[groups->count] = id;
    return pair_map_put(numbers, account, id, (uint32_t)groups->count++, err);
}

/* Those that held most at a moment, up to so many in all. */
static int add_held_sites(struct course *course, const struct categories *categories,
                          uint32_t account, uint64_t index, size_t most_stacks, struct err *err)
{
    struct account_course *own = &course->accounts[account];
    struct sites sites;
    int status = 0;

    if (index == INDEX_NONE)
        return 0;
    if (sites_at(&sites, categories, account, index, err))
        return -1;
    own->stacks.most = most_stacks;
    for (size_t i = 0; i < sites.count && !status; i++) {
        const struct site *site = &sites.items[i];
        const uint64_t stacks = course_stacks(site->stack_id, site->forward_stack_id);
        status = add_group(&own->stacks, &course->stack_groups, account, stacks, err) ||
                         add_group(&own->phases, &course->phase_groups, account, site->path, err)
                     ? -1
                     : 0;
    }
    sites_release(&sites);
    return status;
}

/* The peak may name seven tenths of them, the last failure what is left but for the end's share. */
static int choose_groups_of(struct course *course, const struct categories *categories,
                            uint32_t account, struct err *err)
{
    const struct history *history = categories->history;
    const struct account *own = &history->accounts[account];
    const struct failure *last = NULL;

    for (size_t i = 0; i < history->failure_count; i++)
        if (history->failures[i].event.device == own->device)
            last = &history->failures[i];
    course->accounts[account].phases.most = COURSE_PHASES;
    return add_held_sites(course, categories, account, own->peak.index, COURSE_STACKS * 7 / 10,
                          err) ||
                   add_held_sites(course, categories, account, last ? last->at.index : INDEX_NONE,
                                  COURSE_STACKS * 9 / 10, err) ||
                   add_held_sites(course, categories, account, history->last.index, COURSE_STACKS,
                                  err)
               ? -1
               : 0;
}

static int choose_groups(struct course *course, const struct categories *categories,
                         struct err *err)
{
    const struct history *history = categories->history;

    course->account_count = history->account_count;
    course->accounts = array_new(course->account_count, sizeof *course->accounts, err);
    if (!course->accounts)
        return -1;
    for (uint32_t i = 0; i < history->account_count; i++)
        if (account_is_of_layer(&history->accounts[i]) &&
            choose_groups_of(course, categories, i, err))
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
    const struct course *course = self;
    const uint32_t group = pair_map_get(&course->phase_groups, block->account, block->path);

    return group == PAIR_MAP_NONE ? COURSE_PHASES : group;
}

static size_t stack_of(const void *self, const struct block *block)
{
    const struct course *course = self;
    const uint32_t group = pair_map_get(&course->stack_groups, block->account,
                                        course_stacks(block->stack_id, block->forward_stack_id));

    return group == PAIR_MAP_NONE ? COURSE_STACKS : group;
}

static size_t line_of(const void *self, const struct block *block)
{
    const size_t group = stack_of(self, block);

    return group < COURSE_LINE_STACKS ? group : COURSE_LINE_STACKS;
}

static int ask_points(struct breakdown *breakdown, const struct timelines *timelines,
                      uint32_t account, struct err *err)
{
    size_t count;
    uint64_t *moments = timelines_moments(timelines, account, &count, err);

    return moments ? breakdown_ask(breakdown, account, moments, count, err) : -1;
}

static int ask_snapshots(struct course *course, uint32_t account, struct err *err)
{
    uint64_t *moments = array_new(course->snapshot_count, sizeof *moments, err);

    if (!moments)
        return -1;
    for (size_t i = 0; i < course->snapshot_count; i++)
        moments[i] = course->snapshots[i].index;
    return breakdown_ask(&course->by_stack, account, moments, course->snapshot_count, err);
}

static int ask_all(struct course *course, const struct history *history,
                   const struct timelines *timelines, struct err *err)
{
    struct breakdown *at_points[] = {&course->by_category, &course->by_phase, &course->by_line};

    for (uint32_t i = 0; i < history->account_count; i++) {
        if (!account_is_of_layer(&history->accounts[i]))
            continue;
        for (size_t k = 0; k < sizeof at_points / sizeof *at_points; k++)
            if (ask_points(at_points[k], timelines, i, err))
                return -1;
        if (ask_snapshots(course, i, err))
            return -1;
    }
    return 0;
}

/* The highest moment of a cut may be before its first event, so which one that is shows only now. */
static int stamp_snapshot(void *self, const struct cursor *at)
{
    struct course *course = self;

    if (course->stamped < course->snapshot_count &&
        at->index == course->snapshots[course->stamped].index)
        course->snapshots[course->stamped++] = cursor_moment(at);
    return 0;
}

int course_begin(struct course *course, const struct categories *categories,
                 const struct timelines *timelines, struct observer observers[COURSE_OBSERVERS],
                 struct err *err)
{
    const struct history *history = categories->history;
    const size_t count = history->account_count;
    const struct breakdown_groups by_category = {CATEGORY_COUNT, category_of, categories};
    const struct breakdown_groups by_phase = {COURSE_PHASES + 1, phase_of, course};
    const struct breakdown_groups by_line = {COURSE_LINE_STACKS + 1, line_of, course};
    const struct breakdown_groups by_stack = {COURSE_STACKS + 1, stack_of, course};

    if (choose_snapshots(course, history, timelines, err) || choose_maps(course, history, err) ||
        choose_groups(course, categories, err) ||
        breakdown_init(&course->by_category, &by_category, count, err) ||
        breakdown_init(&course->by_phase, &by_phase, count, err) ||
        breakdown_init(&course->by_line, &by_line, count, err) ||
        breakdown_init(&course->by_stack, &by_stack, count, err) ||
        ask_all(course, history, timelines, err))
        return -1;
    course->map = (struct memory_map){.moments = course->maps, .moment_count = course->map_count};
    observers[0] = breakdown_observer(&course->by_category);
    observers[1] = breakdown_observer(&course->by_phase);
    observers[2] = breakdown_observer(&course->by_line);
    observers[3] = breakdown_observer(&course->by_stack);
    observers[4] = memory_map_observer(&course->map);
    observers[5] = (struct observer){.self = course, .on_event = stamp_snapshot};
    return 0;
}

void course_release(struct course *course)
{
    breakdown_release(&course->by_category);
    breakdown_release(&course->by_phase);
    breakdown_release(&course->by_line);
    breakdown_release(&course->by_stack);
    memory_map_release(&course->map);
    pair_map_release(&course->phase_groups);
    pair_map_release(&course->stack_groups);
    free(course->accounts);
    free(course->maps);
    free(course->snapshots);
    *course = (struct course){0};
}
