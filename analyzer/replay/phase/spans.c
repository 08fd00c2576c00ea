/* SPDX-License-Identifier: MIT */
/* Open phases; see spans.h. */
#include "spans.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "analyzer/replay/history/observer.h"
#include "library_domains.h"

/* Key spaces of the map `numbers`: threads, and spans of ranges by source. */
enum { NUMBER_THREAD, NUMBER_RANGE /* + enum phase_source */ };

/* Stored instead of a span for a range that is no phase. */
#define SPAN_LEFT_OUT (PAIR_MAP_NONE - 1)

enum { PUSH_SOURCES = PHASE_SOURCE_NVTX + 1 };

struct thread_spans {
    uint32_t innermost;
    uint32_t pushed[PUSH_SOURCES]; /* innermost span without an id, of each source */
};

int spans_init(struct spans *spans, const struct trace *trace, struct err *err)
{
    *spans = (struct spans){.innermost = HISTORY_NONE,
                            .beside_index = INDEX_NONE,
                            .inferred_span = HISTORY_NONE,
                            .recent_thread = PAIR_MAP_NONE};
    return inferred_build(&spans->inferred, trace, err);
}

void spans_release(struct spans *spans)
{
    pair_map_release(&spans->numbers);
    paths_release(&spans->paths);
    slots_release(&spans->slots);
    free(spans->items);
    free(spans->threads);
    inferred_release(&spans->inferred);
    forwards_release(&spans->forwards);
}

/*
 * Index of the thread's lists, cached because a thread often has many events in a row.
 * PAIR_MAP_NONE: the thread never opened a span.
 */
static uint32_t known_thread(struct spans *spans, uint32_t thread_id)
{
    if (spans->recent_thread_id != thread_id) {
        spans->recent_thread_id = thread_id;
        spans->recent_thread = pair_map_get(&spans->numbers, NUMBER_THREAD, thread_id);
    }
    return spans->recent_thread;
}

/* Finds or adds the thread's lists. HISTORY_NONE: out of memory. */
static uint32_t find_thread(struct spans *spans, const struct cursor *at)
{
    uint32_t thread_id = at->event->thread_id;
    uint32_t number = known_thread(spans, thread_id);
    if (number != PAIR_MAP_NONE)
        return number;
    if (ARRAY_GROW(spans->threads, spans->thread_capacity, spans->thread_count, at->err))
        return HISTORY_NONE;
    number = (uint32_t)spans->thread_count++;
    spans->threads[number] = (struct thread_spans){HISTORY_NONE, {HISTORY_NONE, HISTORY_NONE}};
    if (pair_map_put(&spans->numbers, NUMBER_THREAD, thread_id, number, at->err))
        return HISTORY_NONE;
    return spans->recent_thread = number;
}

/* The named span of the current event; HISTORY_NONE: none. */
static uint32_t named_span(struct spans *spans, const struct cursor *at)
{
    if (spans->innermost == HISTORY_NONE)
        return HISTORY_NONE;
    uint32_t number = known_thread(spans, at->event->thread_id);
    if (number != PAIR_MAP_NONE && spans->threads[number].innermost != HISTORY_NONE)
        return spans->threads[number].innermost;
    return spans->innermost;
}

/* The inferred span of the current event; HISTORY_NONE: none. */
static uint32_t inferred_span(const struct spans *spans, const struct cursor *at)
{
    return at->index == spans->beside_index ? HISTORY_NONE : spans->inferred_span;
}

uint32_t spans_current(struct spans *spans, const struct cursor *at)
{
    uint32_t named = named_span(spans, at);
    return named == HISTORY_NONE ? inferred_span(spans, at) : named;
}

/*
 * The stack of an optimizer or of a backward is certain. So a range of the program hides it only if
 * it began later, which means inside it.
 */
uint32_t spans_deciding(struct spans *spans, const struct cursor *at)
{
    const uint32_t named = named_span(spans, at), inferred = inferred_span(spans, at);
    const uint32_t deciding = named == HISTORY_NONE ? named : spans->items[named].deciding;
    if (deciding == HISTORY_NONE || inferred == HISTORY_NONE)
        return deciding == HISTORY_NONE ? inferred : deciding;
    const bool is_certain =
        spans->inferred_now == INFERRED_backward || spans->inferred_now == INFERRED_optimizer;
    return is_certain && spans->items[inferred].ordinal > spans->items[deciding].ordinal ? inferred
                                                                                         : deciding;
}

void spans_hold(struct spans *spans, uint32_t span)
{
    if (span != HISTORY_NONE)
        spans->items[span].references_count++;
}

void spans_let_go(struct spans *spans, uint32_t span)
{
    while (span != HISTORY_NONE && --spans->items[span].references_count == 0) {
        slots_give_back(&spans->slots, span);
        span = spans->items[span].parent;
    }
}

