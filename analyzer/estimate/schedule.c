/* SPDX-License-Identifier: MIT */
/* Events of a schedule; see schedule.h. */
#include "schedule.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

static const char *const phase_names[] = {"init", "data", "forward", "backward", "optimizer"};

const char *schedule_phase_name(enum schedule_phase phase)
{
    return phase_names[phase];
}

void schedule_release(struct schedule *schedule)
{
    free(schedule->events);
    *schedule = (struct schedule){0};
}

void schedule_at(struct schedule *schedule, enum schedule_phase phase, int32_t layer)
{
    schedule->phase = (uint8_t)phase;
    schedule->layer = layer;
}

void schedule_on(struct schedule *schedule, enum schedule_stream stream)
{
    schedule->stream = (uint8_t)stream;
}

static void add_event(struct schedule *schedule, struct schedule_event event)
{
    if (schedule->err.code != ERR_NONE)
        return;
    if (schedule->count == SCHEDULE_EVENTS_MOST) {
        err_set(&schedule->err, ERR_INPUT, "the model has too many tensors to estimate");
        return;
    }
    if (ARRAY_GROW(schedule->events, schedule->capacity, schedule->count, &schedule->err))
        return;
    event.phase = schedule->phase;
    event.layer = schedule->layer;
    event.stream = schedule->stream;
    schedule->events[schedule->count++] = event;
}

uint32_t schedule_alloc(struct schedule *schedule, enum category category, uint64_t bytes)
{
    if (bytes == 0)
        return SCHEDULE_NO_BLOCK;
    add_event(schedule, (struct schedule_event){.bytes = bytes,
                                                .block = ++schedule->blocks,
                                                .category = (uint8_t)category});
    return schedule->blocks;
}

void schedule_free(struct schedule *schedule, enum category category, uint32_t block,
                   uint64_t bytes)
{
    if (block == SCHEDULE_NO_BLOCK)
        return;
    add_event(schedule,
              (struct schedule_event){
                  .bytes = bytes, .block = block, .category = (uint8_t)category, .is_free = true});
}
