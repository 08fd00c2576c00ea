/* SPDX-License-Identifier: MIT */
/* See live.h. */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/study_open.h"
#include "analyzer/replay/phase/spans.h"
#include "analyzer/util/array.h"
#include "analyzer/util/clock.h"
#include "analyzer/util/text.h"
#include "live_sites.h"

#define SECOND_NS UINT64_C(1000000000)

enum { OBSERVERS = 4, CUTS = 8192, RECENT_S = 120, SAMPLES = 1024 };

/* A sum of the recorder's writer, as it was at one look. */
struct sample {
    uint64_t time_ns, live_bytes;
};

struct live {
    char *path;
    struct study study; /* with the trace, the history and the observers of the replay */
    struct follow follow;
    struct replay_plan plan;
    struct observer observers[OBSERVERS];
    uint32_t phase_now; /* path of the open phase that began last */
    uint64_t rate_seq, rate_ns, events_per_s;
    struct live_sites live_sites;
    struct sample samples[SAMPLES]; /* of account `sampled`, later than the replay */
    size_t sample_count;
    uint32_t sampled;
};

/* --- the replay --- */

static int on_span(void *self, const struct cursor *at, uint32_t span, bool begins)
{
    struct live *live = self;
    const struct span *own = &at->spans->items[span];
    (void)at;
    if (begins)
        live->phase_now = own->path;
    else if (live->phase_now == own->path)
        live->phase_now =
            own->parent == HISTORY_NONE ? HISTORY_NONE : at->spans->items[own->parent].path;
    return 0;
}

static bool has_begun(const struct live *live)
{
    return live->follow.replay;
}

/* Returns 1 if the recorder is just creating the trace. */
static int begin(struct live *live, struct err *err)
{
    const struct timeline_ask ask = {.cut_count = CUTS, .axis = TIMELINE_TIME};
    struct study *study = &live->study;
    timelines_init(&study->timelines, &ask, &study->ends);
    study->growth.ends = &study->ends;
    live->phase_now = HISTORY_NONE;
    live->observers[0] = step_ends_observer(&study->ends);
    live->observers[1] = timelines_observer(&study->timelines);
    live->observers[2] = growth_watch_observer(&study->growth);
    live->observers[3] = (struct observer){.self = live, .on_span = on_span};
    live->plan = (struct replay_plan){.rule_of = category_rule_of,
                                      .observers = {live->observers, OBSERVERS}};
    return follow_open(&live->follow, &study->trace, &study->history, live->path, &live->plan, err);
}

static void end(struct live *live)
{
    live_sites_release(&live->live_sites);
    follow_close(&live->follow);
    study_release(&live->study);
}

struct live *live_open(const char *path, struct err *err)
{
    struct live *live = array_new(1, sizeof *live, err);
    if (!live)
        return NULL;
    if (!(live->path = strdup(path)))
        err_set(err, ERR_SYSTEM, "out of memory for %s", path);
    else if (begin(live, err) >= 0)
        return live;
    live_close(live);
    return NULL;
}

void live_close(struct live *live)
{
    if (!live)
        return;
    end(live);
    free(live->path);
    free(live);
}

static void measure_rate(struct live *live)
{
    const uint64_t now_ns = monotonic_ns(), seq = live->follow.stored_seq;
    if (!live->rate_ns) {
        live->rate_ns = now_ns;
        live->rate_seq = seq;
    } else if (now_ns - live->rate_ns >= SECOND_NS) {
        const double seconds = (double)(now_ns - live->rate_ns) / SECOND_NS;
        live->events_per_s = (uint64_t)((double)(seq - live->rate_seq) / seconds + 0.5);
        live->rate_ns = now_ns;
        live->rate_seq = seq;
    }
}

int live_step(struct live *live, uint64_t budget_ns, struct err *err)
{
    const int status = has_begun(live) ? follow_step(&live->follow, budget_ns, err) : 1;
    if (status > 0) {
        end(live);
        return begin(live, err) < 0 ? -1 : 0;
    }
    if (status)
        return -1;
    live_sites_learn(&live->live_sites, &live->follow.growth);
    measure_rate(live);
    return live->follow.is_caught_up && !live->study.trace.recording;
}

/* --- what is shown of it --- */

static const struct device_use *find_device(const struct history *history, int device)
{
    for (size_t i = 0; i < history->device_count; i++)
        if (device < 0 ? history->devices[i].device >= 0 : history->devices[i].device == device)
            return &history->devices[i];
    return NULL;
}

void live_next_device(const struct live *live, struct live_choice *choice)
{
    const struct history *history = &live->study.history;
    const struct device_use *now = find_device(history, choice->device);
    if (!now)
        return;
    const size_t next = ((size_t)(now - history->devices) + 1) % history->device_count;
    choice->device = history->devices[next].device;
}

