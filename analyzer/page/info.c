/* SPDX-License-Identifier: MIT */
/* The page of `info`: what the file holds, what it covers and what was lost. */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/analysis/nesting.h"
#include "analyzer/render/units.h"

static const char *const kind_texts[] = {
#define EVENT_KIND(name, text, meaning) text,
#include "gpumemtrace/schema/event_kinds.def"
};

static void add_meta_text(struct doc *doc, const char *name, const struct trace_text *value)
{
    doc_text(doc, name, name, value->value);
}

static void add_meta_integer(struct doc *doc, const char *name, const struct trace_integer *value)
{
    doc_known_integer(doc, name, name, DOC_COUNT, value->known, value->value);
}

static void add_meta(struct doc *doc, const struct trace_meta *meta)
{
    doc_object_begin(doc, "meta", "Facts");
#define META(name, type, text) add_meta_##type(doc, #name, &meta->name);
#include "gpumemtrace/schema/meta_keys.def"
    doc_object_end(doc);
}

static void add_variables(struct doc *doc, const struct trace_variables *variables, const char *key,
                          const char *heading, const char *value_key, const char *value_heading)
{
    doc_list_begin(doc_detail_if(doc, !variables->count), key, heading);
    for (size_t i = 0; i < variables->count; i++) {
        doc_row_begin(doc);
        doc_text(doc, "name", "Name", variables->items[i].name);
        doc_text(doc, value_key, value_heading, variables->items[i].value);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static size_t count_frames(const struct trace *trace)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->frame_limit; i++)
        count += trace->frames[i].present;
    return count;
}

static void add_counts(struct doc *doc, const struct study *study)
{
    const struct trace *trace = &study->trace;
    doc_object_begin(doc, "counts", "Counts");
    doc_count(doc, "events", "events", study->history.row_count);
    doc_count(doc, "threads", "threads", trace->thread_count);
    doc_count(doc, "modules", "modules", trace->module_count);
    doc_count(doc, "frames", "frames", count_frames(trace));
    doc_count(doc, "unknown_frees", "frees of unknown memory", study->history.unknown_frees_count);
    doc_object_end(doc);
}

