/* SPDX-License-Identifier: MIT */
/*
 * What stands around every answer: the trace, its devices, and for several traces the job. It must
 * not know any one command.
 */
#include "docs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

static void add_integer(struct doc *doc, const char *key, const char *label, enum doc_unit unit,
                        const struct trace_integer *value)
{
    if (value->known)
        doc_integer(doc, key, label, unit, value->value);
    else
        doc_null(doc, key, label, unit);
}

static uint64_t duration_ns(const struct trace *trace)
{
    if (trace->meta.end_ns.known && trace->meta.end_ns.value > 0)
        return (uint64_t)trace->meta.end_ns.value;
    return trace->event_count ? trace->events[trace->event_count - 1].time_ns : 0;
}

static bool is_complete(const struct trace_meta *meta)
{
    return meta->complete.known && meta->complete.value != 0;
}

static void add_trace_for_machines(struct doc *doc, const struct study *study)
{
    const struct trace *trace = &study->trace;
    const struct trace_meta *meta = &trace->meta;

    doc_text(doc, "path", NULL, trace->path);
    add_integer(doc, "pid", NULL, DOC_COUNT, &meta->pid);
    doc_text(doc, "command", NULL, meta->command.value);
    doc_text(doc, "host", NULL, meta->host.value);
    add_integer(doc, "rank", NULL, DOC_COUNT, &meta->rank);
    add_integer(doc, "start_unix_ns", NULL, DOC_NS, &meta->start_unix_ns);
    doc_integer(doc, "duration_ns", NULL, DOC_NS, (int64_t)duration_ns(trace));
    doc_count(doc, "events", NULL, trace->event_count);
    add_integer(doc, "lost_events", NULL, DOC_COUNT, &meta->lost_events);
    if (meta->in_flight_events.known)
        doc_integer(doc, "in_flight_events", NULL, DOC_COUNT, meta->in_flight_events.value);
    else
        doc_count(doc, "in_flight_events", NULL, study->history.in_flight_count);
    doc_bool(doc, "complete", NULL, is_complete(meta));
    doc_bool(doc, "recording", NULL, trace->recording);
    if (meta->simulated.known)
        doc_bool(doc, "simulated", NULL, meta->simulated.value != 0);
    else
        doc_null(doc, "simulated", NULL, DOC_BOOL);
}

/* Of a long command its first word and its end: what a launcher puts between says little. */
static void add_command(struct doc *doc, const char *command)
{
    enum { TAIL_MAX = 120 };
    size_t length = command ? strlen(command) : 0;
    const char *tail = length > TAIL_MAX ? strchr(command + length - TAIL_MAX, ' ') : NULL;
    const char *head = tail ? strchr(command, ' ') : NULL;

    if (head < tail)
        doc_textf(doc, NULL, "program", "%.*s …%s", (int)(head - command), command, tail);
    else
        doc_text(doc, NULL, "program", command);
}

static void add_trace_for_people(struct doc *doc, const struct study *study)
{
    const char *dry_run = study_dry_run(study);
    const struct trace *trace = &study->trace;
    const struct trace_meta *meta = &trace->meta;

    doc_text(doc, NULL, "trace", trace->path);
    add_command(doc, meta->command.value);
    if (meta->rank.known)
        doc_integer(doc, NULL, "rank", DOC_COUNT, meta->rank.value);
    if (meta->simulated.known && meta->simulated.value)
        doc_text(doc, NULL, "device", "simulated");
    doc_integer(doc, NULL, "duration", DOC_NS, (int64_t)duration_ns(trace));
    doc_textf(doc, NULL, "events", "%zu%s", trace->event_count,
              is_complete(meta)  ? ", complete"
              : trace->recording ? ", still recording"
                                 : "");
    if (dry_run)
        doc_note(doc, "%s", dry_run);
}

static void add_device_number(struct doc *doc, int device, const char *label)
{
    if (device == DEVICE_UNKNOWN)
        doc_null(doc, "device", label, DOC_COUNT);
    else
        doc_count(doc, "device", label, (uint64_t)device);
}

static void add_device_head(struct doc *doc, const struct study *study,
                            const struct device_use *use, const struct view *view)
{
    const struct trace *trace = &study->trace;
    const struct stock *leading = &study->history.stocks[use->leading];
    const struct trace_device *device = NULL;

    for (size_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].device == use->device)
            device = &trace->devices[i];
    add_device_number(doc, use->device, view->people ? "device" : NULL);
    doc_text(doc, "uuid", NULL, device ? device->uuid : NULL);
    doc_text(doc, "name", view->people && device && device->name ? "name" : NULL,
             device ? device->name : NULL);
    if (device && device->total_bytes)
        doc_bytes(doc, "total_bytes", view->people ? "total" : NULL, device->total_bytes);
    else
        doc_null(doc, "total_bytes", NULL, DOC_BYTES);
    doc_text(doc, "leading_layer", NULL, study_layer(leading));
    doc_text(doc, "leading_pool", NULL, study_pool(study, leading));
}