static int show_span(const struct cursor *at, uint32_t span, bool begins)
{
    for (size_t i = 0; i < at->observers->count; i++) {
        const struct observer *observer = &at->observers->items[i];
        if (observer->on_span && observer->on_span(observer->self, at, span, begins))
            return -1;
    }
    return 0;
}

/* --- opening --- */

static uint32_t add_span(struct spans *spans, const struct cursor *at, uint32_t path,
                         uint32_t parent)
{
    uint32_t number = slots_take(&spans->slots, at->err);
    if (number == SLOT_NONE)
        return HISTORY_NONE;
    if (ARRAY_GROW(spans->items, spans->capacity, number, at->err))
        return HISTORY_NONE;
    const struct path *named = &at->history->paths[path];
    spans->items[number] = (struct span){
        .life = {at->index, INDEX_NONE},
        .ordinal = spans->opened_count++,
        .path = path,
        .parent = parent,
        .deciding = named->rule != PATH_RULE_NONE ? number
                    : parent == HISTORY_NONE      ? HISTORY_NONE
                                                  : spans->items[parent].deciding,
        .depth = parent == HISTORY_NONE ? 1 : spans->items[parent].depth + 1,
        .references_count = 1,
        .outer = HISTORY_NONE,
        .inner = HISTORY_NONE,
        .thread_outer = HISTORY_NONE,
        .thread_inner = HISTORY_NONE,
        .pushed_outer = HISTORY_NONE,
    };
    spans_hold(spans, parent);
    spans->asked_count += named->is_asked;
    if (named->rule == PATH_RULE_BACKWARD && !spans->backward_count++)
        at->history->rounds_count++;
    return show_span(at, number, true) ? HISTORY_NONE : number;
}

static void link_span(struct spans *spans, uint32_t number, enum phase_source source,
                      uint32_t thread)
{
    struct span *items = spans->items, *span = &items[number];
    struct thread_spans *lists = &spans->threads[thread];
    span->thread = thread;
    span->outer = spans->innermost;
    span->thread_outer = lists->innermost;
    if (span->outer != HISTORY_NONE)
        items[span->outer].inner = number;
    if (span->thread_outer != HISTORY_NONE)
        items[span->thread_outer].thread_inner = number;
    spans->innermost = lists->innermost = number;
    if (span->range_id)
        return;
    span->pushed_outer = lists->pushed[source];
    lists->pushed[source] = number;
}

static enum phase_source source_of(const struct event *event)
{
    return event->size_bytes == PHASE_SOURCE_NVTX ? PHASE_SOURCE_NVTX : PHASE_SOURCE_API;
}

/* Only ranges with an id can be left out, because only the end of such a range names the begin. */
static bool is_of_library(const struct cursor *at)
{
    const struct event *event = at->event;
    return event->address && event->stream && event->stream != UINT64_MAX &&
           source_of(event) == PHASE_SOURCE_NVTX &&
           library_domains_have(trace_string(at->history->trace, event->stream));
}

static int leave_out(struct spans *spans, const struct cursor *at)
{
    at->history->library_ranges_count++;
    return pair_map_put(&spans->numbers, NUMBER_RANGE + PHASE_SOURCE_NVTX, at->event->address,
                        SPAN_LEFT_OUT, at->err);
}

int spans_push(struct spans *spans, const struct cursor *at)
{
    const struct event *event = at->event;
    enum phase_source source = source_of(event);
    if (!spans->takes_libraries && is_of_library(at))
        return leave_out(spans, at);
    uint32_t parent = named_span(spans, at);
    if (parent != HISTORY_NONE && spans->items[parent].depth >= SPAN_DEPTH_MAX)
        parent = spans->items[parent].parent;
    uint32_t path =
        paths_find(&spans->paths, at, parent == HISTORY_NONE ? parent : spans->items[parent].path,
                   event->object, trace_string(at->history->trace, event->object), source);
    uint32_t thread = find_thread(spans, at);
    if (path == HISTORY_NONE || thread == HISTORY_NONE)
        return -1;
    uint32_t span = add_span(spans, at, path, parent);
    if (span == HISTORY_NONE)
        return -1;
    spans->items[span].range_id = event->address;
    link_span(spans, span, source, thread);
    if (!event->address)
        return 0;
    return pair_map_put(&spans->numbers, NUMBER_RANGE + (uint32_t)source, event->address, span,
                        at->err);
}

/* --- closing --- */

static int end_span(struct spans *spans, const struct cursor *at, uint32_t number)
{
    if (show_span(at, number, false))
        return -1;
    spans->items[number].life.end_index = at->index;
    const struct path *named = &at->history->paths[spans->items[number].path];
    spans->asked_count -= named->is_asked;
    spans->backward_count -= named->rule == PATH_RULE_BACKWARD;
    spans_let_go(spans, number);
    return 0;
}

