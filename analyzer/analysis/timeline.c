/* SPDX-License-Identifier: MIT */
/* Live bytes over time; see timeline.h. */
#include "timeline.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

struct stock_timeline {
    struct sample *samples; /* NULL: nothing has changed yet */
    size_t current;
    uint64_t live_bytes;
};

void timelines_init(struct timelines *timelines, size_t sample_count, uint64_t length_ns)
{
    if (length_ns < UINT64_MAX)
        length_ns++; /* the last moment lies inside */
    if (sample_count > length_ns)
        sample_count = (size_t)length_ns;
    *timelines =
        (struct timelines){.sample_count = sample_count,
                           .step_ns = length_ns / sample_count + (length_ns % sample_count != 0)};
}

static void begin_cut(const struct timelines *timelines, struct stock_timeline *own, size_t number)
{
    own->samples[number] = (struct sample){.time_ns = (number + 1) * timelines->step_ns,
                                           .max_bytes = own->live_bytes,
                                           .min_bytes = own->live_bytes};
    own->current = number;
}

/* An event of another thread may be slightly older than the one before it; it stays in its cut. */
static void move_to_now(const struct timelines *timelines, struct stock_timeline *own)
{
    size_t number = (size_t)(timelines->now_ns / timelines->step_ns);
    if (number >= timelines->sample_count)
        number = timelines->sample_count - 1;
    while (own->current < number)
        begin_cut(timelines, own, own->current + 1);
}

static struct stock_timeline *find_stock(struct timelines *timelines, uint32_t stock,
                                         struct err *err)
{
    struct stock_timeline *grown = array_reach(timelines->stocks, &timelines->stock_capacity,
                                               &timelines->stock_count, sizeof *grown, stock, err);
    if (!grown)
        return NULL;
    timelines->stocks = grown;
    struct stock_timeline *own = &timelines->stocks[stock];
    if (own->samples)
        return own;
    own->samples = array_new(timelines->sample_count, sizeof *own->samples, err);
    if (!own->samples)
        return NULL;
    begin_cut(timelines, own, 0);
    return own;
}

static void see_time(struct timelines *timelines, const struct cursor *at)
{
    if (at->event->time_ns > timelines->now_ns)
        timelines->now_ns = at->event->time_ns;
}

static int on_change(void *self, const struct cursor *at, const struct spans *spans,
                     const struct change *change)
{
    struct timelines *timelines = self;
    const struct stock *stock = &at->history->stocks[change->block->stock];
    (void)spans;
    if (!stock_is_of_layer(stock))
        return 0;
    struct stock_timeline *own = find_stock(timelines, change->block->stock, at->err);
    if (!own)
        return -1;
    see_time(timelines, at);
    move_to_now(timelines, own);
    if (change->is_half) /* the moment between the halves is not shown */
        return 0;
    struct sample *sample = &own->samples[own->current];
    own->live_bytes = stock->live_bytes;
    if (own->live_bytes > sample->max_bytes) {
        sample->max_bytes = own->live_bytes;
        sample->time_ns = at->event->time_ns;
    }
    if (own->live_bytes < sample->min_bytes)
        sample->min_bytes = own->live_bytes;
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    see_time(self, at);
    return 0;
}

static int on_end(void *self, const struct cursor *at)
{
    struct timelines *timelines = self;
    for (uint32_t i = 0; i < at->history->stock_count; i++) {
        if (!stock_is_of_layer(&at->history->stocks[i]))
            continue;
        struct stock_timeline *own = find_stock(timelines, i, at->err);
        if (!own)
            return -1;
        move_to_now(timelines, own);
    }
    return 0;
}

struct observer timelines_observer(struct timelines *timelines)
{
    return (struct observer){
        .self = timelines, .on_change = on_change, .on_event = on_event, .on_end = on_end};
}

void timelines_release(struct timelines *timelines)
{
    for (size_t i = 0; i < timelines->stock_count; i++)
        free(timelines->stocks[i].samples);
    free(timelines->stocks);
    *timelines = (struct timelines){0};
}

struct timeline timeline_of(const struct timelines *timelines, uint32_t stock)
{
    const struct stock_timeline *own = &timelines->stocks[stock];
    return (struct timeline){own->samples, own->current + 1};
}
