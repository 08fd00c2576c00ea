/* SPDX-License-Identifier: MIT */
/* Failed allocations; see failures.h. */
#include "failures.h"

#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/replay/history/past.h"

/* Limit of the queue, because each allocation searches it. */
enum { WAITING_MOST = 64 };

/*
 * After this many allocations of other threads, the program counts as having gone on. Fewer
 * allocations may come from a thread that does not know of the failure yet.
 */
enum { OTHERS_MOST = 100 };

/* --- moments that failures pin --- */

static bool asks(const struct failure *failure, uint64_t index)
{
    return failure->at.index == index ||
           (failure->sample.known && failure->sample.reported_index == index);
}

static bool is_still_asked(const struct history *history, uint64_t index)
{
    for (size_t i = 0; i < history->failure_count; i++)
        if (asks(&history->failures[i], index))
            return true;
    for (size_t i = 0; i < history->waiting_count; i++)
        if (history->waiting[i].state != REFUSAL_IS_GONE &&
            asks(&history->waiting[i].failure, index))
            return true;
    for (size_t i = 0; i < history->stop_count; i++)
        if (history->stops[i].index == index)
            return true;
    return false;
}

static int pin(const struct cursor *at, const struct failure *failure)
{
    const struct memory_sample *sample = &failure->sample;
    return past_pin(at->history, failure->at.index, at->err) ||
                   (sample->known && past_pin(at->history, sample->reported_index, at->err))
               ? -1
               : 0;
}

static void unpin(struct history *history, const struct failure *failure)
{
    const struct memory_sample *sample = &failure->sample;
    if (!is_still_asked(history, failure->at.index))
        past_unpin(history, failure->at.index);
    if (sample->known && !is_still_asked(history, sample->reported_index))
        past_unpin(history, sample->reported_index);
}

/*
 * No pin is added for reported_index: the failure happened earlier, and its own moment is pinned.
 */
static void learn(struct failure *failure, uint64_t sample_index, uint64_t reported_index)
{
    struct memory_sample *sample = &failure->sample;
    if (sample->known && sample->life.begin_index == sample_index)
        sample->reported_index = reported_index;
}

void failures_learn(struct history *history, uint64_t sample_index, uint64_t reported_index)
{
    for (size_t i = 0; i < history->failure_count; i++)
        learn(&history->failures[i], sample_index, reported_index);
    for (size_t i = 0; i < history->waiting_count; i++)
        learn(&history->waiting[i].failure, sample_index, reported_index);
    if (!is_still_asked(history, sample_index))
        past_unpin(history, sample_index);
}

/* --- those that are known --- */

/* Drops the oldest of the last failures. */
static void drop_failure(struct history *history)
{
    struct failure *place = &history->failures[FAILURES_AT_EACH_END];
    const struct failure dropped = *place;
    memmove(place, place + 1, (--history->failure_count - FAILURES_AT_EACH_END) * sizeof *place);
    if (dropped.number == history->asked_failure_number)
        history->asked_failure = dropped;
    unpin(history, &dropped);
}

static int keep_failure(const struct cursor *at, const struct failure *failure)
{
    struct history *history = at->history;
    if (ARRAY_GROW(history->failures, history->failure_capacity, history->failure_count, at->err))
        return -1;
    struct failure *added = &history->failures[history->failure_count++];
    *added = *failure;
    added->number = ++history->failures_in_all;
    history->failures_of_device[DEVICE_SLOT(history->accounts[failure->account].device)]++;
    if (history->failure_count > 2 * FAILURES_AT_EACH_END)
        drop_failure(history);
    return 0;
}

/* --- those that wait --- */

struct waiting_failure *failures_wait(const struct cursor *at, const struct failure *failure)
{
    struct history *history = at->history;
    if (ARRAY_GROW(history->waiting, history->waiting_capacity, history->waiting_count, at->err))
        return NULL;
    struct waiting_failure *added = &history->waiting[history->waiting_count++];
    *added = (struct waiting_failure){.failure = *failure, .state = REFUSAL_WAITS};
    return pin(at, failure) ? NULL : added;
}

static int settle_first(const struct cursor *at)
{
    struct history *history = at->history;
    const struct waiting_failure first = history->waiting[0];
    memmove(history->waiting, history->waiting + 1,
            --history->waiting_count * sizeof *history->waiting);
    if (first.state != REFUSAL_IS_GONE)
        return keep_failure(at, &first.failure);
    unpin(history, &first.failure);
    return 0;
}

int failures_settle(const struct cursor *at)
{
    const struct history *history = at->history;
    while (history->waiting_count &&
           (history->waiting[0].state != REFUSAL_WAITS || history->waiting_count > WAITING_MOST))
        if (settle_first(at))
            return -1;
    return 0;
}

int failures_finish(const struct cursor *at)
{
    while (at->history->waiting_count)
        if (settle_first(at))
            return -1;
    return 0;
}

/* --- what came after --- */

/* Notes that the program went on after the failure. Returns true if this is still not known. */
static bool note_attempt(struct failure *failure, const struct event *event)
{
    if (failure->went_on)
        return false;
    failure->others_count++;
    const bool is_own = failure->is_of_backward || failure->event.thread_id == event->thread_id;
    failure->went_on = is_own || failure->others_count == OTHERS_MOST;
    failure->went_on_stack_id = is_own ? event->stack_id : 0;
    return !failure->went_on;
}

void failures_note_attempt(const struct cursor *at)
{
    struct history *history = at->history;
    bool is_open = false;
    if (!history->has_open_failure)
        return;
    for (size_t i = 0; i < history->failure_count; i++)
        is_open |= note_attempt(&history->failures[i], at->event);
    for (size_t i = 0; i < history->waiting_count; i++)
        is_open |= note_attempt(&history->waiting[i].failure, at->event);
    history->has_open_failure = is_open;
}

struct failure *failures_last_of_thread(const struct cursor *at)
{
    const struct history *history = at->history;
    const uint32_t thread_id = at->event->thread_id;
    for (size_t i = history->waiting_count; i-- > 0;)
        if (history->waiting[i].state != REFUSAL_IS_GONE &&
            history->waiting[i].failure.event.thread_id == thread_id)
            return &history->waiting[i].failure;
    for (size_t i = history->failure_count; i-- > 0;)
        if (history->failures[i].event.thread_id == thread_id)
            return &history->failures[i];
    return NULL;
}
