/* SPDX-License-Identifier: MIT */
/* Open phases; see spans.h. */
#include "spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

/* What the map `numbers` numbers. */
enum {
    NUMBER_THREAD,
    NUMBER_RANGE,                   /* + enum phase_source; its span */
    NUMBER_PATH = NUMBER_RANGE + 3, /* + enum phase_source */
};

/* Links of an open span; both lists run from the innermost outwards. */
struct open_span {
    uint64_t range_id;
    uint32_t outer, inner;               /* of the process */
    uint32_t thread_outer, thread_inner; /* of the thread that pushed it */
};

int spans_init(struct spans *spans, const struct trace *trace, struct err *err)
{
    *spans = (struct spans){.innermost = HISTORY_NONE, .inferred_span = HISTORY_NONE};
    return inferred_build(&spans->inferred, trace, err);
}

void spans_release(struct spans *spans)
{
    address_map_release(&spans->numbers);
    free(spans->open);
    free(spans->thread_innermost);
    inferred_release(&spans->inferred);
}

/* The head of the thread's list of open spans; NULL: out of memory. */
static uint32_t *thread_head(struct spans *spans, const struct cursor *at, uint32_t thread_id)
{
    uint32_t number = address_map_get(&spans->numbers, NUMBER_THREAD, thread_id);
    if (number != ADDRESS_MAP_NONE)
        return &spans->thread_innermost[number];
    uint32_t *grown = array_grow(spans->thread_innermost, &spans->thread_capacity,
                                 spans->thread_count, sizeof *grown, at->err);
    if (!grown)
        return NULL;
    spans->thread_innermost = grown;
    number = (uint32_t)spans->thread_count++;
    grown[number] = HISTORY_NONE;
    if (address_map_put(&spans->numbers, NUMBER_THREAD, thread_id, number, at->err))
        return NULL;
    return &grown[number];
}

/* The named span that the current event belongs to; HISTORY_NONE: none. */
static uint32_t named_span(const struct spans *spans, const struct cursor *at)
{
    if (spans->innermost == HISTORY_NONE)
        return HISTORY_NONE;
    uint32_t number = address_map_get(&spans->numbers, NUMBER_THREAD, at->event->thread_id);
    if (number != ADDRESS_MAP_NONE && spans->thread_innermost[number] != HISTORY_NONE)
        return spans->thread_innermost[number];
    return spans->innermost;
}

