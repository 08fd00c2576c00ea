/* SPDX-License-Identifier: MIT */
/*
 * What stands around every page: the trace, its devices, and for several traces the job. It must
 * not know any one command.
 */
#include "bounds.h"
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/oom/neighbours.h"
#include "analyzer/remedy/remedies.h"
#include "analyzer/symbol/keep_names.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"

enum { KNOWN_BYTES_MAX = 256 };

static void add_known(struct doc *doc, const char *key, const char *label, enum doc_unit unit,
                      const struct trace_integer *value)
{
    if (value->known)
        doc_integer(doc, key, label, unit, value->value);
    else
        doc_null(doc, key, label, unit);
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

/* Of a long command a summary has its first word and its end: what a launcher puts between says
 * little. */
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
    doc_integer(doc_detail(doc), "in_flight_events", "events in flight", DOC_COUNT,
                in_flight_known ? meta->in_flight_events.value
                                : (int64_t)study->history.in_flight_count);
    doc_bool(doc_detail(doc), "complete", "complete", is_complete(meta));
    doc_bool(doc_detail(doc), "recording", "still recording", trace->recording);
}

#define READ_BACKS_SHOWN 3

/* Lines that read what nobody computed: the first few in words. */
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
        const char *line = trace->read_backs[i].name, *slash = strrchr(line, '/');
        doc_note(doc,
                 "%.200s reads values nobody computed (%" PRIu64 " time%s); shapes after it "
                 "are guesses",
                 slash ? slash + 1 : line, trace->read_backs[i].count,
                 trace->read_backs[i].count == 1 ? "" : "s");
    }
    if (trace->read_back_count > READ_BACKS_SHOWN)
        doc_note(doc, "so do %zu other lines; --json names them",
                 trace->read_back_count - READ_BACKS_SHOWN);
}

/* The heading: first for programs, last for people, who came for the answer. */
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
    doc_integer(doc, "duration_ns", "duration", DOC_NS, (int64_t)duration_ns(study));
    add_events(doc, study);
    if (meta->simulated.known)
        doc_bool(doc_detail(doc), "simulated", "simulated", simulated);
    else
        doc_null(doc_detail(doc), "simulated", "simulated", DOC_BOOL);
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
    if (device == DEVICE_UNKNOWN)
        doc_null(doc, "device", label, DOC_COUNT);
    else
        doc_count(doc, "device", label, (uint64_t)device);
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
    const struct stock *leading = &study->history.stocks[use->leading];
    const struct trace_device *device = page_card(study, use->device);
    const char *name = device ? device->name : NULL;
    const uint64_t total_bytes = device ? device->total_bytes : 0;

    page_device_number(doc, "device", use->device);
    doc_text(doc_detail(doc), "uuid", "uuid", device ? device->uuid : NULL);
    doc_text(doc_detail_if(doc, !name), "name", "name", name);
    doc_known_bytes(doc_detail_if(doc, !total_bytes), "total_bytes", "total", total_bytes != 0,
                    total_bytes);
    doc_text(doc_detail(doc), "leading_layer", "leading layer", study_layer(leading));
    doc_text(doc_detail(doc), "leading_pool", "leading pool", study_pool(study, leading));
}

/* Else a list that shows nothing else says only that there is a device 0. */
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

static int refuse_device(const struct study *study, int device, struct err *err)
{
    const struct history *history = &study->history;
    struct text known;

    text_init(&known, KNOWN_BYTES_MAX);
    for (size_t i = 0; i < history->device_count; i++)
        if (history->devices[i].device != DEVICE_UNKNOWN)
            text_addf(&known, "%s%d", known.length ? ", " : "", history->devices[i].device);
    err_set(err, ERR_USAGE, "%.300s: device %d has no events; those with events: %s",
            study->trace.path, device, known.length ? known.data : "none");
    text_release(&known);
    return -1;
}

static int refuse_layer(const struct study *study, struct err *err)
{
    err_set(err, ERR_USAGE,
            "%.300s: --layer=pool: no framework's pool reported; the driver's layer is there: "
            "--layer=driver",
            study->trace.path);
    return -1;
}

/* What was asked for must be there: an empty table would look like a program that used nothing. */
static int check_view(const struct study *study, const struct view *view, struct err *err)
{
    const struct history *history = &study->history;
    bool has_layer = view->layer != LAYER_pool || !history->device_count;

    if (view->device >= 0 && !history_device(history, view->device))
        return refuse_device(study, view->device, err);
    for (size_t i = 0; i < history->device_count; i++)
        has_layer |= (view->device < 0 || history->devices[i].device == view->device) &&
                     study_stock(study, &history->devices[i], view) != HISTORY_NONE;
    return has_layer ? 0 : refuse_layer(study, err);
}

static int add_study(struct doc *doc, const struct study *study, const struct page *page,
                     const struct view *view, struct err *err)
{
    if (check_view(study, view, err))
        return -1;
    add_trace(doc_detail(doc), study);
    if (opening_add(doc, page->answer, study, view, err) ||
        add_devices(doc, study, page, view, err) ||
        (page->tail && page->tail(doc, study, view, err)))
        return -1;
    add_trace(doc_summary(doc), study);
    return 0;
}

/* --- several traces of one job --- */

/* The leading layer's peak of one device of one trace: ranks of a job should not differ much. */
struct job_peak {
    struct trace_integer rank;
    int device;
    char uuid[64];
    char layer[PAGE_LAYER_BYTES];
    uint64_t peak_bytes;
};

