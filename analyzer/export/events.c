/* SPDX-License-Identifier: MIT */
/*
 * Writes every event up to the exit as a line of CSV (RFC 4180) or TSV, with the event's stack in
 * the form of collapsed stacks. An unknown number is an empty cell. A text that a spreadsheet would
 * take for a formula begins with an apostrophe. TSV quotes nothing; control characters such as tabs
 * become question marks.
 *
 * The column live_bytes is the live memory of one account after the event: the account that the
 * event changed last. An account is one kind of memory on a device, or one pool.
 */
#include <inttypes.h>

#include "stack_texts.h"
#include "analyzer/render/csv.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/util/utf8.h"

static const char *const columns[] = {"seq",    "time_ns", "thread",     "kind",  "call",
                                      "memory", "device",  "address",    "bytes", "stream",
                                      "result", "text",    "live_bytes", "stack"};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *const kinds[] = {
#define EVENT_KIND(name, text, meaning) text,
#include "gpumemtrace/schema/event_kinds.def"
};
static const struct {
    const char *text;
    enum memory_layer layer;
} memories[] = {
#define MEMORY(name, layer, account, text) {text, LAYER_##layer},
#include "gpumemtrace/schema/memory.def"
};

struct event_table {
    const struct export *export;
    struct stack_texts *stacks;
    char separator;
    uint32_t changed; /* the account that the current event changed last; HISTORY_NONE: none */
};

static void put_text(const struct event_table *table, const char *text)
{
    FILE *out = table->export->out;
    if (table->separator == ',') {
        csv_put(out, text);
        return;
    }
    fputs(*text == '"' ? "'" : csv_guard(text), out);
    while (*text)
        text += utf8_put(text, out);
}

static void end_line(const struct event_table *table)
{
    fputs(table->separator == ',' ? "\r\n" : "\n", table->export->out);
}

/* Adds a separator and the text. */
static void add_text(const struct event_table *table, const char *text)
{
    putc(table->separator, table->export->out);
    put_text(table, text);
}

static void add_number(const struct event_table *table, bool known, uint64_t number)
{
    putc(table->separator, table->export->out);
    if (known)
        fprintf(table->export->out, "%" PRIu64, number);
}

/* Returns the text of an event's own columns: the name of a phase, mark or module. */
static const char *words_of(const struct event_table *table, const struct event *event)
{
    switch (event->kind) {
    case EVENT_PHASE_PUSH:
    case EVENT_MARK:
    case EVENT_MODULE_PATH:
    case EVENT_POOL_LIMIT:
        return trace_string(&table->export->study.trace, event->object);
    case EVENT_ALLOC:
    case EVENT_FREE:
        return event->memory == MEMORY_TENSOR
                   ? trace_string(&table->export->study.trace, event->object)
                   : "";
    default:
        return "";
    }
}

static bool is_wanted(const struct export *export, const struct event *event)
{
    const int layer = export->view.layer;
    return export_takes(export, event->device) &&
           (layer == LAYER_none || (int)memories[event->memory].layer == layer);
}

static void put_event(const struct event_table *table, const struct event *event, const char *stack,
                      const struct history *history)
{
    FILE *out = table->export->out;
    const bool is_known = table->changed != HISTORY_NONE;
    fprintf(out, "%" PRIu64, event->seq);
    add_number(table, study_has_times(&table->export->study), event->time_ns);
    add_number(table, true, event->thread_id);
    add_text(table, kinds[event->kind]);
    add_text(table, trace_hook(&table->export->study.trace, event->hook_id));
    add_text(table, event->memory ? memories[event->memory].text : "");
    add_number(table, event->device >= 0, (uint64_t)event->device);
    fprintf(out, "%c0x%" PRIx64, table->separator, event->address);
    add_number(table, true, event->size_bytes);
    add_number(table, event->stream != STREAM_UNKNOWN, event->stream);
    putc(table->separator, out);
    if (event->result != INT32_MIN)
        fprintf(out, "%" PRId32, event->result);
    add_text(table, words_of(table, event));
    add_number(table, is_known, is_known ? history->accounts[table->changed].live_bytes : 0);
    add_text(table, stack);
    end_line(table);
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct event_table *table = self;
    (void)at;
    table->changed = change->block->account;
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct event_table *table = self;
    if (is_wanted(table->export, at->event)) {
        const char *stack = stack_texts_get(table->stacks, at->event->stack_id, at->err);

        if (!stack)
            return -1;
        put_event(table, at->event, stack, at->history);
    }
    table->changed = HISTORY_NONE;
    return 0;
}

static int write_events(const struct export *export, char separator, struct err *err)
{
    struct event_table table = {.export = export, .separator = separator, .changed = HISTORY_NONE};
    const struct observer observer = {.self = &table, .on_change = on_change, .on_event = on_event};
    table.stacks = stack_texts_new(export, err);
    if (!table.stacks)
        return -1;
    fputs(columns[0], export->out);
    for (int i = 1; i < COLUMNS; i++)
        add_text(&table, columns[i]);
    end_line(&table);
    const int status = export_replay(export, &observer, 0, err);
    stack_texts_free(table.stacks);
    return status;
}

int export_csv(const struct export *export, struct err *err)
{
    return write_events(export, ',', err);
}

int export_tsv(const struct export *export, struct err *err)
{
    return write_events(export, '\t', err);
}