static void unlink_span(struct spans *spans, uint32_t number)
{
    struct span *items = spans->items;
    const struct span *span = &items[number];
    struct thread_spans *lists = &spans->threads[span->thread];
    if (span->outer != HISTORY_NONE)
        items[span->outer].inner = span->inner;
    if (span->inner != HISTORY_NONE)
        items[span->inner].outer = span->outer;
    else
        spans->innermost = span->outer;
    if (span->thread_outer != HISTORY_NONE)
        items[span->thread_outer].thread_inner = span->thread_inner;
    if (span->thread_inner != HISTORY_NONE)
        items[span->thread_inner].thread_outer = span->thread_outer;
    else
        lists->innermost = span->thread_outer;
}

static int close_span(struct spans *spans, const struct cursor *at, uint32_t number)
{
    unlink_span(spans, number);
    return end_span(spans, at, number);
}

/* A pop ends the thread's innermost push of the same source; a range end names its range. */
static uint32_t take_ending(struct spans *spans, const struct event *event, uint32_t thread)
{
    enum phase_source source = source_of(event);
    if (event->address)
        return pair_map_remove(&spans->numbers, NUMBER_RANGE + (uint32_t)source, event->address);
    uint32_t span = spans->threads[thread].pushed[source];
    if (span != HISTORY_NONE)
        spans->threads[thread].pushed[source] = spans->items[span].pushed_outer;
    return span;
}

int spans_pop(struct spans *spans, const struct cursor *at)
{
    uint32_t thread = find_thread(spans, at);
    if (thread == HISTORY_NONE)
        return -1;
    uint32_t span = take_ending(spans, at->event, thread);
    if (span == HISTORY_NONE) {
        at->history->unmatched_pops_count++;
        return 0;
    }
    if (span == SPAN_LEFT_OUT)
        return 0;
    return close_span(spans, at, span);
}

int spans_close_all(struct spans *spans, const struct cursor *at)
{
    while (spans->innermost != HISTORY_NONE)
        if (close_span(spans, at, spans->innermost))
            return -1;
    return spans->inferred_span == HISTORY_NONE ? 0 : end_span(spans, at, spans->inferred_span);
}

/* --- inferred from stacks --- */

/* Host memory cannot begin a phase, because data loader threads allocate host memory during any
 * phase. */
bool spans_may_infer(enum account_kind kind)
{
    return kind == ACCOUNT_device || kind == ACCOUNT_managed || kind == ACCOUNT_pool;
}

static void note_caller(struct spans *spans, uint32_t span, struct inferred_caller caller)
{
    for (; caller.rank && span != HISTORY_NONE && !spans->items[span].callers[caller.rank];
         span = spans->items[span].parent)
        spans->items[span].callers[caller.rank] = caller.hash;
}

static int begin_inferred(struct spans *spans, const struct cursor *at, enum inferred_phase next)
{
    if (spans->inferred_span != HISTORY_NONE && end_span(spans, at, spans->inferred_span))
        return -1;
    uint32_t path = paths_find(&spans->paths, at, HISTORY_NONE, next, inferred_name(next),
                               PHASE_SOURCE_INFERRED);
    if (path == HISTORY_NONE)
        return -1;
    spans->inferred_now = next;
    spans->inferred_span = add_span(spans, at, path, HISTORY_NONE);
    return spans->inferred_span == HISTORY_NONE ? -1 : 0;
}

/* True if the allocation is of a thread beside the one that runs the model, such as a thread that
 * loads the next batch. It may happen in any phase. Autograd's thread runs the model again for a
 * checkpoint, but does not lead. */
static bool is_beside(struct spans *spans, const struct event *event, bool is_recorded)
{
    const uint32_t stack_id = event->stack_id;
    if (inferred_is_in_backward(&spans->inferred, stack_id))
        return false;
    if (is_recorded || inferred_leads(&spans->inferred, stack_id))
        spans->leading_thread_id = event->thread_id;
    return spans->leading_thread_id && spans->leading_thread_id != event->thread_id;
}

int spans_infer(struct spans *spans, const struct cursor *at, bool is_recorded)
{
    const uint32_t stack_id = at->event->stack_id;
    if (!spans_may_infer(account_kind((enum memory_kind)at->event->memory)))
        return 0;
    if (is_beside(spans, at->event, is_recorded)) {
        spans->beside_index = at->index;
        return 0;
    }
    const enum inferred_phase next =
        inferred_next(&spans->inferred, spans->inferred_now, stack_id, is_recorded);
    bool begins = next != spans->inferred_now;
    if (next == INFERRED_forward && trace_tells_autograd(at->history->trace) &&
        forwards_follow(&spans->forwards, &spans->inferred, stack_id, is_recorded, &begins,
                        at->err))
        return -1;
    if (begins && begin_inferred(spans, at, next))
        return -1;
    const struct inferred_caller caller = inferred_caller_of(&spans->inferred, stack_id);
    note_caller(spans, spans->inferred_span, caller);
    note_caller(spans, named_span(spans, at), caller);
    return 0;
}
