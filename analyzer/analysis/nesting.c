/* SPDX-License-Identifier: MIT */
/*
 * Events inside other calls; see nesting.h.
 *
 *     thread  ──┬── nested ── nested ── call ──┬── free ── nested ──┬──►   one call_id each
 *               └─ an allocation is numbered   └─ a free is         │
 *                  after what happened in it      before it
 */
#include "nesting.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

struct nesting_thread {
    struct nested_call last; /* the last hooked call, which may contain later events */
    uint32_t waiting;        /* last nested event whose call is unknown yet; HISTORY_NONE: none */
};

static struct nesting_thread *find_thread(struct nesting *nesting, uint32_t thread_id,
                                          struct err *err)
{
    uint32_t number = pair_map_get(&nesting->by_id, 0, thread_id);
    if (number != PAIR_MAP_NONE)
        return &nesting->threads[number];
    if (ARRAY_GROW(nesting->threads, nesting->thread_capacity, nesting->thread_count, err))
        return NULL;
    number = (uint32_t)nesting->thread_count++;
    nesting->threads[number] = (struct nesting_thread){.waiting = HISTORY_NONE};
    return pair_map_put(&nesting->by_id, 0, thread_id, number, err) ? NULL
                                                                    : &nesting->threads[number];
}

static int add_nested(struct nesting *nesting, struct nesting_thread *thread,
                      const struct event *event, struct err *err)
{
    if (ARRAY_GROW(nesting->items, nesting->capacity, nesting->count, err))
        return -1;
    nesting->items[nesting->count] =
        (struct nested){.own = {event->seq, event->hook_id, event->call_id},
                        .kind = event->kind,
                        .waiting = thread->waiting};
    if (thread->last.seq && thread->last.call_id == event->call_id)
        nesting->items[nesting->count].parent = thread->last;
    thread->waiting = (uint32_t)nesting->count++;
    return 0;
}

/* Ends a hooked call. An allocation gets its number after the events inside it. Therefore the
 * parent of these events is known only now. */
static void end_call(struct nesting *nesting, struct nesting_thread *thread,
                     const struct event *event)
{
    thread->last = (struct nested_call){event->seq, event->hook_id, event->call_id};
    for (; thread->waiting != HISTORY_NONE;
         thread->waiting = nesting->items[thread->waiting].waiting) {
        struct nested *nested = &nesting->items[thread->waiting];
        if (nested->own.call_id == event->call_id)
            nested->parent = thread->last;
    }
}

static int on_event(void *self, const struct cursor *at)
{
    struct nesting *nesting = self;
    const struct event *event = at->event;
    bool is_sample = event->kind == EVENT_DEVICE_MEMORY || event->kind == EVENT_POOL_USAGE;
    if (event->nested ? is_sample : !event->call_id)
        return 0;
    struct nesting_thread *thread = find_thread(nesting, event->thread_id, at->err);
    if (!thread)
        return -1;
    if (event->nested)
        return add_nested(nesting, thread, event, at->err);
    end_call(nesting, thread, event);
    return 0;
}

struct observer nesting_observer(struct nesting *nesting)
{
    return (struct observer){.self = nesting, .on_event = on_event};
}

void nesting_release(struct nesting *nesting)
{
    free(nesting->items);
    free(nesting->threads);
    pair_map_release(&nesting->by_id);
    *nesting = (struct nesting){0};
}
