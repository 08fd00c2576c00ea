/* SPDX-License-Identifier: MIT */
/* Bytes at the ends of steps; see growth_watch.h. */
#include "growth_watch.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* --- one site --- */

static int begin_series(struct site_ends *site, struct err *err)
{
    site->series = array_new(1, sizeof *site->series, err);
    if (!site->series)
        return -1;
    series_add(site->series, site->changed_at, site->first_bytes);
    return 0;
}

/* At all ends up to `until` that were not looked at yet, the site had these bytes. Of the series only
 * what is before the last change is written, to touch it seldom. */
static int look_at_ends(struct site_ends *site, uint64_t until, uint64_t bytes, struct err *err)
{
    if (until <= site->ends_count)
        return 0;
    site->churn_bytes += site->open_churn_bytes;
    site->churn_count += site->open_churn_count;
    site->open_churn_bytes = site->open_churn_count = 0;
    if (!site->ends_count)
        site->first_bytes = site->last_bytes = bytes;
    if (bytes != site->last_bytes) {
        if (!site->changes_count++)
            site->changed_at = site->ends_count;
        else if (!site->series && begin_series(site, err))
            return -1;
        if (site->series)
            series_add(site->series, site->ends_count, site->last_bytes);
    }
    site->rises_count += bytes > site->last_bytes;
    site->fell |= bytes < site->last_bytes;
    site->last_bytes = bytes;
    site->ends_count = until;
    return 0;
}

static struct site_ends *find_site(struct ends_tracker *tracker, uint32_t stack_id, struct err *err)
{
    if (tracker->numbers[stack_id])
        return &tracker->sites[tracker->numbers[stack_id] - 1];
    struct site_ends *grown =
        array_grow(tracker->sites, &tracker->capacity, tracker->count, sizeof *grown, err);
    if (!grown)
        return NULL;
    tracker->sites = grown;
    grown += tracker->count++;
    tracker->numbers[stack_id] = (uint32_t)tracker->count;
    *grown = (struct site_ends){.stack_id = stack_id};
    return grown;
}

/* --- stocks --- */

static int begin_tracker(const struct stock_ends *own, struct ends_tracker *tracker,
                         struct err *err)
{
    tracker->numbers = array_new(own->stack_limit, sizeof *tracker->numbers, err);
    tracker->total.series = array_new(1, sizeof *tracker->total.series, err);
    tracker->is_begun = true;
    return tracker->numbers && tracker->total.series ? 0 : -1;
}

static void release_tracker(struct ends_tracker *tracker)
{
    for (size_t i = 0; i < tracker->count; i++)
        free(tracker->sites[i].series);
    free(tracker->total.series);
    free(tracker->sites);
    free(tracker->numbers);
    *tracker = (struct ends_tracker){0};
}

static void release_beats(struct stock_ends *own)
{
    release_tracker(&own->beats);
    free(own->first_births);
    own->first_births = NULL;
}

static struct stock_ends *find_stock(struct growth_watch *watch, const struct cursor *at,
                                     uint32_t stock)
{
    struct stock_ends *grown = array_reach(watch->stocks, &watch->stock_capacity,
                                           &watch->stock_count, sizeof *grown, stock, at->err);
    if (!grown)
        return NULL;
    watch->stocks = grown;
    struct stock_ends *own = &watch->stocks[stock];
    if (own->live_bytes)
        return own;
    own->stack_limit = at->history->trace->frame_limit + 1; /* 0 is "no stack" */
    own->live_bytes = array_new(own->stack_limit, sizeof *own->live_bytes, at->err);
    if (!own->live_bytes)
        return NULL;
    if (step_ends_kind(&watch->ends) < STEP_ENDS)
        return own;
    own->first_births = array_new(own->stack_limit, sizeof *own->first_births, at->err);
    return own->first_births && !begin_tracker(own, &own->beats, at->err) ? own : NULL;
}

/* --- changes --- */

/* At an end that is over the bytes were those before the change. */
static int change_tracker(const struct stock_ends *own, struct ends_tracker *tracker,
                          uint64_t ends_count, uint32_t stack_id, struct site_ends **site,
                          struct err *err)
{
    *site = find_site(tracker, stack_id, err);
    return !*site || look_at_ends(*site, ends_count, own->live_bytes[stack_id], err) ||
                   look_at_ends(&tracker->total, ends_count, own->total_bytes, err)
               ? -1
               : 0;
}

/* How many ends were looked at. */
static uint64_t looked_at_count(const struct growth_watch *watch)
{
    const enum step_end kind = step_ends_kind(&watch->ends);
    const uint64_t count = kind < STEP_ENDS ? watch->ends.counts[kind] : 0;
    return count > WARM_UP_ENDS ? count - WARM_UP_ENDS : 0;
}

static int change_at_ends(const struct growth_watch *watch, struct stock_ends *own,
                          const struct change *change, struct err *err)
{
    const struct block *block = change->block;
    const uint64_t count = looked_at_count(watch);
    struct site_ends *site;
    if (!count)
        return 0;
    if ((!own->ends.is_begun && begin_tracker(own, &own->ends, err)) ||
        change_tracker(own, &own->ends, count, block->stack_id, &site, err))
        return -1;
    if (change->birth || change->is_half || block->life.begin_index < watch->step_begin)
        return 0;
    site->open_churn_bytes += block->size_bytes;
    site->open_churn_count++;
    return 0;
}

