/* SPDX-License-Identifier: MIT */
/* Failed allocations; see failures.h. */
#include "failures.h"

#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/replay/history/past.h"

/* What the map holds of a thread's last allocation. */
enum { NO_DRIVER_FAILURE, DRIVER_FAILURE };

void failures_release(struct failures *failures)
{
    address_map_release(&failures->driver_failed);
}

int failures_note_alloc(struct failures *failures, const struct cursor *at)
{
    const struct event *event = at->event;
    uint32_t state =
        event->memory != MEMORY_TENSOR && event->result != 0 ? DRIVER_FAILURE : NO_DRIVER_FAILURE;
    if (failures->has_written && failures->thread_id == event->thread_id &&
        failures->state == state)
        return 0;
    failures->has_written = true;
    failures->thread_id = event->thread_id;
    failures->state = state;
    return address_map_put(&failures->driver_failed, 0, event->thread_id, state, at->err);
}

/* Whether the pool itself refused: no driver call of the thread failed before it. */
static bool refused_by_framework(const struct failures *failures, const struct event *event)
{
    return event->memory == MEMORY_TENSOR &&
           address_map_get(&failures->driver_failed, 0, event->thread_id) != DRIVER_FAILURE;
}

static bool is_still_asked(const struct history *history, uint64_t index)
{
    for (size_t i = 0; i < history->failure_count; i++) {
        const struct failure *failure = &history->failures[i];
        if (failure->at.index == index ||
            (failure->sample.known && failure->sample.told_index == index))
            return true;
    }
    for (size_t i = 0; i < history->stop_count; i++)
        if (history->stops[i].index == index)
            return true;
    return false;
}

/* Drops the oldest of the last ones. */
static void drop_failure(struct history *history)
{
    struct failure *place = &history->failures[FAILURES_AT_EACH_END];
    const struct failure dropped = *place;
    memmove(place, place + 1, (--history->failure_count - FAILURES_AT_EACH_END) * sizeof *place);
    if (!is_still_asked(history, dropped.at.index))
        past_unpin(history, dropped.at.index);
    if (dropped.sample.known && !is_still_asked(history, dropped.sample.told_index))
        past_unpin(history, dropped.sample.told_index);
}

/* They happened before what the sample speaks of, so their own moments do for both. */
void failures_learn(struct history *history, uint64_t sample_index, uint64_t told_index)
{
    for (size_t i = history->failure_count; i-- > 0;) {
        struct memory_sample *sample = &history->failures[i].sample;
        if (sample->known && sample->life.begin_index == sample_index)
            sample->told_index = told_index;
    }
    if (!is_still_asked(history, sample_index))
        past_unpin(history, sample_index);
}

int failures_add(struct failures *failures, const struct cursor *at, uint32_t stock, uint32_t path)
{
    struct history *history = at->history;
    const struct memory_sample *sample =
        &history->samples[DEVICE_SLOT(history->stocks[stock].device)];
    struct failure *grown = array_grow(history->failures, &history->failure_capacity,
                                       history->failure_count, sizeof *grown, at->err);
    if (!grown)
        return -1;
    history->failures = grown;
    grown[history->failure_count++] =
        (struct failure){.number = ++history->failures_in_all,
                         .at = cursor_moment(at),
                         .event = *at->event,
                         .path = path,
                         .stock = stock,
                         .refused_by_framework = refused_by_framework(failures, at->event),
                         .sample = *sample};
    if (past_pin(history, at->index, at->err) ||
        (sample->known && past_pin(history, sample->told_index, at->err)))
        return -1;
    if (history->failure_count > 2 * FAILURES_AT_EACH_END)
        drop_failure(history);
    return 0;
}
