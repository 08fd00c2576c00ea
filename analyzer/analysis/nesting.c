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

#include "analyzer/util/address_map.h"
#include "analyzer/util/array.h"

static bool is_sample(const struct event *event)
{
    return event->kind == EVENT_DEVICE_MEMORY || event->kind == EVENT_POOL_USAGE;
}

static int add_nested(struct nesting *nesting, size_t *capacity, uint32_t index, struct err *err)
{
    struct nested *grown = array_grow(nesting->items, capacity, nesting->count, sizeof *grown, err);

    if (!grown)
        return -1;
    nesting->items = grown;
    grown[nesting->count++] = (struct nested){.event = index, .parent = HISTORY_NONE};
    return 0;
}

static int collect_nested(struct nesting *nesting, const struct trace *trace, struct err *err)
{
    size_t capacity = 0;

    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->events[i].nested && !is_sample(&trace->events[i]) &&
            add_nested(nesting, &capacity, i, err))
            return -1;
    return 0;
}

/* Remembers, by thread, a call that other events happened in. */
static int note_call(struct address_map *calls, const struct trace *trace, uint32_t index,
                     struct err *err)
{
    const struct event *event = &trace->events[index];

    if (event->nested || !event->call_id)
        return 0;
    return address_map_put(calls, 0, event->thread_id, index, err);
}

/* The thread's previous call, if the nested event happened in it. */
static void match(struct nested *nested, const struct address_map *calls, const struct trace *trace)
{
    const struct event *event = &trace->events[nested->event];
    uint32_t call = address_map_get(calls, 0, event->thread_id);

    if (call != ADDRESS_MAP_NONE && trace->events[call].call_id == event->call_id)
        nested->parent = call;
}

static int find_before(struct nesting *nesting, const struct trace *trace, struct err *err)
{
    struct address_map calls = {0};
    uint32_t index = 0;
    int status = 0;

    for (size_t i = 0; i < nesting->count && !status; i++) {
        for (; index < nesting->items[i].event && !status; index++)
            status = note_call(&calls, trace, index, err);
        match(&nesting->items[i], &calls, trace);
    }
    address_map_release(&calls);
    return status;
}

static int find_behind(struct nesting *nesting, const struct trace *trace, struct err *err)
{
    struct address_map calls = {0};
    uint32_t index = (uint32_t)trace->event_count;
    int status = 0;

    for (size_t i = nesting->count; i-- > 0 && !status;) {
        while (index > nesting->items[i].event && !status)
            status = note_call(&calls, trace, --index, err);
        match(&nesting->items[i], &calls, trace);
    }
    address_map_release(&calls);
    return status;
}

int nesting_find(struct nesting *nesting, const struct trace *trace, struct err *err)
{
    *nesting = (struct nesting){0};
    if (!collect_nested(nesting, trace, err) && !find_before(nesting, trace, err) &&
        !find_behind(nesting, trace, err))
        return 0;
    nesting_release(nesting);
    return -1;
}

void nesting_release(struct nesting *nesting)
{
    free(nesting->items);
    *nesting = (struct nesting){0};
}
