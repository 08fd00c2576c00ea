/* SPDX-License-Identifier: MIT */
/* Bytes at the ends of steps; see growth_watch.h. */
#include "growth_watch.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* --- one site --- */

static int begin_series(struct site_ends *site, struct err *err)
{
    site->series.samples = array_new(SERIES_SAMPLES, sizeof *site->series.samples, err);
    return site->series.samples ? 0 : -1;
}

/* Its second change: now it needs a series, of what it had up to there. */
static int catch_up(struct site_ends *site, struct err *err)
{
    if (begin_series(site, err))
        return -1;
    series_add(&site->series, 0, site->changed_at, site->first_bytes);
    series_add(&site->series, site->changed_at, site->ends_count, site->last_bytes);
    return 0;
}

/* At all ends up to `until` that were not looked at yet, the site had the bytes of now. */
static int look_at_ends(struct site_ends *site, uint64_t until, struct err *err)
{
    const uint64_t bytes = site->live_bytes;
    if (until <= site->ends_count)
        return 0;
    if (site->open_churn_count) {
        site->churn_bytes += site->open_churn_bytes;
        site->churn_count += site->open_churn_count;
        site->open_churn_bytes = site->open_churn_count = 0;
    }
    if (!site->ends_count)
        site->first_bytes = site->last_bytes = bytes;
    if (bytes != site->last_bytes) {
        if (!site->changes_count++)
            site->changed_at = site->ends_count;
        else if (!site->series.samples && catch_up(site, err))
            return -1;
        site->rises_count += bytes > site->last_bytes;
        site->fell |= bytes < site->last_bytes;
        site->last_bytes = bytes;
    }
    if (site->series.samples)
        series_add(&site->series, site->ends_count, until, bytes);
    site->ends_count = until;
    return 0;
}

/* --- stocks --- */

static struct site_ends *find_site(struct stock_ends *own, uint32_t stack_id, struct err *err)
{
    if (own->numbers[stack_id])
        return &own->sites[own->numbers[stack_id] - 1];
    struct site_ends *grown =
        array_grow(own->sites, &own->capacity, own->count, sizeof *grown, err);
    if (!grown)
        return NULL;
    own->sites = grown;
    grown += own->count++;
    own->numbers[stack_id] = (uint32_t)own->count;
    *grown = (struct site_ends){.stack_id = stack_id};
    return grown;
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
    if (own->numbers)
        return own;
    const size_t stack_limit = at->history->trace->frame_limit + 1; /* 0 is "no stack" */
    own->is_pool = at->history->stocks[stock].account == ACCOUNT_pool;
    own->numbers = array_new(stack_limit, sizeof *own->numbers, at->err);
    return own->numbers && !begin_series(&own->total, at->err) ? own : NULL;
}

/* What was seen at ends is void; only what is live goes on. */
static void forget_ends(struct stock_ends *own)
{
    for (size_t i = 0; i < own->count; i++) {
        struct site_ends *site = &own->sites[i];
        free(site->series.samples);
        *site = (struct site_ends){.stack_id = site->stack_id, .live_bytes = site->live_bytes};
    }
    own->total = (struct site_ends){.live_bytes = own->total.live_bytes,
                                    .series.samples = own->total.series.samples};
}

/* --- changes --- */

/* At an end that is over the bytes were those before the change. */
static int change_at_ends(const struct growth_watch *watch, struct stock_ends *own,
                          struct site_ends *site, const struct change *change, struct err *err)
{
    const struct block *block = change->block;
    if (look_at_ends(&own->total, watch->looked_count, err) ||
        look_at_ends(site, watch->looked_count, err))
        return -1;
    if (!change->birth && !change->is_half && block->life.begin_index >= watch->step_begin) {
        site->open_churn_bytes += block->size_bytes;
        site->open_churn_count++;
    }
    return 0;
}

