/* SPDX-License-Identifier: MIT */
/* `gpumemtrace info`: what the file holds, its coverage and its losses. */
#include "analyzer/command.h"
#include "answer.h"

#include "analyzer/analysis/nesting.h"

static const char *const kind_texts[] = {
#define EVENT_KIND(name, text, meaning) text,
#include "gpumemtrace/schema/event_kinds.def"
};

static void add_text(struct doc *doc, const char *key, const char *label,
                     const struct trace_text *value)
{
    doc_text(doc, key, label, value->value);
}

static void add_integer(struct doc *doc, const char *key, const char *label,
                        const struct trace_integer *value)
{
    if (value->known)
        doc_integer(doc, key, label, DOC_COUNT, value->value);
    else
        doc_null(doc, key, label, DOC_COUNT);
}

static void add_meta(struct doc *doc, const struct trace_meta *meta, bool people)
{
    doc_object_begin(doc, "meta", people ? "Facts" : NULL);
#define META(name, type, text) add_##type(doc, #name, people ? #name : NULL, &meta->name);
#include "gpumemtrace/schema/meta_keys.def"
    doc_object_end(doc);
}

static void add_kinds(struct doc *doc, const struct trace *trace, bool people)
{
    uint64_t counts[EVENT_KIND_COUNT] = {0};

    for (size_t i = 0; i < trace->event_count; i++)
        counts[trace->events[i].kind]++;
    doc_list_begin(doc, "events_by_kind", people ? "Events" : NULL);
    for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
        if (!counts[kind])
            continue;
        doc_row_begin(doc);
        doc_text(doc, "kind", people ? "Kind" : NULL, kind_texts[kind]);
        doc_count(doc, "count", people ? "Count" : NULL, counts[kind]);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- events inside other calls --- */

static void add_nested(struct doc *doc, const struct trace *trace, const struct nested *nested,
                       bool people)
{
    const struct event *event = &trace->events[nested->event], *parent = NULL;

    if (nested->parent != HISTORY_NONE)
        parent = &trace->events[nested->parent];
    doc_row_begin(doc);
    doc_count(doc, "seq", people ? "Event" : NULL, event->seq);
    doc_text(doc, "kind", people ? "Kind" : NULL, kind_texts[event->kind]);
    doc_text(doc, "api", people ? "By" : NULL, trace_hook(trace, event->hook_id));
    doc_text(doc, "parent_api", people ? "Inside" : NULL,
             parent ? trace_hook(trace, parent->hook_id) : NULL);
    if (parent)
        doc_count(doc, "parent_seq", people ? "Event" : NULL, parent->seq);
    else
        doc_null(doc, "parent_seq", people ? "Event" : NULL, DOC_COUNT);
    doc_row_end(doc);
}

static int add_nesting(struct doc *doc, const struct study *study, const struct view *view,
                       struct err *err)
{
    struct nesting nesting;
    size_t limit;

    if (nesting_find(&nesting, &study->trace, err))
        return -1;
    limit = view_limit(view, nesting.count);
    if (!view->people || nesting.count) {
        doc_list_begin(doc, "nested", view->people ? "Inside other calls" : NULL);
        for (size_t i = 0; i < limit; i++)
            add_nested(doc, &study->trace, &nesting.items[i], view->people);
        if (limit < nesting.count)
            doc_note(doc, "%zu more: --top=%zu shows all.", nesting.count - limit, nesting.count);
        doc_list_end(doc);
    }
    nesting_release(&nesting);
    return 0;
}

/* --- what is not recorded --- */

static void add_coverage(struct doc *doc, const struct trace *trace, bool people)
{
    doc_list_begin(doc, "seen_but_untracked", people ? "Looked up, not recorded" : NULL);
    for (size_t i = 0; i < trace->coverage_count; i++) {
        doc_row_begin(doc);
        doc_text(doc, "name", people ? "Entry point" : NULL, trace->coverage[i].name);
        doc_count(doc, "count", people ? "Times" : NULL, trace->coverage[i].count);
        doc_row_end(doc);
    }
    if (people)
        doc_note(doc, "%s",
                 trace->coverage_count
                     ? "This version does not know them: what they allocate, if the program called "
                       "them, is in no figure. A newer gpumemtrace may."
                     : "Nothing: every allocation entry point the program looked up is recorded.");
    doc_list_end(doc);
}

/* For machines this is no fact about the trace. */
static void add_never(struct doc *doc)
{
    static const struct {
        const char *what, *why;
    } rows[] = {
        {"memory of other processes", "it shows only in what the card has left: 'gpumemtrace oom'"},
        {"where managed memory lies", "it moves by the page; 'managed' is what was asked for"},
        {"kernels that load at first use", "no call tells; modules count what their loading took"},
        {"malloc and printf in kernels", "their heap counts once its limit is set, and in full"},
        {"streams, events, textures", "the driver's own bookkeeping, of a size that no call tells"},
    };

    doc_list_begin(doc, NULL, "In no trace");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        doc_row_begin(doc);
        doc_text(doc, NULL, "What", rows[i].what);
        doc_text(doc, NULL, "Why", rows[i].why);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- all of it --- */

static size_t present_frames(const struct trace *trace)
{
    size_t count = 0;

    for (size_t i = 0; i < trace->frame_limit; i++)
        count += trace->frames[i].present;
    return count;
}

static int add_tail(struct doc *doc, const struct study *study, const struct view *view,
                    struct err *err)
{
    const struct trace *trace = &study->trace;
    bool people = view->people;

    add_meta(doc, &trace->meta, people);
    doc_object_begin(doc, "counts", people ? "Counts" : NULL);
    doc_count(doc, "events", people ? "events" : NULL, trace->event_count);
    doc_count(doc, "threads", people ? "threads" : NULL, trace->thread_count);
    doc_count(doc, "modules", people ? "modules" : NULL, trace->module_count);
    doc_count(doc, "frames", people ? "frames" : NULL, present_frames(trace));
    doc_count(doc, "unknown_frees", people ? "frees of unknown memory" : NULL,
              study->history.unknown_frees_count);
    doc_object_end(doc);
    add_kinds(doc, trace, people);
    if (add_nesting(doc, study, view, err))
        return -1;
    add_coverage(doc, trace, people);
    if (people)
        add_never(doc);
    return docs_warnings(doc, study, view, err);
}

int command_info(int argc, char **argv, struct err *err)
{
    static const struct answer answer = {.schema = "gpumemtrace.info/1", .tail = add_tail};

    return answer_command(&answer, argc, argv, err);
}
