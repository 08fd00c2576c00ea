/* SPDX-License-Identifier: MIT */
/* See details.h. */
#include "details.h"

#include <stdlib.h>

#include "analyzer/export/stack_texts.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/util/array.h"

static const char *const kinds[] = {
#define EVENT_KIND(name, text, meaning) text,
#include "gpumemtrace/schema/event_kinds.def"
};
static const char *const memories[] = {
#define MEMORY(name, layer, account, text) text,
#include "gpumemtrace/schema/memory.def"
};

void details_begin(struct details *details, struct stream *events, int process)
{
    *details = (struct details){.events = events, .process = process, .changed = HISTORY_NONE};
}

void details_release(struct details *details)
{
    free(details->has_stack);
    details->has_stack = NULL;
}

static int note_stack(struct details *details, const struct trace *trace, uint32_t stack_id,
                      struct err *err)
{
    if (!details->has_stack) {
        details->stack_limit = trace->frame_limit;
        details->has_stack = array_new(details->stack_limit + 1, 1, err);
        if (!details->has_stack)
            return -1;
    }
    if (stack_id < details->stack_limit)
        details->has_stack[stack_id] = 1;
    return 0;
}

static void put_event(const struct details *details, struct rows *rows, const struct event *event,
                      const struct history *history)
{
    const bool is_known = details->changed != HISTORY_NONE;
    rows_begin(rows);
    rows_integer(rows, FLEET_event_process, details->process);
    rows_number(rows, FLEET_event_seq, event->seq);
    rows_number(rows, FLEET_event_time_ns, event->time_ns);
    rows_number(rows, FLEET_event_thread, event->thread_id);
    rows_text(rows, FLEET_event_kind, kinds[event->kind]);
    rows_text(rows, FLEET_event_call, trace_hook(history->trace, event->hook_id));
    rows_text(rows, FLEET_event_memory, event->memory ? memories[event->memory] : "");
    rows_integer(rows, FLEET_event_device, event->device);
    rows_number(rows, FLEET_event_address, event->address);
    rows_number(rows, FLEET_event_bytes, event->size_bytes);
    rows_value(rows, FLEET_event_stream, event->stream != STREAM_UNKNOWN, event->stream);
    rows_maybe(rows, FLEET_event_result, event->result != INT32_MIN, event->result);
    rows_number(rows, FLEET_event_stack_id, event->stack_id);
    rows_value(rows, FLEET_event_live_bytes, is_known,
               is_known ? history->accounts[details->changed].live_bytes : 0);
    rows_end(rows);
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct details *details = self;
    (void)at;
    details->changed = change->block->account;
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct details *details = self;
    put_event(details, stream_rows(details->events), at->event, at->history);
    details->changed = HISTORY_NONE;
    return note_stack(details, at->history->trace, at->event->stack_id, at->err) ||
                   stream_passed(details->events, at->err)
               ? -1
               : 0;
}

struct observer details_observer(struct details *details)
{
    return (struct observer){.self = details, .on_change = on_change, .on_event = on_event};
}

/* --- stacks --- */

static int put_stack(const struct details *details, struct stack_texts *texts,
                     struct stream *stacks, uint32_t stack_id, struct err *err)
{
    struct rows *rows = stream_rows(stacks);
    const char *text = stack_texts_get(texts, stack_id, err);
    if (!text)
        return -1;
    rows_begin(rows);
    rows_integer(rows, FLEET_stack_process, details->process);
    rows_number(rows, FLEET_stack_stack_id, stack_id);
    rows_text(rows, FLEET_stack_frames, text);
    rows_end(rows);
    return stream_passed(stacks, err);
}

int details_add_stacks(struct details *details, const struct export *export, struct stream *stacks,
                       struct err *err)
{
    struct stack_texts *texts = stack_texts_new(export, err);
    int status = texts ? 0 : -1;
    for (size_t i = 1; i < details->stack_limit && !status; i++)
        if (details->has_stack[i])
            status = put_stack(details, texts, stacks, (uint32_t)i, err);
    stack_texts_free(texts);
    return status;
}