void live_next_layer(struct live_choice *choice)
{
    choice->layer = choice->layer == LAYER_driver ? LAYER_none : LAYER_driver;
}

/* --- where the replay is behind --- */

/* Returns the writer's sum of an account. NULL: the replay is not behind, or the writer has no such
 * sum. */
static const struct ring_sum *newer_sum(const struct live *live, const struct account *account)
{
    const struct ring_sums *sums = &live->follow.ring.sums;
    if (live->follow.is_caught_up || !live->study.trace.recording || sums->seq <= live->follow.seq)
        return NULL;
    for (uint64_t i = 0; i < sums->count; i++)
        if (sums->items[i].device == account->device &&
            sums->items[i].pool == (account->kind == ACCOUNT_pool ? account->pool : 0))
            return &sums->items[i];
    return NULL;
}

/* Keeps samples until the replay has caught up. A full array drops the oldest sample. */
static void keep_sample(struct live *live, uint32_t account, const struct live_view *view)
{
    if (live->sampled != account || !view->is_ahead)
        live->sample_count = 0;
    live->sampled = account;
    if (!view->is_ahead)
        return;
    if (live->sample_count == SAMPLES)
        memmove(live->samples, live->samples + 1, --live->sample_count * sizeof *live->samples);
    live->samples[live->sample_count++] = (struct sample){view->now_ns, view->live_bytes};
}

/* Returns -1 if there is no sample between the replayed moment and time_ns. */
static int64_t sample_at(const struct live *live, uint64_t time_ns)
{
    size_t i = live->sample_count;
    while (i && live->samples[i - 1].time_ns > time_ns)
        i--;
    return i ? (int64_t)live->samples[i - 1].live_bytes : -1;
}

/* --- the graph --- */

/* Returns the number of the last name in the path: of "forward" for "step/forward". */
static uint8_t number_phase(struct live_view *view, const char *path)
{
    if (!path)
        return 0;
    const char *name = path_name(path);
    for (size_t i = 0; i < view->phase_count; i++)
        if (!strncmp(view->phase_names[i], name, LIVE_TEXT_BYTES - 1))
            return (uint8_t)(i + 1);
    if (view->phase_count == LIVE_PHASES)
        return 0;
    snprintf(view->phase_names[view->phase_count], LIVE_TEXT_BYTES, "%s", name);
    return (uint8_t)++view->phase_count;
}

/* Fills points of equal width. Each point is the maximum of the timeline cuts in its time. If
 * nothing changed in that time, the point repeats the live bytes of the point before. */
static void look_at_graph(const struct live *live, const struct live_choice *choice,
                          uint32_t account, struct live_view *view)
{
    const struct timelines *timelines = &live->study.timelines;
    const struct timeline_cut *cuts = timelines_of(timelines, account);
    const uint64_t begin_ns = timelines->begin, width = timelines->width;
    const uint64_t replayed_ns = live->study.history.last.time_ns;
    if (!cuts || view->now_ns < begin_ns)
        return;
    const uint64_t all_ns = view->now_ns - begin_ns, recent_ns = RECENT_S * SECOND_NS;
    const uint64_t span_ns = choice->is_whole || all_ns < recent_ns ? all_ns : recent_ns;
    const uint64_t even_ns = span_ns / (LIVE_POINTS - 1) + 1,
                   way_ns = even_ns > width ? even_ns : width;
    const uint64_t first_ns = begin_ns + (all_ns - span_ns) / way_ns * way_ns;
    uint64_t bytes = 0;
    uint32_t path = HISTORY_NONE;
    size_t cut = 0;
    view->point_ns = way_ns;
    for (uint64_t i = 0; i < LIVE_POINTS && first_ns + i * way_ns <= view->now_ns; i++) {
        const uint64_t from_ns = first_ns + i * way_ns;
        uint64_t most = bytes;
        for (; cut < timelines->used && begin_ns + cut * width < from_ns + way_ns; cut++) {
            if (!cuts[cut].is_present)
                continue;
            most = cuts[cut].max_bytes > most ? cuts[cut].max_bytes : most;
            bytes = cuts[cut].last_bytes;
            path = cuts[cut].path;
        }
        const bool is_ahead = view->is_ahead && from_ns > replayed_ns;
        view->points[i] = is_ahead ? sample_at(live, from_ns) : (int64_t)most;
        view->phases[i] = number_phase(view, is_ahead ? NULL : study_path(&live->study, path));
        view->point_count = (size_t)i + 1;
    }
}

/* --- the view --- */

/* Sets behind_ns if events are still to be replayed. Sets is_held if all these events wait for a
 * call that has not returned. */
