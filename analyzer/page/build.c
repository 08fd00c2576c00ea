/* SPDX-License-Identifier: MIT */
/* Builds a page: puts the trace and its devices around the figures that one command describes. */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/reading/reading.h"
#include "analyzer/symbol/keep_names.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"

static void add_known(struct doc *doc, const char *key, const char *label, enum doc_unit unit,
                      const struct trace_integer *value)
{
    doc_known_integer(doc, key, label, unit, value->known, value->value);
}

static uint64_t duration_ns(const struct study *study)
{
    const struct trace *trace = &study->trace;
    if (trace->meta.end_ns.known && trace->meta.end_ns.value > 0)
        return (uint64_t)trace->meta.end_ns.value;
    return study->history.last_row_time_ns;
}

static bool is_complete(const struct trace_meta *meta)
{
    return meta->complete.known && meta->complete.value != 0;
}

/* Adds the program. A summary shortens a long command to its first word and its end, because the
 * launcher's options between the two say little. */
static void add_program(struct doc *doc, const char *command)
{
    enum { TAIL_MAX = 120 };
    size_t length = command ? strlen(command) : 0;
    const char *tail = length > TAIL_MAX ? strchr(command + length - TAIL_MAX, ' ') : NULL;
    const char *head = tail ? strchr(command, ' ') : NULL;

    doc_text(doc, "command", "program", command);
    if (head < tail)
        doc_words(doc, "%.*s …%s", (int)(head - command), command, tail);
}

static void add_events(struct doc *doc, const struct study *study)
{
    const struct trace *trace = &study->trace;
    const struct trace_meta *meta = &trace->meta;
    const bool in_flight_known = meta->in_flight_events.known;
    doc_count(doc, "events", "events", study->history.row_count);
    doc_words(doc, "%" PRIu64 "%s", study->history.row_count,
              is_complete(meta)  ? ", complete"
              : trace->recording ? ", still recording"
                                 : "");
    add_known(doc_detail(doc), "lost_events", "lost events", DOC_COUNT, &meta->lost_events);
    doc_known_count(doc_detail(doc), "in_flight_events", "events in flight",
                    !history_is_imported(&study->history),
                    in_flight_known ? (uint64_t)meta->in_flight_events.value
                                    : study->history.in_flight_count);
    doc_known_bool(doc_detail(doc), "complete", "complete",
                   meta->complete.known || !history_is_imported(&study->history),
                   is_complete(meta));
    doc_bool(doc_detail(doc), "recording", "still recording", trace->recording);
}

#define READ_BACKS_SHOWN 3

/* Lists the lines that read values which the dry run could not compute. A summary names only the
 * first few. */