static void count_birth(struct site_ends *site, uint64_t index)
{
    if (!site->births_count++) {
        site->first_birth = site->last_birth = index;
        return;
    }
    if (site->births_count == 2)
        site->live_count = site->live_bytes > 0;
    if (index - site->last_birth > site->longest_gap)
        site->longest_gap = index - site->last_birth;
    site->last_birth = index;
    if (++site->live_count > site->most_live_count)
        site->most_live_count = site->live_count;
}

/* A site is looked at from its second birth on: what happens once does not repeat. */
static int change_at_beats(struct stock_ends *own, struct site_ends *site, uint64_t index,
                           bool is_birth, struct err *err)
{
    const bool repeats = site->births_count > !is_birth;
    if ((repeats && look_at_ends(site, index, err)) || look_at_ends(&own->total, index, err))
        return -1;
    if (is_birth)
        count_birth(site, index);
    else if (repeats)
        site->live_count -= site->live_count > 0;
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
    struct site_ends *site = own ? find_site(own, block->stack_id, at->err) : NULL;
    if (!site)
        return -1;
    GMT_PREFETCH(&site->churn_bytes); /* the end of what a change touches */
    if ((watch->looked_count && change_at_ends(watch, own, site, change, at->err)) ||
        (!watch->has_ended && change_at_beats(own, site, at->index, change->birth, at->err)))
        return -1;
    const uint64_t more_bytes = change->birth ? block->size_bytes : -block->size_bytes;
    site->live_bytes += more_bytes;
    own->total.live_bytes += more_bytes;
    return 0;
}

/* --- ends of steps --- */

static void end_step(struct growth_watch *watch, const struct cursor *at, enum step_end kind)
{
    if (kind == STEP_ENDS)
        return;
    const uint64_t count = watch->ends.counts[kind];
    for (size_t i = 0; i < watch->stock_count && step_ends_began(&watch->ends, kind); i++)
        forget_ends(&watch->stocks[i]);
    watch->has_ended = true;
    watch->looked_count = count > WARM_UP_ENDS ? count - WARM_UP_ENDS : 0;
    watch->step_begin = at->index;
}

static int on_span(void *self, const struct cursor *at, const struct spans *spans, uint32_t span,
                   bool begins)
{
    struct growth_watch *watch = self;
    if (begins)
        return 0;
    if (!watch->has_ended)
        phase_rhythms_end(&watch->phases, at, spans, span);
    end_step(watch, at, step_ends_at_span(&watch->ends, at, spans, span));
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct growth_watch *watch = self;
    end_step(watch, at, step_ends_at_event(&watch->ends, at));
    return 0;
}

/* All ends were looked at. */
static int finish_site(struct site_ends *site, uint64_t ends_count, struct err *err)
{
    if (look_at_ends(site, ends_count, err))
        return -1;
    series_close(&site->series);
    return 0;
}

static int finish_stock(struct stock_ends *own, uint64_t ends_count, struct err *err)
{
    for (size_t i = 0; i < own->count; i++)
        if (finish_site(&own->sites[i], ends_count, err))
            return -1;
    return finish_site(&own->total, ends_count, err);
}

static int on_end(void *self, const struct cursor *at)
{
    struct growth_watch *watch = self;
    watch->event_count = at->history->event_count;
    watch->trace = at->history->trace;
    const uint64_t ends_count = watch->has_ended ? watch->looked_count : watch->event_count;
    for (size_t i = 0; i < watch->stock_count; i++)
        if (watch->stocks[i].numbers && finish_stock(&watch->stocks[i], ends_count, at->err))
            return -1;
    return 0;
}

struct observer growth_watch_observer(struct growth_watch *watch)
{
    return (struct observer){.self = watch,
                             .on_change = on_change,
                             .on_span = on_span,
                             .on_event = on_event,
                             .kinds = OBSERVER_KIND(EVENT_STEP),
                             .on_end = on_end};
}

void growth_watch_release(struct growth_watch *watch)
{
    for (size_t i = 0; i < watch->stock_count; i++) {
        struct stock_ends *own = &watch->stocks[i];
        forget_ends(own);
        free(own->total.series.samples);
        free(own->sites);
        free(own->numbers);
    }
    free(watch->stocks);
    *watch = (struct growth_watch){0};
}