uint32_t spans_current(const struct spans *spans, const struct cursor *at)
{
    uint32_t named = named_span(spans, at);
    return named == HISTORY_NONE ? spans->inferred_span : named;
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
static uint32_t find_path(struct spans *spans, const struct cursor *at, uint32_t parent,
                          uint64_t id, const char *name, enum phase_source source)
{
    struct history *history = at->history;
    uint64_t key = (uint64_t)parent << 32 | (id & UINT32_MAX);
    uint32_t space = NUMBER_PATH + (uint32_t)source;
    uint32_t number = address_map_get(&spans->numbers, space, key);
    if (number != ADDRESS_MAP_NONE)
        return number;
    struct path *grown = array_grow(history->paths, &history->path_capacity, history->path_count,
                                    sizeof *grown, at->err);
    if (!grown)
        return HISTORY_NONE;
    history->paths = grown;
    number = (uint32_t)history->path_count;
    grown[number] = (struct path){.parent = parent, .name = name, .source = source};
    grown[number].text = path_text(history, parent, name);
    if (!grown[number].text) {
        err_set(at->err, ERR_SYSTEM, "out of memory for the names of phases");
        return HISTORY_NONE;
    }
    history->path_count++;
    if (address_map_put(&spans->numbers, space, key, number, at->err))
        return HISTORY_NONE;
    return number;
}

/* --- opening and closing --- */

static uint32_t add_span(struct spans *spans, const struct cursor *at, uint32_t path,
                         uint32_t parent)
{
    struct history *history = at->history;
    struct span *grown = array_grow(history->spans, &history->span_capacity, history->span_count,
                                    sizeof *grown, at->err);
    if (!grown)
        return HISTORY_NONE;
    history->spans = grown;
    struct open_span *open =
        array_grow(spans->open, &spans->open_capacity, history->span_count, sizeof *open, at->err);
    if (!open)
        return HISTORY_NONE;
    spans->open = open;
    grown[history->span_count] =
        (struct span){.path = path,
                      .parent = parent,
                      .depth = parent == HISTORY_NONE ? 1 : grown[parent].depth + 1,
                      .thread_id = at->event->thread_id,
                      .begin_index = at->index,
                      .end_index = history->event_count};
    return (uint32_t)history->span_count++;
}

static void link_span(struct spans *spans, uint32_t span, uint64_t range_id, uint32_t *head)
{
    spans->open[span] = (struct open_span){.range_id = range_id,
                                           .outer = spans->innermost,
                                           .inner = HISTORY_NONE,
                                           .thread_outer = *head,
                                           .thread_inner = HISTORY_NONE};
    if (spans->innermost != HISTORY_NONE)
        spans->open[spans->innermost].inner = span;
    if (*head != HISTORY_NONE)
        spans->open[*head].thread_inner = span;
    spans->innermost = *head = span;
}

static int open_span(struct spans *spans, const struct cursor *at, uint64_t name,
                     enum phase_source source, uint64_t range_id)
{
    const struct history *history = at->history;
    uint32_t parent = named_span(spans, at);
    if (parent != HISTORY_NONE && history->spans[parent].depth >= SPAN_DEPTH_MAX)
        parent = history->spans[parent].parent;
    uint32_t path =
        find_path(spans, at, parent == HISTORY_NONE ? parent : history->spans[parent].path, name,
                  trace_string(history->trace, name), source);
    uint32_t *head = thread_head(spans, at, at->event->thread_id);
    if (path == HISTORY_NONE || !head)
        return -1;
    uint32_t span = add_span(spans, at, path, parent);
    if (span == HISTORY_NONE)
        return -1;
    link_span(spans, span, range_id, head);
    if (!range_id)
        return 0;
    return address_map_put(&spans->numbers, NUMBER_RANGE + (uint32_t)source, range_id, span,
                           at->err);
}

static int close_span(struct spans *spans, const struct cursor *at, uint32_t span)
{
    uint32_t *head = thread_head(spans, at, at->history->spans[span].thread_id);
    if (!head)
        return -1;
    struct open_span *open = spans->open;
    const struct open_span *closing = &open[span];
    if (closing->outer != HISTORY_NONE)
        open[closing->outer].inner = closing->inner;
    if (closing->inner != HISTORY_NONE)
        open[closing->inner].outer = closing->outer;
    else
        spans->innermost = closing->outer;
    if (closing->thread_outer != HISTORY_NONE)
        open[closing->thread_outer].thread_inner = closing->thread_inner;
    if (closing->thread_inner != HISTORY_NONE)
        open[closing->thread_inner].thread_outer = closing->thread_outer;
    else
        *head = closing->thread_outer;
    at->history->spans[span].end_index = at->index;
    return 0;
}

/* The thread's innermost span of that source that was pushed without a range's id. */
static uint32_t innermost_pushed(const struct spans *spans, const struct history *history,
                                 uint32_t head, enum phase_source source)
{
    while (head != HISTORY_NONE && (spans->open[head].range_id ||
                                    history->paths[history->spans[head].path].source != source))
        head = spans->open[head].thread_outer;
    return head;
}

static enum phase_source source_of(const struct event *event)
{
    return event->size_bytes == PHASE_SOURCE_NVTX ? PHASE_SOURCE_NVTX : PHASE_SOURCE_API;
}

int spans_push(struct spans *spans, const struct cursor *at)
{
    const struct event *event = at->event;
    return open_span(spans, at, event->object, source_of(event), event->address);
}

int spans_pop(struct spans *spans, const struct cursor *at)
{
    const struct event *event = at->event;
    enum phase_source source = source_of(event);
    uint32_t span;
    if (event->address) {
        span = address_map_remove(&spans->numbers, NUMBER_RANGE + (uint32_t)source, event->address);
    } else {
        const uint32_t *head = thread_head(spans, at, event->thread_id);
        if (!head)
            return -1;
        span = innermost_pushed(spans, at->history, *head, source);
    }
    if (span == HISTORY_NONE) {
        at->history->unmatched_pops_count++;
        return 0;
    }
    return close_span(spans, at, span);
}

/* --- inferred from stacks --- */

/* Host memory does not: threads that load data allocate it beside the phases. */
static bool can_begin_phase(const struct event *event)
{
    enum memory_account account = memory_account((enum memory_kind)event->memory);
    return account == ACCOUNT_device || account == ACCOUNT_managed || account == ACCOUNT_pool;
}

int spans_infer(struct spans *spans, const struct cursor *at)
{
    if (!can_begin_phase(at->event))
        return 0;
    enum inferred_phase next =
        inferred_next(&spans->inferred, spans->inferred_now, at->event->stack_id);
    if (next == spans->inferred_now)
        return 0;
    if (spans->inferred_span != HISTORY_NONE)
        at->history->spans[spans->inferred_span].end_index = at->index;
    uint32_t path =
        find_path(spans, at, HISTORY_NONE, next, inferred_name(next), PHASE_SOURCE_INFERRED);
    if (path == HISTORY_NONE)
        return -1;
    spans->inferred_now = next;
    spans->inferred_span = add_span(spans, at, path, HISTORY_NONE);
    return spans->inferred_span == HISTORY_NONE ? -1 : 0;
}