static void add_event_kinds(struct doc *doc, const struct history *history)
{
    const uint64_t *counts = history->rows_by_kind;
    doc_list_begin(doc, "events_by_kind", "Events");
    for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
        if (!counts[kind])
            continue;
        doc_row_begin(doc);
        doc_text(doc, "kind", "Kind", kind_texts[kind]);
        doc_count(doc, "count", "Count", counts[kind]);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- events inside other calls --- */

static void add_nested_event(struct doc *doc, const struct trace *trace,
                             const struct nested *nested)
{
    const struct nested_call *parent = &nested->parent;
    doc_count(doc, "seq", "Event", nested->own.seq);
    doc_text(doc, "kind", "Kind", kind_texts[nested->kind]);
    doc_text(doc, "api", "By", trace_hook(trace, nested->own.hook_id));
    doc_text(doc, "parent_api", "Inside", parent->seq ? trace_hook(trace, parent->hook_id) : NULL);
    doc_known_count(doc, "parent_seq", "Event", parent->seq != 0, parent->seq);
}

static void add_nested_events(struct doc *doc, const struct study *study)
{
    enum { SUMMARY_EVENTS = 10 };
    const struct nesting *nesting = &study->nesting;

    doc_list_begin(doc, "nested", "Inside other calls");
    for (size_t i = 0; i < nesting->count; i++) {
        doc_row_begin(doc_detail_if(doc, i >= SUMMARY_EVENTS));
        add_nested_event(doc, &study->trace, &nesting->items[i]);
        doc_row_end(doc);
    }
    if (nesting->count > SUMMARY_EVENTS)
        doc_note(doc, "%zu more of %zu: --json shows all.", nesting->count - SUMMARY_EVENTS,
                 nesting->count);
    doc_list_end(doc);
}

/* --- what is not recorded --- */

static void add_coverage(struct doc *doc, const struct trace *trace)
{
    doc_list_begin(doc, "seen_but_untracked", "Looked up, not recorded");
    for (size_t i = 0; i < trace->coverage_count; i++) {
        doc_row_begin(doc);
        doc_text(doc, "name", "Entry point", trace->coverage[i].name);
        doc_count(doc, "count", "Times", trace->coverage[i].count);
        doc_row_end(doc);
    }
    if (trace->coverage_count)
        doc_note(doc, "This version does not record them: if the program called them, their memory "
                      "is missing from every figure. A newer gpumemtrace may record them.");
    else
        doc_note(doc, "None: every allocation entry point that the program looked up is recorded.");
    doc_list_end(doc);
}

/* Adds rows that hold for every trace. Only a summary has them. */
static void add_never_recorded(struct doc *doc)
{
    static const struct {
        const char *what, *why;
    } rows[] = {
        {"memory of other processes", "only the card's free memory shows it: 'gpumemtrace oom'"},
        {"where managed memory lies", "it moves by the page; 'managed' is the requested size"},
        {"kernels that load at first use",
         "no call reports it; modules count the memory that their loading took"},
        {"malloc and printf in kernels", "their heap counts once its limit is set, and in full"},
        {"streams, events, textures", "the driver's own bookkeeping, whose size no call reports"},
    };

    doc_list_begin(doc_summary(doc), NULL, "Not in any trace");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        doc_row_begin(doc);
        doc_text(doc, NULL, "What", rows[i].what);
        doc_text(doc, NULL, "Why", rows[i].why);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- the answer --- */

static void say_whole(struct opening *opening, const struct study *study)
{
    const struct history *history = &study->history;
    const struct trace_integer *left = &study->trace.meta.exit_status;
    char status[64] = "";
    if (left->known)
        snprintf(status, sizeof status, "; the program ended with status %" PRId64, left->value);
    page_say(opening, VERDICT_what, "Complete: %" PRIu64 " events in %s, none lost%s.",
             history->row_count, DURATION_TEXT((int64_t)history->last.time_ns), status);
    if (study->trace.coverage_count)
        page_say(opening, VERDICT_what,
                 "The program looked up %zu entry points that are not recorded, such as %s.",
                 study->trace.coverage_count, study->trace.coverage[0].name);
}

/* Says why the trace is not complete. study_warnings lists these reasons first. */
static int say_part(struct opening *opening, const struct study *study)
{
    struct text_list warnings = {0};
    const struct trace_meta *meta = &study->trace.meta;
    const size_t reasons =
        (meta->complete.known && meta->complete.value ? 0 : 1) + (meta->lost_events.value > 0);
    const int status = study_warnings(study, &warnings, opening->err);
    page_say(opening, VERDICT_what, "The trace is not complete.");
    for (size_t i = 0; i < warnings.count && i < reasons; i++)
        page_join(opening, VERDICT_why, "%s", warnings.items[i]);
    text_list_release(&warnings);
    return status;
}

static int answer_info(struct opening *opening, const struct study *study, const struct view *view,
                       struct err *err)
{
    const struct trace_meta *meta = &study->trace.meta;
    (void)view;
    (void)err;
    page_next(opening, "report");
    if (study->trace.recording)
        return page_say(opening, VERDICT_what,
                        "The program is still running: %" PRIu64 " events up to now.",
                        study->history.row_count);
    if (!meta->complete.known || !meta->complete.value || meta->lost_events.value > 0)
        return say_part(opening, study);
    say_whole(opening, study);
    return 1;
}

static int add_info_tail(struct doc *doc, const struct study *study, const struct view *view,
                         struct err *err)
{
    const struct trace *trace = &study->trace;
    add_meta(doc, &trace->meta);
    add_variables(doc, &trace->frameworks, "frameworks", "Frameworks", "version", "Version");
    add_variables(doc, &trace->allocator_settings, "allocator_settings", "Allocator settings",
                  "value", "Value");
    add_variables(doc, &trace->job_variables, "job_variables", "Job", "value", "Value");
    add_counts(doc, study);
    add_event_kinds(doc, &study->history);
    add_nested_events(doc, study);
    add_coverage(doc, trace);
    add_never_recorded(doc);
    return page_warnings(doc, study, view, err);
}

const struct page page_info = {.schema = "gpumemtrace.info/1",
                               .needs = STUDY_NEEDS_nesting,
                               .answer = answer_info,
                               .tail = add_info_tail};