static void count_beat(struct site_ends *site, uint64_t index, uint64_t first_birth, bool was_live,
                       bool is_birth)
{
    if (!is_birth) {
        site->live_count -= site->live_count > 0;
        return;
    }
    if (!site->births_count++) {
        site->first_birth = site->last_birth = first_birth;
        site->live_count = was_live;
        site->births_count++;
    }
    if (index - site->last_birth > site->longest_gap)
        site->longest_gap = index - site->last_birth;
    site->last_birth = index;
    if (++site->live_count > site->most_live_count)
        site->most_live_count = site->live_count;
}

/* A site is looked at from its second birth on: what happens once does not repeat. */
static int change_at_beats(struct stock_ends *own, const struct cursor *at,
                           const struct change *change)
{
    const uint32_t stack_id = change->block->stack_id;
    struct site_ends *site;
    if (!own->first_births)
        return 0;
    const bool is_known =
        own->first_births[stack_id] && (change->birth || own->beats.numbers[stack_id]);
    if (!is_known) {
        if (!own->first_births[stack_id] && change->birth)
            own->first_births[stack_id] = at->index + 1;
        return look_at_ends(&own->beats.total, at->index, own->total_bytes, at->err);
    }
    if (change_tracker(own, &own->beats, at->index, stack_id, &site, at->err))
        return -1;
    count_beat(site, at->index, own->first_births[stack_id] - 1, own->live_bytes[stack_id] > 0,
               change->birth);
    return 0;
}

static int on_change(void *self, const struct cursor *at, const struct spans *spans,
                     const struct change *change)
{
    struct growth_watch *watch = self;
    const struct block *block = change->block;
    (void)spans;
    if (!stock_is_of_layer(&at->history->stocks[block->stock]))
        return 0;
    struct stock_ends *own = find_stock(watch, at, block->stock);
    if (!own || change_at_ends(watch, own, change, at->err) || change_at_beats(own, at, change))
        return -1;
    const uint64_t more_bytes = change->birth ? block->size_bytes : -block->size_bytes;
    own->live_bytes[block->stack_id] += more_bytes;
    own->total_bytes += more_bytes;
    return 0;
}

/* --- ends of steps --- */

static void end_step(struct growth_watch *watch, const struct cursor *at, enum step_end kind)
{
    if (kind == STEP_ENDS)
        return;
    const bool is_stronger = watch->ends.counts[kind] == 1;
    watch->step_begin = at->index;
    for (size_t i = 0; i < watch->stock_count; i++) {
        if (is_stronger) /* what weaker kinds had told is void */
            release_tracker(&watch->stocks[i].ends);
        release_beats(&watch->stocks[i]);
    }
}

static int on_span(void *self, const struct cursor *at, const struct spans *spans, uint32_t span,
                   bool begins)
{
    struct growth_watch *watch = self;
    if (!begins)
        end_step(watch, at, step_ends_at_span(&watch->ends, at, spans, span));
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct growth_watch *watch = self;
    end_step(watch, at, step_ends_at_event(&watch->ends, at));
    return 0;
}

static int finish_site(struct site_ends *site, uint64_t ends_count, uint64_t live_bytes,
                       struct err *err)
{
    if (look_at_ends(site, ends_count, live_bytes, err))
        return -1;
    if (site->series)
        series_add(site->series, ends_count, site->last_bytes);
    return 0;
}

/* All ends were looked at, of all sites. */
static int finish_tracker(const struct stock_ends *own, struct ends_tracker *tracker,
                          uint64_t ends_count, struct err *err)
{
    for (size_t i = 0; i < tracker->count; i++)
        if (finish_site(&tracker->sites[i], ends_count, own->live_bytes[tracker->sites[i].stack_id],
                        err))
            return -1;
    return finish_site(&tracker->total, ends_count, own->total_bytes, err);
}

static int finish_stock(const struct growth_watch *watch, struct stock_ends *own, struct err *err)
{
    const uint64_t count = looked_at_count(watch);
    if (!own->live_bytes)
        return 0;
    if (count && ((!own->ends.is_begun && begin_tracker(own, &own->ends, err)) ||
                  finish_tracker(own, &own->ends, count, err)))
        return -1;
    return own->first_births ? finish_tracker(own, &own->beats, watch->event_count, err) : 0;
}

static int on_end(void *self, const struct cursor *at)
{
    struct growth_watch *watch = self;
    watch->event_count = at->history->event_count;
    for (size_t i = 0; i < watch->stock_count; i++)
        if (finish_stock(watch, &watch->stocks[i], at->err))
            return -1;
    return 0;
}

struct observer growth_watch_observer(struct growth_watch *watch)
{
    return (struct observer){.self = watch,
                             .on_change = on_change,
                             .on_span = on_span,
                             .on_event = on_event,
                             .on_end = on_end};
}

void growth_watch_release(struct growth_watch *watch)
{
    for (size_t i = 0; i < watch->stock_count; i++) {
        struct stock_ends *own = &watch->stocks[i];
        release_tracker(&own->ends);
        release_beats(own);
        free(own->live_bytes);
    }
    free(watch->stocks);
    *watch = (struct growth_watch){0};
}
