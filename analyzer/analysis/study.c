/* SPDX-License-Identifier: MIT */
/* A trace ready to be asked, and what a view shows of it; see study.h. */
#include "study.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyzer/util/array.h"
#include "analyzer/load/event_reader.h"
#include "analyzer/load/load.h"
#include "analyzer/replay/replay.h"
#include "moment.h"

/* --- what the pass has to know before it --- */

struct extent {
    uint64_t event_count, end_ns; /* how many events count, and the latest time of one of them */
};

static int measure(struct extent *extent, const struct trace *trace, struct err *err)
{
    struct event_reader *reader = event_reader_new(trace, err);
    struct event_batch batch = {0};
    int status = -1;

    *extent = (struct extent){0};
    if (!reader)
        return -1;
    const struct event_source source = event_reader_source(reader);
    while (!(status = source.next(source.self, &batch, err)) && batch.count) {
        extent->event_count += batch.counted;
        for (size_t i = 0; i < batch.counted; i++)
            if (batch.events[i].time_ns > extent->end_ns)
                extent->end_ns = batch.events[i].time_ns;
    }
    event_reader_free(reader);
    return status;
}

/* The last event of each of `count` equal parts; parts without an event have none. */
static uint64_t *place_stops(struct replay_plan *plan, size_t count, uint64_t event_count,
                             struct err *err)
{
    uint64_t *stops = array_new(count, sizeof *stops, err);

    for (uint64_t i = 1; stops && i <= count; i++) {
        const uint64_t end = event_count * i / count;

        if (end != event_count * (i - 1) / count)
            stops[plan->stop_count++] = end - 1;
    }
    plan->stops = stops;
    return stops;
}

/* --- the pass --- */

enum { OBSERVERS_MAX = STUDY_WATCHES + STUDY_TIMELINES_MAX };

static size_t choose_observers(struct study *study, const struct study_ask *ask,
                               const struct extent *extent, struct observer *observers)
{
    size_t count = 0;

#define WATCH(name, type)                                                                          \
    if (ask->needs & STUDY_NEEDS_##name)                                                           \
        observers[count++] = type##_observer(&study->name);
#include "watches.def"
    for (int i = 0; i < STUDY_TIMELINES_MAX; i++) {
        if (!ask->timeline_samples[i])
            continue;
        timelines_init(&study->timelines[i], ask->timeline_samples[i], extent->end_ns);
        observers[count++] = timelines_observer(&study->timelines[i]);
    }
    return count;
}

static int run_replay(struct study *study, const struct study_ask *ask, struct err *err)
{
    struct replay_plan plan = {.rule_of = category_rule_of,
                               .takes_library_ranges = ask->takes_library_ranges};
    struct observer observers[OBSERVERS_MAX];
    struct event_reader *reader = NULL;
    struct extent extent = {0};
    uint64_t *stops = NULL;
    int status = -1;

    if (moment_parse(ask->at, &plan, err))
        return -1;
    if ((ask->stop_count || ask->timeline_samples[0] || ask->timeline_samples[1]) &&
        measure(&extent, &study->trace, err))
        return -1;
    stops = place_stops(&plan, ask->stop_count, extent.event_count, err);
    if (!stops || !(reader = event_reader_new(&study->trace, err)))
        goto out;
    const struct event_source source = event_reader_source(reader);
    plan.observers =
        (struct observers){observers, choose_observers(study, ask, &extent, observers)};
    status = replay_trace(&study->history, &study->trace, &source, &plan, err);
out:
    event_reader_free(reader);
    free(stops);
    return status;
}

int study_open(struct study *study, const char *path, const struct study_ask *ask, struct err *err)
{
    *study = (struct study){0};
    if (load_trace(&study->trace, path, err) || run_replay(study, ask, err))
        goto failed;
    trace_close_events(&study->trace);
    study->symbols = symbols_new(&study->trace, err);
    if (study->symbols &&
        !categories_init(&study->categories, &study->history, study->symbols, err))
        return 0;
failed:
    study_release(study);
    return -1;
}

void study_release(struct study *study)
{
    symbols_free(study->symbols);
    categories_release(&study->categories);
#define WATCH(name, type) type##_release(&study->name);
#include "watches.def"
    for (int i = 0; i < STUDY_TIMELINES_MAX; i++)
        timelines_release(&study->timelines[i]);
    history_release(&study->history);
    trace_release(&study->trace);
    *study = (struct study){0};
}

/* --- views --- */

size_t view_limit(const struct view *view, size_t count)
{
    return view->top > 0 && (size_t)view->top < count ? (size_t)view->top : count;
}

const char *study_layer(const struct stock *stock)
{
    switch (stock->account) {
    case ACCOUNT_pool:
        return "pool";
    case ACCOUNT_context:
        return "device";
    default:
        return "driver";
    }
}

const char *study_pool(const struct study *study, const struct stock *stock)
{
    if (stock->account != ACCOUNT_pool)
        return NULL;
    return stock->pool ? trace_string(&study->trace, stock->pool) : "pytorch";
}

uint32_t study_stock(const struct study *study, const struct device_use *use,
                     const struct view *view)
{
    uint32_t stock;

    return study_stocks(study, use, view, &stock, 1) ? stock : HISTORY_NONE;
}

size_t study_stocks(const struct study *study, const struct device_use *use,
                    const struct view *view, uint32_t *stocks, size_t limit)
{
    const struct history *history = &study->history;
    size_t count = 0;

    if (view->layer != LAYER_driver && history->stocks[use->leading].account == ACCOUNT_pool &&
        count < limit)
        stocks[count++] = use->leading;
    for (uint32_t i = 0; view->layer != LAYER_driver && i < history->stock_count; i++) {
        const struct stock *stock = &history->stocks[i];

        if (stock->account == ACCOUNT_pool && stock->device == use->device && i != use->leading &&
            count < limit)
            stocks[count++] = i;
    }
    if (view->layer != LAYER_pool && count < limit)
        stocks[count++] = use->stocks[ACCOUNT_device];
    return count;
}

const char *study_device_name(int device, char buffer[STUDY_DEVICE_BYTES])
{
    if (device == DEVICE_UNKNOWN)
        snprintf(buffer, STUDY_DEVICE_BYTES, "an unknown device");
    else
        snprintf(buffer, STUDY_DEVICE_BYTES, "device %d", device);
    return buffer;
}

uint64_t study_card_bytes(const struct study *study, int device)
{
    const struct trace *trace = &study->trace;

    for (size_t i = trace->device_count; i-- > 0;)
        if (trace->devices[i].device == device)
            return trace->devices[i].total_bytes;
    return 0;
}

const char *study_path(const struct study *study, uint32_t path)
{
    return path == HISTORY_NONE ? NULL : study->history.paths[path].text;
}
