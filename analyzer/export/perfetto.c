/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace for ui.perfetto.dev. Live and reserved bytes of each layer of each device become
 * counters, phases become slices, and steps, marks and failures become instants. packets.h encodes
 * them.
 *
 * Counters are thinned (sampler.h), because viewers keep the whole file in memory. The phases that
 * one source pushes on one thread lie inside each other, so they share a track. Ranges may overlap,
 * so each range has a track of its own.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "packets.h"
#include "sampler.h"
#include "stack_texts.h"
#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/render/units.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/replay/phase/spans.h"
#include "analyzer/util/array.h"

enum { STRETCHES = 50000 };
/* Track numbers: one per thread and source of phases, one per counter (account and
 * figure), one per range. */
#define TRACK_PROCESS UINT64_C(1)
#define TRACK_INFERRED UINT64_C(2)
#define TRACK_THREADS UINT64_C(16)
#define TRACKS_PER_THREAD UINT64_C(4)
#define TRACK_COUNTERS (UINT64_C(1) << 40)
#define TRACK_RANGES (UINT64_C(1) << 48)
enum figure { FIGURE_LIVE, FIGURE_RESERVED, FIGURES };

struct counter {
    struct sampler sampler;
    struct packets *packets;
    uint64_t track; /* 0: not written */
};

struct perfetto {
    const struct export *export;
    struct packets packets;
    struct counter *counters; /* FIGURES per account */
    uint64_t *tracks;         /* tracks of the open phases, by span */
    size_t track_count, track_capacity;
    uint64_t now_ns;
};

static uint64_t track_of(uint64_t thread_id, int source)
{
    return TRACK_THREADS + thread_id * TRACKS_PER_THREAD + (uint64_t)source;
}

/* --- counters --- */

static void put_sample(void *self, const struct sample *sample)
{
    const struct counter *counter = self;
    packets_count(counter->packets, sample->time_ns, counter->track, sample->bytes);
}

static void init_counter(struct perfetto *perfetto, uint32_t account, enum figure figure)
{
    const struct export *export = perfetto->export;
    const uint32_t number = account * FIGURES + figure;
    struct counter *counter = &perfetto->counters[number];
    char layer[EXPORT_LAYER_BYTES], name[EXPORT_LAYER_BYTES + 16];
    *counter = (struct counter){.packets = &perfetto->packets, .track = TRACK_COUNTERS + number};
    counter->sampler =
        (struct sampler){.width_ns = sampler_width(export->study.history.last.time_ns, STRETCHES),
                         .keep = put_sample,
                         .self = counter};
    snprintf(name, sizeof name, "%s %s", export_layer_text(export, account, layer),
             figure == FIGURE_LIVE ? "live" : "reserved");
    packets_counter(&perfetto->packets, counter->track, TRACK_PROCESS, name);
}

static int init_counters(struct perfetto *perfetto, struct err *err)
{
    const struct export *export = perfetto->export;
    const struct history *history = &export->study.history;
    const int layer = export->view.layer;
    perfetto->counters =
        array_new(history->account_count * FIGURES, sizeof *perfetto->counters, err);
    if (!perfetto->counters)
        return -1;
    for (uint32_t i = 0; i < history->account_count; i++) {
        const struct account *account = &history->accounts[i];
        const bool is_pool = account->kind == ACCOUNT_pool;
        uint64_t reserved_bytes;

        if (!account_is_of_layer(account) || !export_takes(export, account->device) ||
            (layer != LAYER_none && is_pool != (layer == LAYER_pool)))
            continue;
        init_counter(perfetto, i, FIGURE_LIVE);
        if (frag_peak_reserved(account, &reserved_bytes))
            init_counter(perfetto, i, FIGURE_RESERVED);
    }
    return 0;
}

static void count(struct perfetto *perfetto, const struct cursor *at, uint32_t account,
                  enum figure figure, uint64_t bytes)
{
    struct counter *counter = &perfetto->counters[account * FIGURES + figure];
    if (account < perfetto->export->study.history.account_count && counter->track)
        sampler_take(&counter->sampler, export_now(&perfetto->now_ns, at), bytes);
}

/* Counts live bytes after a change. Skips the changes in the middle of a resize, because the block
 * was never gone. */
static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    const uint32_t account = change->block->account;
    if (!change->is_resize)
        count(self, at, account, FIGURE_LIVE, at->history->accounts[account].live_bytes);
    return 0;
}

static int on_reserved(void *self, const struct cursor *at, const struct segment *segment,
                       bool begins)
{
    (void)begins;
    count(self, at, segment->account, FIGURE_RESERVED,
          at->history->accounts[segment->account].reserved_bytes);
    return 0;
}

/* --- phases --- */

/* Returns the track of the phase that the current event begins. */
static uint64_t choose_track(struct perfetto *perfetto, const struct cursor *at,
                             const struct path *path, const struct span *span)
{
    if (path->source == PHASE_SOURCE_INFERRED)
        return TRACK_INFERRED;
    if (!at->event->address)
        return track_of(at->event->thread_id, path->source);
    packets_track(&perfetto->packets, TRACK_RANGES + span->ordinal, TRACK_PROCESS, "ranges");
    return TRACK_RANGES + span->ordinal;
}

