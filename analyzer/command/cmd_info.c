/* SPDX-License-Identifier: MIT */
/* `gpumemtrace info`: what the file holds, its coverage and its losses. */
#include "command.h"
#include "command/answer.h"

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

static void add_coverage(struct doc *doc, const struct trace *trace, bool people)
{
    doc_list_begin(doc, "seen_but_untracked", people ? "Seen but not recorded" : NULL);
    for (size_t i = 0; i < trace->coverage_count; i++) {
        doc_row_begin(doc);
        doc_text(doc, "name", people ? "Entry point" : NULL, trace->coverage[i].name);
        doc_count(doc, "count", people ? "Looked up" : NULL, trace->coverage[i].count);
        doc_row_end(doc);
    }
    if (people && !trace->coverage_count)
        doc_note(doc, "nothing: every allocation entry point the program asked for is recorded");
    doc_list_end(doc);
}

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
    add_coverage(doc, trace, people);
    return docs_warnings(doc, study, view, err);
}

int command_info(int argc, char **argv, struct err *err)
{
    static const struct answer answer = {.schema = "gpumemtrace.info/1", .tail = add_tail};

    return answer_command(&answer, argc, argv, err);
}