static void add_read_backs(struct doc *doc, const struct trace *trace)
{
    doc_list_begin(doc_detail(doc), "read_backs", NULL);
    for (size_t i = 0; i < trace->read_back_count; i++) {
        doc_row_begin(doc_detail(doc));
        doc_text(doc_detail(doc), "line", "Line", trace->read_backs[i].name);
        doc_count(doc_detail(doc), "count", "Times", trace->read_backs[i].count);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    for (size_t i = 0; i < trace->read_back_count && i < READ_BACKS_SHOWN; i++) {
        const char *line = trace->read_backs[i].name;
        doc_note(doc,
                 "%.200s reads values that the dry run could not compute (%" PRIu64
                 " time%s); shapes that follow from them are guesses",
                 path_name(line), trace->read_backs[i].count,
                 trace->read_backs[i].count == 1 ? "" : "s");
    }
    if (trace->read_back_count > READ_BACKS_SHOWN)
        doc_note(doc, "so do %zu other lines; --json names them",
                 trace->read_back_count - READ_BACKS_SHOWN);
    add_known(doc_detail(doc), "dry_run_floats", "floats that were not computed", DOC_COUNT,
              &trace->meta.dry_run_floats);
    if (trace->meta.dry_run_floats.known)
        doc_note(doc,
                 "numbers that the program reads from tensors, such as a loss, may mean nothing");
}

/* Adds the heading. Programs read it first. In a summary it comes last, because people want the
 * answer first. */
static void add_trace(struct doc *doc, const struct study *study)
{
    const char *dry_run = study_dry_run(study);
    const struct trace *trace = &study->trace;
    const struct trace_meta *meta = &trace->meta;
    const bool simulated = meta->simulated.known && meta->simulated.value;
    doc_object_begin(doc, "trace", NULL);
    doc_text(doc, "path", "trace", trace->path);
    add_known(doc_detail(doc), "pid", "process", DOC_COUNT, &meta->pid);
    add_program(doc, meta->command.value);
    doc_text(doc_detail(doc), "host", "host", meta->host.value);
    add_known(doc_detail_if(doc, !meta->rank.known), "rank", "rank", DOC_COUNT, &meta->rank);
    if (simulated) {
        doc_text(doc_summary(doc), NULL, "device", "simulated");
        doc_words(doc, "simulated%s%s", study_has_no_limit(study) ? ", without limit" : "",
                  study_has_late_events(study) ? ", events late" : "");
    }
    add_known(doc_detail(doc), "start_unix_ns", "start", DOC_NS, &meta->start_unix_ns);
    page_time(doc, study, "duration_ns", "duration", duration_ns(study));
    add_events(doc, study);
    doc_known_bool(doc_detail(doc), "simulated", "simulated", meta->simulated.known, simulated);
    doc_text(doc_detail(doc), "dry_run", "dry run", meta->dry_run.value);
    doc_text(doc_detail(doc), "dry_run_events", "events of the dry run",
             meta->dry_run_events.value);
    if (dry_run) {
        doc_note(doc, "%s", dry_run);
        add_read_backs(doc, trace);
    }
    doc_object_end(doc);
}

void page_device_number(struct doc *doc, const char *label, int device)
{
    doc_known_integer(doc, "device", label, DOC_COUNT, device != DEVICE_UNKNOWN, device);
}

const struct trace_device *page_card(const struct study *study, int number)
{
    const struct trace *trace = &study->trace;
    for (size_t i = trace->device_count; i-- > 0;)
        if (trace->devices[i].device == number)
            return &trace->devices[i];
    return NULL;
}

static void add_device_head(struct doc *doc, const struct study *study,
                            const struct device_use *use)
{
    const struct account *leading = &study->history.accounts[use->leading];
    const struct trace_device *device = page_card(study, use->device);
    const char *name = device ? device->name : NULL;
    const uint64_t total_bytes = device ? device->total_bytes : 0;
    page_device_number(doc, "device", use->device);
    doc_text(doc_detail(doc), "uuid", "UUID", device ? device->uuid : NULL);
    doc_text(doc_detail_if(doc, !name), "name", "name", name);
    doc_known_bytes(doc_detail_if(doc, !total_bytes), "total_bytes", "total", total_bytes != 0,
                    total_bytes);
    doc_text(doc_detail(doc), "leading_layer", "leading layer", study_layer(leading));
    doc_text(doc_detail(doc), "leading_pool", "leading pool", study_pool(study, leading));
}

/* True if the trace names a card or knows its size. If a list of cards has neither, it says only
 * that device 0 exists. */
static bool knows_cards(const struct study *study)
{
    for (size_t i = 0; i < study->trace.device_count; i++)
        if (study->trace.devices[i].name || study->trace.devices[i].total_bytes)
            return true;
    return false;
}

static int add_devices(struct doc *doc, const struct study *study, const struct page *page,
                       const struct view *view, struct err *err)
{
    const struct history *history = &study->history;
    int status = 0;
    doc_list_begin(doc_detail_if(doc, !page->device && !knows_cards(study)), "devices", NULL);
    for (size_t i = 0; i < history->device_count && !status; i++) {
        const struct device_use *use = &history->devices[i];

        if (view->device >= 0 && use->device != view->device)
            continue;
        doc_row_begin(doc);
        add_device_head(doc, study, use);
        if (page->device)
            status = page->device(doc, study, use, view, err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return status;
}

static int add_study(struct doc *doc, const struct study *study, const struct page *page,
                     const struct view *view, struct opening_failure *failure, struct err *err)
{
    if (study_check_view(study, view, err))
        return -1;
    add_trace(doc_detail(doc), study);
    if (opening_add(doc, page->answer, study, view, failure, err) ||
        add_devices(doc, study, page, view, err) ||
        (page->tail && page->tail(doc, study, view, err)))
        return -1;
    add_trace(doc_summary(doc), study);
    return 0;
}

/* --- one trace --- */

void page_ask(struct reading_ask *ask, const struct page *page, const struct view *view,
              const struct doc *doc)
{
    *ask = (struct reading_ask){.study = {.needs = page->needs,
                                          .at = view->at,
                                          .takes_library_ranges = view->takes_library_ranges},
                                .sources = view->sources,
                                .advises = page->advises};
    if (page->ask)
        page->ask(&ask->study, view, doc);
}

int page_add_trace(struct doc *doc, const struct page *page, const struct view *view,
                   const struct study *study, struct opening_failure *failure, struct err *err)
{
    if (!page->writes_names && keep_names(&study->trace, study->symbols, err))
        return -1;
    return add_study(doc, study, page, view, failure, err);
}

static int read_and_add(struct doc *doc, const struct page *page, const struct view *view,
                        const char *path, struct err *err)
{
    struct reading_ask ask;
    struct reading reading;
    page_ask(&ask, page, view, doc);
    if (reading_open(&reading, path, NULL, &ask, NULL, err))
        return -1;
    const int status = page_add_trace(doc, page, view, &reading.study, NULL, err);
    reading_release(&reading);
    return status;
}

int page_build(struct doc **doc, enum doc_level reads, const struct page *page,
               const struct view *view, const char *path, struct err *err)
{
    struct doc *built = doc_new(page->schema, reads);
    if (!built)
        return err_set(err, ERR_SYSTEM, "out of memory for the result");
    if (read_and_add(built, page, view, path, err)) {
        doc_free(built);
        return -1;
    }
    *doc = built;
    return 0;
}
