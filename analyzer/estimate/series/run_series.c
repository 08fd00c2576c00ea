/* SPDX-License-Identifier: MIT */
/* See run_series.h. */
#include "run_series.h"

#include <stdlib.h>

#include "analyzer/estimate/training_loop.h"
#include "analyzer/util/array.h"

/* The state of a walk through the schedule. */
struct walk {
    const struct schedule *schedule;
    struct run_series *series;
    struct run_moment now; /* now.highest has the current live bytes */
    size_t layer_count;
    uint32_t *site_of; /* for each block: its layer, or layer_count + its phase */
    uint8_t *phase_of; /* for each block: the phase that made it */
    size_t capacity;
};

void run_series_release(struct run_series *series)
{
    free(series->moments);
    free(series->sites);
    free(series->bytes);
    *series = (struct run_series){0};
}

static void note_event(struct walk *walk, const struct schedule_event *event)
{
    struct estimate_moment *live = &walk->now.highest;
    if (!event->is_free)
        walk->phase_of[event->block] = event->phase;
    uint64_t *phase_bytes = &walk->now.phase_bytes[walk->phase_of[event->block]];
    const uint64_t change = event->is_free ? -event->bytes : event->bytes;
    live->total_bytes += change;
    live->category_bytes[event->category] += change;
    *phase_bytes += change;
    live->phase = (enum schedule_phase)event->phase;
    live->layer = event->layer;
    walk->now.event++;
}

/* Returns whether the event begins a training step. A new batch does, unless its gradients are
 * added to those of the previous batch. */
static bool begins_step(const struct schedule_event *before, const struct schedule_event *event)
{
    return event->phase == SCHEDULE_data && before->phase != SCHEDULE_data &&
           before->phase != SCHEDULE_backward;
}

/* --- moments --- */

static int moment_begin(struct walk *walk, struct err *err)
{
    struct run_series *series = walk->series;
    if (ARRAY_GROW(series->moments, walk->capacity, series->count, err))
        return -1;
    series->moments[series->count] = walk->now;
    series->moments[series->count++].lowest_bytes = walk->now.highest.total_bytes;
    return 0;
}

static void moment_offer(struct run_moment *moment, const struct run_moment *now)
{
    const uint64_t lowest = moment->lowest_bytes, total = now->highest.total_bytes;
    if (total > moment->highest.total_bytes)
        *moment = *now;
    moment->lowest_bytes = total < lowest ? total : lowest;
}

static int find_moments(struct walk *walk, struct err *err)
{
    const struct schedule_event *events = walk->schedule->events;
    for (size_t i = 0; i < walk->schedule->count; i++) {
        const bool is_new = i == 0 || events[i].phase != events[i - 1].phase ||
                            events[i].layer != events[i - 1].layer;
        if (i && begins_step(&events[i - 1], &events[i]))
            walk->now.step++;
        note_event(walk, &events[i]);
        if (is_new && moment_begin(walk, err))
            return -1;
        moment_offer(&walk->series->moments[walk->series->count - 1], &walk->now);
    }
    return 0;
}

/* Joins consecutive moments of one training step, so that at most RUN_MOMENTS_MOST are left. */
static void join_moments(struct run_series *series)
{
    const size_t joined = series->count / (RUN_MOMENTS_MOST - 8) + 1;
    size_t kept = 0, in_group = 0;
    for (size_t i = 0; i < series->count; i++) {
        struct run_moment *moment = &series->moments[i];
        if (i == 0 || in_group == joined || series->moments[kept - 1].step != moment->step) {
            series->moments[kept++] = *moment;
            in_group = 1;
            continue;
        }
        struct run_moment *last = &series->moments[kept - 1];
        const uint64_t lowest = moment->lowest_bytes;
        moment_offer(last, moment);
        last->lowest_bytes = lowest < last->lowest_bytes ? lowest : last->lowest_bytes;
        in_group++;
    }
    series->count = kept;
    for (size_t i = 1; i < kept; i++)
        if (series->moments[i].highest.total_bytes >
            series->moments[series->peak].highest.total_bytes)
            series->peak = i;
}

/* --- sites --- */

ORDER_BY(by_peak, struct run_site, FALLING(peak_bytes), RISING(bytes));

static int sites_init(struct walk *walk, struct err *err)
{
    struct run_series *series = walk->series;
    series->site_count = walk->layer_count + SCHEDULE_PHASES;
    series->sites = array_new(series->site_count, sizeof *series->sites, err);
    series->bytes = array_new(series->site_count * series->count, sizeof *series->bytes, err);
    if (!series->sites || !series->bytes)
        return -1;
    for (size_t i = 0; i < series->site_count; i++) {
        const bool is_layer = i < walk->layer_count;
        series->sites[i] = (struct run_site){
            .layer = is_layer ? (int32_t)i : SCHEDULE_NO_LAYER,
            .phase = is_layer ? SCHEDULE_init : (enum schedule_phase)(i - walk->layer_count),
            .bytes = series->bytes + i * series->count};
    }
    return 0;
}

/* Sums the live bytes of each site at each moment, in a second walk through the schedule. */
static int find_sites(struct walk *walk, struct err *err)
{
    struct run_series *series = walk->series;
    const struct schedule *schedule = walk->schedule;
    uint64_t *live = array_new(series->site_count, sizeof *live, err);
    size_t moment = 0;
    if (!live)
        return -1;
    for (size_t i = 0; i < schedule->count; i++) {
        const struct schedule_event *event = &schedule->events[i];
        uint32_t *site = &walk->site_of[event->block];
        if (!event->is_free)
            *site = event->layer == SCHEDULE_NO_LAYER ? (uint32_t)walk->layer_count + event->phase
                                                      : (uint32_t)event->layer;
        live[*site] += event->is_free ? -event->bytes : event->bytes;
        if (moment == series->count || series->moments[moment].event != i + 1)
            continue;
        for (size_t k = 0; k < series->site_count; k++)
            series->bytes[k * series->count + moment] = live[k];
        moment++;
    }
    free(live);
    for (size_t k = 0; k < series->site_count; k++)
        series->sites[k].peak_bytes = series->sites[k].bytes[series->peak];
    SORT(series->sites, series->site_count, by_peak);
    return 0;
}

/* --- the whole --- */

int run_series_make(struct run_series *series, struct estimate *estimate, struct err *err)
{
    struct schedule schedule;
    *series = (struct run_series){0};
    if (training_loop_record(&estimate->plan, &schedule, err))
        return -1;
    const size_t blocks = (size_t)schedule.blocks + 1;
    struct walk walk = {.schedule = &schedule,
                        .series = series,
                        .layer_count = estimate->plan.layer_count,
                        .site_of = array_new(blocks, sizeof *walk.site_of, err),
                        .phase_of = array_new(blocks, sizeof *walk.phase_of, err)};
    int result = -1;
    if (!walk.site_of || !walk.phase_of || find_moments(&walk, err))
        goto out;
    join_moments(series);
    result = sites_init(&walk, err) || find_sites(&walk, err) ? -1 : 0;
out:
    free(walk.site_of);
    free(walk.phase_of);
    schedule_release(&schedule);
    if (result)
        run_series_release(series);
    return result;
}
