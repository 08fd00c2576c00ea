/* SPDX-License-Identifier: MIT */
/* Live bytes over time; see timeline.h. */
#include "timeline.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "analyzer/replay/visit.h"

struct builder {
    struct timeline *timeline;
    uint32_t stock;
    uint64_t step_ns; /* length of one cut */
    size_t current;
    uint64_t live_bytes;
};

static void begin_cut(struct builder *builder, size_t number)
{
    builder->timeline->samples[number] = (struct sample){.time_ns = (number + 1) * builder->step_ns,
                                                         .max_bytes = builder->live_bytes,
                                                         .min_bytes = builder->live_bytes};
    builder->current = number;
}

/* An event of another thread may be slightly older than the one before it; it stays in the same cut. */
static void timeline_move_to(struct builder *builder, uint64_t time_ns)
{
    size_t number = (size_t)(time_ns / builder->step_ns);

    if (number >= builder->timeline->count)
        number = builder->timeline->count - 1;
    while (builder->current < number)
        begin_cut(builder, builder->current + 1);
}

static void on_event(void *self, const struct visit *visit)
{
    struct builder *builder = self;
    struct sample *sample;

    timeline_move_to(builder, visit->event->time_ns);
    if (!visit->block || visit->block->stock != builder->stock)
        return;
    builder->live_bytes = visit->live_bytes[builder->stock];
    sample = &builder->timeline->samples[builder->current];
    if (builder->live_bytes > sample->max_bytes) {
        sample->max_bytes = builder->live_bytes;
        sample->time_ns = visit->event->time_ns;
    }
    if (builder->live_bytes < sample->min_bytes)
        sample->min_bytes = builder->live_bytes;
}

int timeline_of(struct timeline *timeline, const struct history *history, uint32_t stock,
                size_t count, struct err *err)
{
    struct builder builder = {.timeline = timeline, .stock = stock};
    uint64_t length_ns = 1;

    *timeline = (struct timeline){0};
    for (uint32_t i = 0; i < history->event_count; i++)
        if (history->trace->events[i].time_ns >= length_ns)
            length_ns = history->trace->events[i].time_ns + 1;
    if (count > length_ns)
        count = (size_t)length_ns;
    builder.step_ns = length_ns / count + (length_ns % count != 0);
    timeline->samples = array_new(count, sizeof *timeline->samples, err);
    if (!timeline->samples)
        return -1;
    timeline->count = count;
    begin_cut(&builder, 0);
    if (history_visit(history, &(struct visitor){&builder, on_event}, 1, err)) {
        timeline_release(timeline);
        return -1;
    }
    timeline->count = builder.current + 1;
    return 0;
}

void timeline_release(struct timeline *timeline)
{
    free(timeline->samples);
    *timeline = (struct timeline){0};
}