static void look_how_late(const struct live *live, struct live_view *view)
{
    const struct follow *follow = &live->follow;
    const struct moment *last = &live->study.history.last;
    const uint64_t replayed_ns = last->index == INDEX_NONE ? 0 : last->time_ns;
    const bool is_held = follow->is_caught_up && live->study.trace.recording &&
                         follow->ring.is_in_call && follow->ring.first_seq < follow->stored_seq;
    if ((follow->is_caught_up && !is_held) || follow->stored_ns <= replayed_ns)
        return;
    view->behind_ns = follow->stored_ns - replayed_ns;
    view->is_held = is_held && view->behind_ns > SECOND_NS;
    view->now_ns = replayed_ns;
}

static void look_at_trace(const struct live *live, struct live_view *view)
{
    const struct trace *trace = &live->study.trace;
    const struct history *history = &live->study.history;
    const struct follow *follow = &live->follow;
    const struct trace_meta *meta = &trace->meta;
    snprintf(view->program, sizeof view->program, "%s",
             meta->command.value ? meta->command.value : "");
    snprintf(view->trace, sizeof view->trace, "%s", path_name(live->path));
    view->pid = meta->pid.known ? meta->pid.value : -1;
    view->is_waiting = !has_begun(live);
    view->is_recording = trace->recording;
    view->is_complete = meta->complete.known && meta->complete.value;
    view->now_ns = history->last.index == INDEX_NONE ? 0 : history->last.time_ns;
    if (follow->is_caught_up && trace->recording && meta->start_monotonic_ns.known &&
        follow->looked_ns > view->now_ns + (uint64_t)meta->start_monotonic_ns.value)
        view->now_ns = follow->looked_ns - (uint64_t)meta->start_monotonic_ns.value;
    view->events = history->row_count;
    view->events_per_s = trace->recording ? live->events_per_s : 0;
    view->lost_events = trace->recording          ? follow->ring.lost_events
                        : meta->lost_events.known ? (uint64_t)meta->lost_events.value
                                                  : 0;
    view->failed_count = history->failures_in_all;
    look_how_late(live, view);
    const char *phase = study_path(&live->study, live->phase_now);
    snprintf(view->phase, sizeof view->phase, "%s", phase ? phase : "");
}

static void look_at_device(const struct live *live, const struct device_use *use, uint32_t number,
                           struct live_view *view)
{
    const struct study *study = &live->study;
    const struct account *account = &study->history.accounts[number];
    const char *pool = study_pool(study, account);
    view->device = use->device;
    for (size_t i = 0; i < study->trace.device_count; i++)
        if (study->trace.devices[i].device == use->device && study->trace.devices[i].name)
            snprintf(view->card, sizeof view->card, "%s", study->trace.devices[i].name);
    snprintf(view->layer, sizeof view->layer, "%s%s", pool ? pool : study_layer(account),
             pool ? " pool" : "");
    view->live_bytes = account->live_bytes;
    view->peak_bytes = account->peak_bytes;
    view->peak_ns = account->peak.index == INDEX_NONE ? 0 : account->peak.time_ns;
    view->total_bytes = study_card_bytes(study, use->device);
    const struct ring_sum *newer = newer_sum(live, account);
    if (!newer)
        return;
    view->is_ahead = true;
    view->now_ns = live->follow.stored_ns;
    view->events = live->follow.stored_seq; /* also counts numbers that were given to no event */
    view->live_bytes = newer->live_bytes;
    if (newer->peak_bytes != view->peak_bytes)
        view->peak_ns = 0;
    view->peak_bytes = newer->peak_bytes;
    *view->phase = '\0';
}

int live_look(struct live *live, const struct live_choice *choice, struct live_view *view,
              struct err *err)
{
    const struct device_use *use = find_device(&live->study.history, choice->device);
    const struct view layer = {.layer = choice->layer};
    const uint32_t account = use ? study_account(&live->study, use, &layer) : HISTORY_NONE;
    *view = (struct live_view){.device = choice->device};
    look_at_trace(live, view);
    if (account == HISTORY_NONE)
        return 0;
    view->has_account = true;
    look_at_device(live, use, account, view);
    keep_sample(live, account, view);
    look_at_graph(live, choice, account, view);
    if (live_sites_update(&live->live_sites, &live->study, use, account,
                          live->follow.is_caught_up && !live->study.trace.recording, err))
        return -1;
    live_sites_show(&live->live_sites, choice->sort, view);
    if (!view->is_ahead && live->live_sites.at_index == live->study.history.last.index)
        view->held.at_ns = view->now_ns; /* no event since the search: the sites are up to date */
    return 0;
}
