/* SPDX-License-Identifier: MIT */
/* Live bytes over time; see timeline.h. */
#include "timeline.h"

#include <stdlib.h>

#include "analyzer/replay/phase/spans.h"
#include "analyzer/util/array.h"

struct stock_timeline {
    struct timeline_cut *cuts; /* NULL: nothing has changed yet */
    uint64_t live_bytes;
    uint32_t path; /* of its last change */
};

void timelines_init(struct timelines *timelines, const struct timeline_ask *ask)
{
    *timelines = (struct timelines){.ask = *ask, .kind = STEP_ENDS, .width = 1};
}

/* --- the axis --- */

/* The step that is not over yet, from 1; 0: steps are not known. */
static uint64_t step_now(const struct timelines *timelines)
{
    if (timelines->kind == STEP_ENDS)
        return 0;
    const bool counts = timelines->ends.begun_count == timelines->begun_count;
    return 1 + (counts ? timelines->ends.counts[timelines->kind] : 0);
}

static uint64_t number_now(const struct timelines *timelines, const struct cursor *at,
                           enum timeline_axis unit)
{
    return unit == TIMELINE_TIME    ? timelines->now_ns
           : unit == TIMELINE_EVENT ? at->event->seq
                                    : step_now(timelines);
}

static bool is_before(const struct timelines *timelines, const struct cursor *at)
{
    const struct timeline_bound *from = &timelines->ask.from;
    return from->unit && number_now(timelines, at, from->unit) < from->number;
}

static bool is_behind(const struct timelines *timelines, const struct cursor *at)
{
    const struct timeline_bound *to = &timelines->ask.to;
    return to->unit && number_now(timelines, at, to->unit) > to->number;
}

/* An event of another thread may be slightly older than the one before it. */
static void see_time(struct timelines *timelines, const struct cursor *at)
{
    if (at->event->time_ns > timelines->now_ns)
        timelines->now_ns = at->event->time_ns;
}

/* --- cuts --- */

static void join_cuts(struct timeline_cut *into, const struct timeline_cut *next)
{
    if (!next->is_present)
        return;
    if (!into->is_present) {
        *into = *next;
        return;
    }
    const struct timeline_cut first = *into;
    if (next->max_bytes > first.max_bytes)
        *into = *next;
    into->min_bytes = first.min_bytes < next->min_bytes ? first.min_bytes : next->min_bytes;
    into->last_bytes = next->last_bytes;
}

/* Each two cuts become one. */
static void widen(struct timelines *timelines)
{
    for (size_t i = 0; i < timelines->stock_count; i++) {
        struct timeline_cut *cuts = timelines->stocks[i].cuts;
        for (size_t n = 0; cuts && n < timelines->used; n++) {
            struct timeline_cut cut = cuts[n];
            cuts[n].is_present = false;
            if (n % 2)
                join_cuts(&cuts[n / 2], &cut);
            else
                cuts[n / 2] = cut;
        }
    }
    timelines->width *= 2;
    timelines->used = (timelines->used + 1) / 2;
}

static size_t cut_now(struct timelines *timelines, const struct cursor *at)
{
    const uint64_t way = number_now(timelines, at, timelines->ask.axis) - timelines->begin;
    while (way / timelines->width >= timelines->ask.cut_count)
        widen(timelines);
    const size_t number = (size_t)(way / timelines->width);
    if (number >= timelines->used)
        timelines->used = number + 1;
    return number;
}

/* The stock's cut of now; it begins with what was live before it. */
static struct timeline_cut *reach_cut(struct timelines *timelines, const struct cursor *at,
                                      struct stock_timeline *own)
{
    struct timeline_cut *cut = &own->cuts[cut_now(timelines, at)];
    if (cut->is_present)
        return cut;
    *cut = (struct timeline_cut){.is_present = true,
                                 .time_ns = timelines->now_ns,
                                 .seq = at->event->seq,
                                 .step = step_now(timelines),
                                 .index = at->index ? at->index - 1 : INDEX_NONE,
                                 .max_bytes = own->live_bytes,
                                 .min_bytes = own->live_bytes,
                                 .last_bytes = own->live_bytes,
                                 .path = own->path};
    return cut;
}

/* --- the watch --- */

static struct stock_timeline *find_stock(struct timelines *timelines, uint32_t stock,
                                         struct err *err)
{
    struct stock_timeline *grown = array_reach(timelines->stocks, &timelines->stock_capacity,
                                               &timelines->stock_count, sizeof *grown, stock, err);
    if (!grown)
        return NULL;
    timelines->stocks = grown;
    struct stock_timeline *own = &timelines->stocks[stock];
    if (own->cuts)
        return own;
    own->path = HISTORY_NONE;
    own->cuts = array_new(timelines->ask.cut_count, sizeof *own->cuts, err);
    return own->cuts ? own : NULL;
}