static int add_devices(struct doc *doc, const struct study *study, const struct answer *answer,
                       const struct view *view, struct err *err)
{
    const struct history *history = &study->history;
    int status = 0;

    doc_list_begin(doc, "devices", NULL);
    for (size_t i = 0; i < history->device_count && !status; i++) {
        const struct device_use *use = &history->devices[i];

        if (view->device >= 0 && use->device != view->device)
            continue;
        doc_row_begin(doc);
        add_device_head(doc, study, use, view);
        if (answer->device)
            status = answer->device(doc, study, use, view, err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return status;
}

static int add_study(struct doc *doc, const struct study *study, const struct answer *answer,
                     const struct view *view, struct err *err)
{
    if (view->device >= 0 && !history_device(&study->history, view->device)) {
        err_set(err, ERR_USAGE, "%s: device %d has no events", study->trace.path, view->device);
        return -1;
    }
    if (view->people && answer->head && answer->head(doc, study, view, err))
        return -1;
    doc_object_begin(doc, "trace", NULL);
    if (view->people)
        add_trace_for_people(doc, study);
    else
        add_trace_for_machines(doc, study);
    doc_object_end(doc);
    if (add_devices(doc, study, answer, view, err))
        return -1;
    return answer->tail ? answer->tail(doc, study, view, err) : 0;
}

/* --- several traces of one job --- */

/* The leading layer's peak of one device of one trace: ranks of a job should not differ much. */
struct job_peak {
    struct trace_integer rank;
    int device;
    char uuid[64];
    char name[DOCS_NAME_BYTES];
    uint64_t peak_bytes;
};

struct job {
    uint64_t complete_count, lost_events_count;
    struct job_peak *peaks;
    size_t peak_count, peak_capacity;
};

static int note_peak(struct job *job, const struct study *study, const struct device_use *use,
                     struct err *err)
{
    const struct stock *stock = &study->history.stocks[use->leading];
    struct job_peak *grown;

    grown = array_grow(job->peaks, &job->peak_capacity, job->peak_count, sizeof *grown, err);
    if (!grown)
        return -1;
    job->peaks = grown;
    grown += job->peak_count++;
    *grown = (struct job_peak){
        .rank = study->trace.meta.rank, .device = use->device, .peak_bytes = stock->peak_bytes};
    docs_layer_name(study, stock, grown->name);
    for (size_t i = 0; i < study->trace.device_count; i++)
        if (study->trace.devices[i].device == use->device && study->trace.devices[i].uuid)
            snprintf(grown->uuid, sizeof grown->uuid, "%s", study->trace.devices[i].uuid);
    return 0;
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
    return 0;
}

static void add_peaks(struct doc *doc, const struct job *job, bool people)
{
    doc_list_begin(doc, "peaks", people ? "Peaks" : NULL);
    for (size_t i = 0; i < job->peak_count; i++) {
        const struct job_peak *peak = &job->peaks[i];

        doc_row_begin(doc);
        add_integer(doc, "rank", people ? "Rank" : NULL, DOC_COUNT, &peak->rank);
        add_device_number(doc, peak->device, people ? "Device" : NULL);
        doc_text(doc, "uuid", NULL, *peak->uuid ? peak->uuid : NULL);
        doc_text(doc, "layer", people ? "Layer" : NULL, peak->name);
        doc_bytes(doc, "peak_bytes", people ? "Peak" : NULL, peak->peak_bytes);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_job(struct doc *doc, const struct job *job, int count, const struct view *view)
{
    doc_object_begin(doc, "job", view->people ? "Job" : NULL);
    doc_count(doc, "traces", view->people ? "traces" : NULL, (uint64_t)count);
    doc_count(doc, "complete_traces", view->people ? "complete" : NULL, job->complete_count);
    doc_count(doc, "lost_events", view->people ? "lost events" : NULL, job->lost_events_count);
    add_peaks(doc, job, view->people);
    doc_object_end(doc);
}

static int add_one(struct doc *doc, struct job *job, const struct answer *answer,
                   const struct view *view, const char *path, struct err *err)
{
    struct study study;
    int status;

    if (study_open(&study, path, err))
        return -1;
    status = symbols_set_sources(study.symbols, &view->sources, err) ||
                     note_in_job(job, &study, err) || add_study(doc, &study, answer, view, err)
                 ? -1
                 : 0;
    study_release(&study);
    return status;
}

static int add_several(struct doc *doc, const struct answer *answer, const struct view *view,
                       const char *const *paths, int count, struct err *err)
{
    struct job job = {0};
    int status = 0;

    doc_list_begin(doc, "traces", NULL);
    for (int i = 0; i < count && !status; i++) {
        doc_row_begin(doc);
        doc_text(doc, "schema", NULL, answer->schema);
        status = add_one(doc, &job, answer, view, paths[i], err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    add_job(doc, &job, count, view);
    free(job.peaks);
    return status;
}

int docs_build(struct doc **doc, enum doc_level reads, const struct answer *answer,
               const struct view *view, const char *const *paths, int count, struct err *err)
{
    struct doc *built = doc_new(count > 1 ? "gpumemtrace.reports/1" : answer->schema, reads);
    struct job job = {0};
    int status;

    if (!built) {
        err_set(err, ERR_SYSTEM, "out of memory for the result");
        return -1;
    }
    status = count > 1 ? add_several(built, answer, view, paths, count, err)
                       : add_one(built, &job, answer, view, paths[0], err);
    free(job.peaks);
    if (status) {
        doc_free(built);
        return -1;
    }
    *doc = built;
    return 0;
}
