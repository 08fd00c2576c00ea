/* SPDX-License-Identifier: MIT */
/* Samples of free memory; see memory_samples.h. */
#include "memory_samples.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "analyzer/replay/history/past.h"
#include "refused/failures.h"

/* Two samples of a call, and room for samples of failed allocations between them. */
enum { SAMPLES_KEPT = 4 };

/* A cuMemGetInfo sample taken inside another call. */
struct inner_sample {
    uint64_t free_bytes;
    uint64_t own_bytes; /* recorded bytes that the process held on the device then */
    uint64_t index;     /* of the sample's event */
    uint16_t hook_id, call_id;
    int8_t device;
};

struct thread_samples {
    struct inner_sample items[SAMPLES_KEPT]; /* newest: items[(count - 1) % SAMPLES_KEPT] */
    size_t count;                            /* samples ever added */
};

void memory_samples_release(struct memory_samples *samples)
{
    free(samples->threads);
    pair_map_release(&samples->by_thread);
}

static struct thread_samples *find_thread(const struct memory_samples *samples,
                                          const struct cursor *at)
{
    uint32_t number = pair_map_get(&samples->by_thread, 0, at->event->thread_id);
    return number == PAIR_MAP_NONE ? NULL : &samples->threads[number];
}

static struct thread_samples *add_thread(struct memory_samples *samples, const struct cursor *at)
{
    if (ARRAY_GROW(samples->threads, samples->capacity, samples->count, at->err))
        return NULL;
    if (pair_map_put(&samples->by_thread, 0, at->event->thread_id, (uint32_t)samples->count,
                     at->err))
        return NULL;
    samples->threads[samples->count] = (struct thread_samples){0};
    return &samples->threads[samples->count++];
}

/* Keeps a sample that was taken inside another call until the event of that call comes. */
static int keep_for_call(struct memory_samples *samples, const struct cursor *at,
                         const struct accounts *accounts)
{
    const struct event *event = at->event;
    struct thread_samples *thread = find_thread(samples, at);
    if (!thread)
        thread = add_thread(samples, at);
    if (!thread)
        return -1;
    thread->items[thread->count++ % SAMPLES_KEPT] = (struct inner_sample){
        .free_bytes = event->address,
        .own_bytes = accounts_device_bytes(accounts, at->history, event->device),
        .index = at->index,
        .hook_id = event->hook_id,
        .call_id = event->call_id,
        .device = event->device};
    return 0;
}

int memory_samples_add(struct memory_samples *samples, const struct cursor *at,
                       const struct accounts *accounts)
{
    const struct event *event = at->event;
    if (event->result != 0 || event->device == DEVICE_UNKNOWN)
        return 0;
    struct memory_sample *last = &at->history->samples[DEVICE_SLOT(event->device)], ended = *last;
    last->known = false; /* else past_end_sample keeps it for its own moment */
    ended.life.end_index = at->index;
    if (ended.known && past_end_sample(at->history, &ended, at->err))
        return -1;
    *last = (struct memory_sample){.known = true,
                                   .life = {at->index, INDEX_NONE},
                                   .device = event->device,
                                   .reported_index = at->index,
                                   .thread_id = event->thread_id,
                                   .call_id = event->nested ? event->call_id : 0,
                                   .free_bytes = event->address,
                                   .total_bytes = event->size_bytes};
    return event->nested ? keep_for_call(samples, at, accounts) : 0;
}

/*
 * The sample was taken inside the call of the current event, so it describes the state after this
 * event.
 */
static void tell_of_current(const struct cursor *at, const struct inner_sample *inner)
{
    struct history *history = at->history;
    struct memory_sample *last = &history->samples[DEVICE_SLOT(inner->device)];
    if (last->life.begin_index == inner->index)
        last->reported_index = at->index;
    failures_learn(history, inner->index, at->index);
}

static struct inner_sample *newest_sample(struct thread_samples *thread)
{
    return &thread->items[(thread->count - 1) % SAMPLES_KEPT];
}

static bool is_of_call(const struct inner_sample *sample, const struct event *event)
{
    return sample->hook_id == event->hook_id && sample->call_id == event->call_id;
}

/* Removes and returns the newest sample of the current event's call. Drops samples of other calls
 * that are newer. NULL: no sample of this call is left. */
static const struct inner_sample *take_sample(const struct event *event,
                                              struct thread_samples *thread, size_t *left)
{
    while (*left) {
        const struct inner_sample *sample = newest_sample(thread);
        thread->count--;
        --*left;
        if (is_of_call(sample, event))
            return sample;
    }
    return NULL;
}

void memory_samples_tell(struct memory_samples *samples, const struct cursor *at)
{
    struct thread_samples *thread = at->event->call_id ? find_thread(samples, at) : NULL;
    if (!thread || !thread->count || !is_of_call(newest_sample(thread), at->event))
        return;
    tell_of_current(at, newest_sample(thread));
    thread->count--;
}

int64_t memory_samples_taken(struct memory_samples *samples, const struct cursor *at)
{
    struct thread_samples *thread = find_thread(samples, at);
    if (!thread)
        return 0;
    size_t left = thread->count < SAMPLES_KEPT ? thread->count : SAMPLES_KEPT;
    const struct inner_sample *after = take_sample(at->event, thread, &left);
    const struct inner_sample *before = take_sample(at->event, thread, &left);
    if (after)
        tell_of_current(at, after);
    if (!before || before->device != after->device)
        return 0;
    return (int64_t)(before->free_bytes - after->free_bytes -
                     (after->own_bytes - before->own_bytes));
}