/* From here on cuts are made. Where a later beginning was asked for, all that is live is shown. */
static void begin_cuts(struct timelines *timelines, const struct cursor *at)
{
    if (timelines->is_begun)
        return;
    timelines->is_begun = true;
    timelines->begin = number_now(timelines, at, timelines->ask.axis);
    for (size_t i = 0; i < timelines->stock_count && timelines->ask.from.unit; i++)
        if (timelines->stocks[i].cuts)
            reach_cut(timelines, at, &timelines->stocks[i]);
}

static void note_live(struct timelines *timelines, const struct cursor *at,
                      struct stock_timeline *own, uint64_t live_bytes, uint32_t path)
{
    struct timeline_cut *cut = reach_cut(timelines, at, own);
    cut->last_bytes = live_bytes;
    if (live_bytes < cut->min_bytes)
        cut->min_bytes = live_bytes;
    if (live_bytes <= cut->max_bytes)
        return;
    cut->max_bytes = live_bytes;
    cut->time_ns = timelines->now_ns;
    cut->seq = at->event->seq;
    cut->step = step_now(timelines);
    cut->index = at->index;
    cut->path = path;
}

static int on_change(void *self, const struct cursor *at, const struct spans *spans,
                     const struct change *change)
{
    struct timelines *timelines = self;
    const struct stock *stock = &at->history->stocks[change->block->stock];
    if (!stock_is_of_layer(stock))
        return 0;
    struct stock_timeline *own = find_stock(timelines, change->block->stock, at->err);
    if (!own)
        return -1;
    timelines->has_changes = true;
    if (change->is_half) /* the moment between the halves is not shown */
        return 0;
    const uint32_t path =
        change->event_span == HISTORY_NONE ? HISTORY_NONE : spans->items[change->event_span].path;
    see_time(timelines, at);
    if (!is_before(timelines, at) && !is_behind(timelines, at)) {
        begin_cuts(timelines, at);
        note_live(timelines, at, own, stock->live_bytes, path);
    }
    own->live_bytes = stock->live_bytes;
    own->path = path;
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct timelines *timelines = self;
    step_ends_at_event(&timelines->ends, at);
    see_time(timelines, at);
    if (timelines->has_changes && timelines->ask.from.unit && !is_before(timelines, at) &&
        !is_behind(timelines, at))
        begin_cuts(timelines, at);
    return 0;
}

/* --- steps --- */

static int on_span(void *self, const struct cursor *at, const struct spans *spans, uint32_t span,
                   bool begins)
{
    struct timelines *timelines = self;
    if (!begins)
        step_ends_at_span(&timelines->ends, at, spans, span);
    return 0;
}

static int on_event_of_steps(void *self, const struct cursor *at)
{
    struct timelines *timelines = self;
    step_ends_at_event(&timelines->ends, at);
    return 0;
}

static int on_end_of_steps(void *self, const struct cursor *at)
{
    struct timelines *timelines = self;
    (void)at;
    timelines->kind = step_ends_kind(&timelines->ends);
    timelines->begun_count = timelines->ends.begun_count;
    timelines->ends = (struct step_ends){0};
    return 0;
}

struct observer timelines_steps_observer(struct timelines *timelines)
{
    return (struct observer){.self = timelines,
                             .on_span = on_span,
                             .on_event = on_event_of_steps,
                             .on_end = on_end_of_steps};
}

struct observer timelines_observer(struct timelines *timelines)
{
    return (struct observer){
        .self = timelines, .on_change = on_change, .on_span = on_span, .on_event = on_event};
}

void timelines_release(struct timelines *timelines)
{
    for (size_t i = 0; i < timelines->stock_count; i++)
        free(timelines->stocks[i].cuts);
    free(timelines->stocks);
    *timelines = (struct timelines){0};
}

const struct timeline_cut *timelines_of(const struct timelines *timelines, uint32_t stock)
{
    return stock < timelines->stock_count ? timelines->stocks[stock].cuts : NULL;
}

uint64_t *timelines_moments(const struct timelines *timelines, uint32_t stock, size_t *count,
                            struct err *err)
{
    const struct timeline_cut *cuts = timelines_of(timelines, stock);
    uint64_t *moments = array_new(timelines->used, sizeof *moments, err);

    *count = 0;
    for (size_t i = 0; moments && cuts && i < timelines->used; i++)
        if (cuts[i].is_present)
            moments[(*count)++] = cuts[i].index == INDEX_NONE ? 0 : cuts[i].index;
    return moments;
}
