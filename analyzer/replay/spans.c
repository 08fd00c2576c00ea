/* SPDX-License-Identifier: MIT */
/*
 * Which phases are open while replaying, and which one an event belongs to: the innermost of its
 * own thread, else the one most recently opened in the process. Two lists run through the open
 * spans, one of the process and one for each thread.
 *
 * A phase inferred from stacks is in neither list: one at a time, it has what no other phase has.
 */
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

void replay_spans_init(struct replay *replay)
{
    replay->innermost = replay->inferred_span = HISTORY_NONE;
}

/* The head of the thread's list of open spans; NULL: no memory. */
static uint32_t *thread_head(struct replay *replay, uint32_t thread_id)
{
    uint32_t number = address_map_get(&replay->names, NAME_THREAD, thread_id), *grown;

    if (number != ADDRESS_MAP_NONE)
        return &replay->thread_innermost[number];
    grown = array_grow(replay->thread_innermost, &replay->thread_capacity, replay->thread_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return NULL;
    replay->thread_innermost = grown;
    number = (uint32_t)replay->thread_count++;
    grown[number] = HISTORY_NONE;
    if (address_map_put(&replay->names, NAME_THREAD, thread_id, number, replay->err))
        return NULL;
    return &grown[number];
}

/* The named span the current event belongs to, or HISTORY_NONE. */
static uint32_t named_span(const struct replay *replay)
{
    uint32_t number;

    if (replay->innermost == HISTORY_NONE)
        return HISTORY_NONE;
    number = address_map_get(&replay->names, NAME_THREAD, replay->event->thread_id);
    if (number != ADDRESS_MAP_NONE && replay->thread_innermost[number] != HISTORY_NONE)
        return replay->thread_innermost[number];
    return replay->innermost;
}

uint32_t replay_span(struct replay *replay)
{
    uint32_t named = named_span(replay);

    return named == HISTORY_NONE ? replay->inferred_span : named;
}

/* --- paths --- */

static char *path_text(const struct history *history, uint32_t parent, const char *name)
{
    const char *before = parent == HISTORY_NONE ? "" : history->paths[parent].text;
    size_t bytes = strlen(before) + strlen(name) + sizeof "/";
    char *text = malloc(bytes);

    if (text)
        snprintf(text, bytes, "%s%s%s", before, *before ? "/" : "", name);
    return text;
}

/* `id` tells the names of one source apart. */
static uint32_t path_of(struct replay *replay, uint32_t parent, uint64_t id, const char *name,
                        enum phase_source source)
{
    struct history *history = replay->history;
    uint64_t key = (uint64_t)parent << 32 | (id & UINT32_MAX);
    uint32_t space = NAME_PATH + (uint32_t)source;
    uint32_t number = address_map_get(&replay->names, space, key);
    struct path *grown;

    if (number != ADDRESS_MAP_NONE)
        return number;
    grown = array_grow(history->paths, &history->path_capacity, history->path_count, sizeof *grown,
                       replay->err);
    if (!grown)
        return HISTORY_NONE;
    history->paths = grown;
    number = (uint32_t)history->path_count;
    grown[number] = (struct path){.parent = parent, .name = name, .source = source};
    grown[number].text = path_text(history, parent, name);
    if (!grown[number].text) {
        err_set(replay->err, ERR_SYSTEM, "not enough memory for the names of phases");
        return HISTORY_NONE;
    }
    history->path_count++;
    if (address_map_put(&replay->names, space, key, number, replay->err))
        return HISTORY_NONE;
    return number;
}

/* --- opening and closing --- */

static uint32_t add_span(struct replay *replay, uint32_t path, uint32_t parent)
{
    struct history *history = replay->history;
    struct span *grown;
    struct open_span *open;

    grown = array_grow(history->spans, &history->span_capacity, history->span_count, sizeof *grown,
                       replay->err);
    if (!grown)
        return HISTORY_NONE;
    history->spans = grown;
    open = array_grow(replay->open, &replay->open_capacity, history->span_count, sizeof *open,
                      replay->err);
    if (!open)
        return HISTORY_NONE;
    replay->open = open;
    grown[history->span_count] =
        (struct span){.path = path,
                      .parent = parent,
                      .depth = parent == HISTORY_NONE ? 1 : grown[parent].depth + 1,
                      .thread_id = replay->event->thread_id,
                      .begin_index = replay->index,
                      .end_index = history->event_count};
    return (uint32_t)history->span_count++;
}

static int open_span(struct replay *replay, uint64_t name, enum phase_source source,
                     uint64_t range_id)
{
    struct history *history = replay->history;
    uint32_t parent = named_span(replay), path, span, *head;

    if (parent != HISTORY_NONE && history->spans[parent].depth >= SPAN_DEPTH_MAX)
        parent = history->spans[parent].parent;
    path = path_of(replay, parent == HISTORY_NONE ? parent : history->spans[parent].path, name,
                   trace_string(history->trace, name), source);
    head = thread_head(replay, replay->event->thread_id);
    if (path == HISTORY_NONE || !head)
        return -1;
    span = add_span(replay, path, parent);
    if (span == HISTORY_NONE)
        return -1;
    replay->open[span] = (struct open_span){.range_id = range_id,
                                            .outer = replay->innermost,
                                            .inner = HISTORY_NONE,
                                            .thread_outer = *head,
                                            .thread_inner = HISTORY_NONE};
    if (replay->innermost != HISTORY_NONE)
        replay->open[replay->innermost].inner = span;
    if (*head != HISTORY_NONE)
        replay->open[*head].thread_inner = span;
    replay->innermost = *head = span;
    if (!range_id)
        return 0;
    return address_map_put(&replay->names, NAME_RANGE + (uint32_t)source, range_id, span,
                           replay->err);
}

static int close_span(struct replay *replay, uint32_t span)
{
    struct open_span *open = replay->open, *closing = &open[span];
    uint32_t *head = thread_head(replay, replay->history->spans[span].thread_id);

    if (!head)
        return -1;
    if (closing->outer != HISTORY_NONE)
        open[closing->outer].inner = closing->inner;
    if (closing->inner != HISTORY_NONE)
        open[closing->inner].outer = closing->outer;
    else
        replay->innermost = closing->outer;
    if (closing->thread_outer != HISTORY_NONE)
        open[closing->thread_outer].thread_inner = closing->thread_inner;
    if (closing->thread_inner != HISTORY_NONE)
        open[closing->thread_inner].thread_outer = closing->thread_outer;
    else
        *head = closing->thread_outer;
    replay->history->spans[span].end_index = replay->index;
    return 0;
}

/* The innermost stack-like span of the thread with that source. */
static uint32_t innermost_of(const struct replay *replay, uint32_t head, enum phase_source source)
{
    const struct history *history = replay->history;

    while (head != HISTORY_NONE && (replay->open[head].range_id ||
                                    history->paths[history->spans[head].path].source != source))
        head = replay->open[head].thread_outer;
    return head;
}

static enum phase_source source_of(const struct event *event)
{
    return event->size_bytes == PHASE_SOURCE_NVTX ? PHASE_SOURCE_NVTX : PHASE_SOURCE_API;
}

int replay_push(struct replay *replay)
{
    const struct event *event = replay->event;

    return open_span(replay, event->object, source_of(event), event->address);
}

int replay_pop(struct replay *replay)
{
    const struct event *event = replay->event;
    enum phase_source source = source_of(event);
    uint32_t span, *head;

    if (event->address) {
        span = address_map_remove(&replay->names, NAME_RANGE + (uint32_t)source, event->address);
    } else {
        head = thread_head(replay, event->thread_id);
        if (!head)
            return -1;
        span = innermost_of(replay, *head, source);
    }
    if (span == HISTORY_NONE) {
        replay->history->unmatched_pops_count++;
        return 0;
    }
    return close_span(replay, span);
}

/* --- inferred from stacks --- */

/* Memory of the host is asked for on the side, by threads that load data. */
static bool has_a_say(const struct event *event)
{
    enum memory_account account = memory_account((enum memory_kind)event->memory);

    return account == ACCOUNT_device || account == ACCOUNT_managed || account == ACCOUNT_pool;
}

int replay_infer(struct replay *replay)
{
    const struct event *event = replay->event;
    struct history *history = replay->history;
    enum inferred_phase next;
    uint32_t path;

    if (!has_a_say(event))
        return 0;
    next = inferred_next(&replay->inferred, replay->inferred_now, event->stack_id);
    if (next == replay->inferred_now)
        return 0;
    if (replay->inferred_span != HISTORY_NONE)
        history->spans[replay->inferred_span].end_index = replay->index;
    path = path_of(replay, HISTORY_NONE, next, inferred_name(next), PHASE_SOURCE_INFERRED);
    if (path == HISTORY_NONE)
        return -1;
    replay->inferred_now = next;
    replay->inferred_span = add_span(replay, path, HISTORY_NONE);
    return replay->inferred_span == HISTORY_NONE ? -1 : 0;
}