struct job {
    uint64_t complete_count, lost_events_count;
    struct job_peak *peaks;
    size_t peak_count, peak_capacity;
    struct bounds bounds;
};

static int note_peak(struct job *job, const struct study *study, const struct device_use *use,
                     struct err *err)
{
    const struct stock *stock = &study->history.stocks[use->leading];
    const struct trace_device *device;
    struct job_peak *grown;

    grown = array_grow(job->peaks, &job->peak_capacity, job->peak_count, sizeof *grown, err);
    if (!grown)
        return -1;
    job->peaks = grown;
    grown += job->peak_count++;
    *grown = (struct job_peak){
        .rank = study->trace.meta.rank, .device = use->device, .peak_bytes = stock->peak_bytes};
    page_layer_name(study, stock, grown->layer);
    device = page_card(study, use->device);
    if (device && device->uuid)
        snprintf(grown->uuid, sizeof grown->uuid, "%s", device->uuid);
    return 0;
}

static void job_release(struct job *job)
{
    free(job->peaks);
    bounds_release(&job->bounds);
}

static int note_in_job(struct job *job, const struct study *study, struct err *err)
{
    const struct trace_meta *meta = &study->trace.meta;

    job->complete_count += is_complete(meta);
    if (meta->lost_events.value > 0)
        job->lost_events_count += (uint64_t)meta->lost_events.value;
    for (size_t i = 0; i < study->history.device_count; i++)
        if (note_peak(job, study, &study->history.devices[i], err))
            return -1;
    return bounds_note(&job->bounds, study, err);
}

static void add_job_peaks(struct doc *doc, const struct job *job)
{
    doc_list_begin(doc, "peaks", "Peaks");
    for (size_t i = 0; i < job->peak_count; i++) {
        const struct job_peak *peak = &job->peaks[i];

        doc_row_begin(doc);
        add_known(doc, "rank", "Rank", DOC_COUNT, &peak->rank);
        page_device_number(doc, "Device", peak->device);
        doc_text(doc_detail(doc), "uuid", "UUID", *peak->uuid ? peak->uuid : NULL);
        doc_text(doc, "layer", "Layer", peak->layer);
        doc_bytes(doc, "peak_bytes", "Peak", peak->peak_bytes);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_job(struct doc *doc, const struct job *job, int count)
{
    doc_object_begin(doc, "job", "Job");
    doc_count(doc, "traces", "traces", (uint64_t)count);
    doc_count(doc, "complete_traces", "complete", job->complete_count);
    doc_count(doc, "lost_events", "lost events", job->lost_events_count);
    add_job_peaks(doc, job);
    bounds_add(doc, &job->bounds);
    doc_object_end(doc);
}

/* The traces that a command was given, and which of them it speaks of. */
struct operands {
    const char *const *paths;
    int count, own;
};

static int add_one_trace(struct doc *doc, struct job *job, const struct page *page,
                         const struct view *view, const struct operands *operands, struct err *err)
{
    struct study_ask ask = {
        .needs = page->needs, .at = view->at, .takes_library_ranges = view->takes_library_ranges};
    struct remedies remedies = {0};
    struct lives_watch lives = {0};
    const struct observer lives_observer = lives_watch_observer(&lives);
    struct study study;
    int status;

    if (page->ask)
        page->ask(&ask, view, doc);
    ask.watcher = page->advises ? &lives_observer : NULL;
    if (study_open(&study, operands->paths[operands->own], &ask, err)) {
        lives_watch_release(&lives);
        return -1;
    }
    status =
        symbols_set_sources(study.symbols, &view->sources, err) ||
                neighbours_join(&study, operands->paths, operands->count, operands->own, err) ||
                (page->advises && remedies_find(&remedies, &study, &lives, err))
            ? -1
            : 0;
    lives_watch_release(&lives);
    trace_close_events(&study.trace);
    study.remedies = page->advises ? &remedies : NULL;
    if (!status)
        status = (!page->writes_names && keep_names(&study.trace, study.symbols, err)) ||
                         note_in_job(job, &study, err) || add_study(doc, &study, page, view, err)
                     ? -1
                     : 0;
    study_release(&study);
    return status;
}

static int add_several_traces(struct doc *doc, const struct page *page, const struct view *view,
                              const char *const *paths, int count, struct err *err)
{
    struct job job = {0};
    int status = 0;

    doc_list_begin(doc, "traces", NULL);
    for (int i = 0; i < count && !status; i++) {
        doc_row_begin(doc);
        doc_text(doc_detail(doc), "schema", "schema", page->schema);
        status = add_one_trace(doc, &job, page, view, &(struct operands){paths, count, i}, err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    add_job(doc, &job, count);
    job_release(&job);
    return status;
}

int page_build(struct doc **doc, enum doc_level reads, const struct page *page,
               const struct view *view, const char *const *paths, int count, struct err *err)
{
    struct doc *built = doc_new(count > 1 ? "gpumemtrace.reports/1" : page->schema, reads);
    struct job job = {0};
    int status;

    if (!built) {
        err_set(err, ERR_SYSTEM, "out of memory for the result");
        return -1;
    }
    status = count > 1
                 ? add_several_traces(built, page, view, paths, count, err)
                 : add_one_trace(built, &job, page, view, &(struct operands){paths, 1, 0}, err);
    job_release(&job);
    if (status) {
        doc_free(built);
        return -1;
    }
    *doc = built;
    return 0;
}