static int on_span(void *self, const struct cursor *at, uint32_t number, bool begins)
{
    struct perfetto *perfetto = self;
    const struct span *span = &at->spans->items[number];
    const struct path *path = &at->history->paths[span->path];
    if (ARRAY_REACH(perfetto->tracks, perfetto->track_capacity, perfetto->track_count, number,
                    at->err))
        return -1;
    if (begins)
        perfetto->tracks[number] = choose_track(perfetto, at, path, span);
    packets_begin(&perfetto->packets, begins ? PACKET_SLICE_BEGIN : PACKET_SLICE_END,
                  export_now(&perfetto->now_ns, at), perfetto->tracks[number],
                  begins ? path->name : NULL, begins ? "phase" : NULL);
    packets_end(&perfetto->packets);
    return 0;
}

/* --- instants --- */

static int on_event(void *self, const struct cursor *at)
{
    struct perfetto *perfetto = self;
    const struct export *export = perfetto->export;
    const struct event *event = at->event;
    char step[32];
    const uint64_t now_ns = export_now(&perfetto->now_ns, at);
    if (event->kind != EVENT_STEP && event->kind != EVENT_MARK)
        return 0;
    snprintf(step, sizeof step, "step %" PRIu64, event->size_bytes);
    packets_begin(
        &perfetto->packets, PACKET_INSTANT, now_ns, track_of(event->thread_id, 0),
        event->kind == EVENT_STEP ? step : trace_string(&export->study.trace, event->object), NULL);
    packets_end(&perfetto->packets);
    return 0;
}

static int put_failure(struct perfetto *perfetto, struct stack_texts *stacks,
                       const struct failure *failure, struct err *err)
{
    const struct event *event = &failure->event;
    const struct account *account = &perfetto->export->study.history.accounts[failure->account];
    const char *stack = stack_texts_get(stacks, event->stack_id, err);
    char name[128], device[STUDY_DEVICE_BYTES];
    if (!stack)
        return -1;
    snprintf(name, sizeof name, "%s: %s on %s",
             event->result == RESULT_OUT_OF_MEMORY ? "out of memory" : "failed allocation",
             BYTES_TEXT(event->size_bytes), study_device_name(account->device, device));
    packets_begin(&perfetto->packets, PACKET_INSTANT, failure->at.time_ns,
                  track_of(event->thread_id, 0), name, "failure");
    packets_add_number(&perfetto->packets, "bytes", (int64_t)event->size_bytes);
    packets_add_number(&perfetto->packets, "result", event->result);
    packets_add_text(&perfetto->packets, "stack", stack);
    packets_end(&perfetto->packets);
    return 0;
}

/* Writes the failures that the study keeps. They come last; the order of events in the
 * file does not matter. */
static int put_failures(struct perfetto *perfetto, struct err *err)
{
    const struct history *history = &perfetto->export->study.history;
    struct stack_texts *stacks = stack_texts_new(perfetto->export, err);
    int status = stacks ? 0 : -1;
    for (size_t i = 0; i < history->failure_count && !status; i++)
        if (export_takes(perfetto->export, history->accounts[history->failures[i].account].device))
            status = put_failure(perfetto, stacks, &history->failures[i], err);
    stack_texts_free(stacks);
    return status;
}

/* --- the file --- */

static void put_tracks(struct perfetto *perfetto)
{
    const struct trace *trace = &perfetto->export->study.trace;
    const struct trace_meta *meta = &trace->meta;
    struct packets *packets = &perfetto->packets;
    char name[256];
    packets_process(packets, TRACK_PROCESS, meta->pid.known ? meta->pid.value : 1,
                    meta->command.value ? meta->command.value : "");
    packets_track(packets, TRACK_INFERRED, TRACK_PROCESS, "phases, inferred from stacks");
    for (size_t i = 0; i < trace->thread_count; i++) {
        const struct trace_thread *thread = &trace->threads[i];
        const uint64_t track = track_of(thread->thread_id, PHASE_SOURCE_API);

        snprintf(name, sizeof name, "%.64s %" PRId64, thread->name ? thread->name : "thread",
                 thread->tid);
        packets_track(packets, track, TRACK_PROCESS, name);
        packets_track(packets, track_of(thread->thread_id, PHASE_SOURCE_NVTX), track, "NVTX");
    }
}

static int put_events(struct perfetto *perfetto, struct err *err)
{
    const struct export *export = perfetto->export;
    const struct observer observer = {.self = perfetto,
                                      .on_change = on_change,
                                      .on_span = on_span,
                                      .on_reserved = on_reserved,
                                      .on_event = on_event};
    if (init_counters(perfetto, err) || export_replay(export, &observer, 0, err))
        return -1;
    for (size_t i = 0; i < export->study.history.account_count * FIGURES; i++)
        if (perfetto->counters[i].track)
            sampler_flush(&perfetto->counters[i].sampler);
    return put_failures(perfetto, err);
}

int export_perfetto(const struct export *export, struct err *err)
{
    struct perfetto perfetto = {.export = export};
    packets_init(&perfetto.packets, export->out);
    put_tracks(&perfetto);
    int status = put_events(&perfetto, err);
    free(perfetto.counters);
    free(perfetto.tracks);
    struct err none = {0};
    if (packets_release(&perfetto.packets, status ? &none : err))
        status = -1;
    return status;
}
