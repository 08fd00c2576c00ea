/* SPDX-License-Identifier: MIT */
/* Loads and replays a trace; see study_open.h. */
#include "study_open.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "analyzer/load/event_reader.h"
#include "analyzer/load/load.h"
#include "analyzer/analysis/steps/growth.h"
#include "analyzer/replay/replay.h"
#include "moment.h"
#include "part_end.h"

/* --- before the pass --- */

/* Places a stop at the last event of each of `count` equal parts. Parts without events are left
 * out. */
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

int study_replay_again(const struct study *study, const struct replay_plan *plan, struct err *err)
{
    struct replay_plan forgetful = *plan;
    struct event_columns known = study->columns;
    struct event_reader *reader;
    struct history history;
    if (plan->ignores_times)
        known.varying.time_ns = 0;
    if (!(reader = event_reader_new(&study->trace, &known, err)))
        return -1;
    forgetful.forgets = true;
    const struct event_source source = event_reader_source(reader);
    const int status = replay_trace(&history, &study->trace, &source, &forgetful, err);
    if (!status)
        history_release(&history);
    event_reader_free(reader);
    return status;
}

/* Replays the trace for the given observers only. */
static int replay_for(const struct study *study, const struct study_ask *ask,
                      const struct observer *observers, size_t count, struct err *err)
{
    const struct replay_plan plan = {.rule_of = category_rule_of,
                                     .takes_library_ranges = ask->takes_library_ranges,
                                     .observers = {observers, count}};
    return study_replay_again(study, &plan, err);
}

/* Translates a moment to the number of its event. */
static int find_bound(struct timeline_bound *bound, const char *option, bool is_last,
                      const struct study *study, const struct study_ask *ask, struct err *err)
{
    struct part_end end = {.option = option,
                           .at = bound->at,
                           .is_last = is_last,
                           .device = ask->timeline_device,
                           .of_driver = ask->timeline_of_driver};
    const struct observer observer = part_end_observer(&end);
    struct replay_plan plan = {.rule_of = category_rule_of,
                               .takes_library_ranges = ask->takes_library_ranges,
                               .observers = {&observer, 1}};
    if (!bound->at)
        return 0;
    if (moment_parse(option, bound->at, &plan, err))
        return -1;
    const int status = study_replay_again(study, &plan, err);
    *bound = (struct timeline_bound){.unit = TIMELINE_EVENT, .number = end.seq};
    part_end_release(&end);
    return status;
}

/* Another replay finds the ends anew. */
static void begin_ends(struct step_ends *ends)
{
    *ends = (struct step_ends){.is_without_optimizer = ends->is_without_optimizer,
                               .is_sequence = ends->is_sequence,
                               .micro_caller = ends->micro_caller,
                               .micro_rounds = ends->micro_rounds,
                               .last.request_seq = ends->last.request_seq,
                               .last.free_seq = ends->last.free_seq};
}

static int find_last_events(struct step_ends *ends, const struct trace *trace, struct err *err)
{
    uint64_t memories = 0;
    for (unsigned memory = 0; memory < MEMORY_KIND_COUNT; memory++)
        if (spans_may_infer(account_kind((enum memory_kind)memory)))
            memories |= UINT64_C(1) << memory;
    return event_reader_last(trace, EVENT_ALLOC, memories, &ends->last.request_seq, err) ||
                   event_reader_last(trace, EVENT_FREE, memories, &ends->last.free_seq, err)
               ? -1
               : 0;
}

/* True if an optimizer stopped allocating and hid later steps, if the loops of a program were
 * taken for phases that alternate, or micro batches for steps. Prepares `ends` for another replay,
 * which finds the steps. */
static bool uncover_steps(struct step_ends *ends)
{
    const bool was_sequence = step_ends_were_sequence(ends);
    const uint32_t micro_rounds = step_ends_found_micro_rounds(ends);
    const uint32_t micro_caller =
        micro_rounds ? ends->clippings.caller : step_ends_found_micro(ends);
    if (!step_ends_were_hidden(ends) && !was_sequence && !micro_caller)
        return false;
    ends->is_without_optimizer |= step_ends_were_hidden(ends);
    ends->is_sequence |= was_sequence;
    if (micro_caller) {
        ends->micro_caller = micro_caller;
        ends->micro_rounds = micro_rounds;
    }
    begin_ends(ends);
    return true;
}

/* Replays the trace only to find the ends of steps. */
static int find_ends(struct study *study, const struct study_ask *ask, struct err *err)
{
    const struct observer observer = step_ends_observer(&study->ends);
    do {
        if (replay_for(study, ask, &observer, 1, err))
            return -1;
    } while (uncover_steps(&study->ends));
    return 0;
}

static int begin_timelines(struct study *study, const struct study_ask *ask, struct err *err)
{
    struct timeline_ask *own = &study->timelines.ask;
    timelines_init(&study->timelines, &ask->timeline, &study->ends);
    if (find_bound(&own->from, "from", false, study, ask, err) ||
        find_bound(&own->to, "to", true, study, ask, err))
        return -1;
    if (!timeline_needs_steps(&ask->timeline))
        return 0;
    if (find_ends(study, ask, err))
        return -1;
    timelines_know_steps(&study->timelines, &study->ends);
    begin_ends(&study->ends);
    return 0;
}

/* --- the pass --- */

/* The watches, the observers of step ends, timelines and whatif runs, and those of the caller. */
enum { OBSERVERS_MAX = STUDY_WATCHES + 3 + STUDY_WATCHERS_MAX };

/* The observer of step ends comes first, because others read its result. */
static size_t choose_watches(struct study *study, unsigned needs, struct observer *observers)
{
    size_t count = 0;
    study->phases.ends = study->growth.ends = study->steps.ends = &study->ends;
    study->holders.trace = &study->trace;
    observers[count++] = step_ends_observer(&study->ends);
#define WATCH(name, type)                                                                          \
    if (needs & STUDY_NEEDS_##name)                                                                \
        observers[count++] = type##_observer(&study->name);
#include "watches.def"
    return count;
}

static size_t choose_observers(struct study *study, const struct study_ask *ask,
                               struct observer *observers)
{
    size_t count = choose_watches(study, ask->needs, observers);
    if (ask->timeline.cut_count)
        observers[count++] = timelines_observer(&study->timelines);
    if (ask->whatif_count)
        observers[count++] = whatif_observer(&study->whatif);
    for (size_t i = 0; i < ask->watchers.count; i++)
        observers[count++] = ask->watchers.items[i];
    return count;
}

static int run_replay(struct study *study, const struct study_ask *ask, struct err *err)
{
    struct replay_plan plan = {.rule_of = category_rule_of,
                               .takes_library_ranges = ask->takes_library_ranges};
    struct observer observers[OBSERVERS_MAX];
    struct event_reader *reader = NULL;
    uint64_t *stops = NULL, event_count = 0;
    int status = -1;
    if (moment_parse("at", ask->at, &plan, err) ||
        find_last_events(&study->ends, &study->trace, err) ||
        (ask->whatif_count &&
         whatif_init(&study->whatif, &study->trace, ask->whatifs, ask->whatif_count, err)))
        return -1;
    if (ask->stop_count && event_reader_count(&study->trace, &event_count, err))
        return -1;
    if (ask->timeline.cut_count && begin_timelines(study, ask, err))
        return -1;
    stops = place_stops(&plan, ask->stop_count, event_count, err);
    if (!stops || !(reader = event_reader_new(&study->trace, NULL, err)))
        goto out;
    const struct event_source source = event_reader_source(reader);
    plan.observers = (struct observers){observers, choose_observers(study, ask, observers)};
    if (ask->needs & STUDY_NEEDS_local_peaks)
        plan.keeper = local_peaks_keeper(&study->local_peaks);
    status = replay_trace(&study->history, &study->trace, &source, &plan, err);
    if (!status)
        study->columns = event_reader_columns(reader);
out:
    event_reader_free(reader);
    free(stops);
    return status;
}

/* --- second replay: steps that nothing marks, or that an optimizer hid --- */

/* Finds the rounds that end the steps. Among the leading accounts that have rounds, takes the one
 * with the highest peak. If none has rounds, takes those of all accounts together. */
static int find_period(struct step_period *period, const struct study *study,
                       const struct growth_watch *watch, struct err *err)
{
    const struct history *history = &study->history;
    uint64_t most_bytes = 0;
    for (size_t i = 0; i < history->device_count; i++) {
        const uint32_t account = history->devices[i].leading;
        struct step_period found;
        if (growth_find_period(&found, watch, account, err))
            return -1;
        if (step_period_is_known(&found) && history->accounts[account].peak_bytes > most_bytes) {
            most_bytes = history->accounts[account].peak_bytes;
            step_period_release(period);
            *period = found;
        } else {
            step_period_release(&found);
        }
    }
    return step_period_is_known(period) ? 0 : growth_find_period(period, watch, HISTORY_NONE, err);
}

/* True if what a leading account keeps may wait for a backward. In this case the rounds may be
 * layers. */
static int waits(bool *waits, const struct study *study, struct err *err)
{
    struct growth growth;
    if (growth_find(&growth, &study->growth, study->ends.period.account, err))
        return -1;
    *waits = growth_waits(&growth);
    growth_release(&growth);
    return 0;
}

/* The steps that were passed to the timelines so far. */
struct steps_told {
    const struct step_watch *watch;
    struct timelines *timelines;
    uint64_t count, begun_count;
};

static int tell_step(void *self, const struct cursor *at)
{
    struct steps_told *told = self;
    /* The event may be a part of the step that it ends; see step_ends_next. */
    const uint64_t is_part = told->watch->recent_ends[0] > at->index;

    if (told->begun_count != told->watch->ends->begun_count) {
        told->begun_count = told->watch->ends->begun_count;
        told->count = 0;
        timelines_begin_telling(told->timelines);
    }
    for (; told->count < told->watch->step_count; told->count++)
        timelines_tell_step(told->timelines, told->watch->recent_ends[0],
                            told->watch->last_end_seq + is_part);
    return 0;
}

static int tell_last_step(void *self, const struct cursor *at)
{
    struct steps_told *told = self;
    (void)at;
    timelines_tell_step(told->timelines, INDEX_NONE, UINT64_MAX);
    return 0;
}

/* Repeats the analyses that need steps, with the step ends that are known by now. If asked to, also
 * passes the steps to the timelines. */
static int replay_steps(struct study *study, const struct study_ask *ask, unsigned needs,
                        struct err *err)
{
    struct steps_told told = {.watch = &study->steps, .timelines = &study->timelines};
    struct observer observers[OBSERVERS_MAX];
    size_t count = choose_watches(study, needs, observers);
    if (needs & STUDY_NEEDS_steps && ask->timeline.notes_steps) {
        timelines_begin_telling(&study->timelines);
        observers[count++] =
            (struct observer){.self = &told, .on_event = tell_step, .on_end = tell_last_step};
    }
    return replay_for(study, ask, observers, count, err);
}

enum { NEEDS_STEPS = STUDY_NEEDS_phases | STUDY_NEEDS_growth | STUDY_NEEDS_steps };

/* Replays the trace again if only its end told which phases end steps. */
static int replay_uncovered(struct study *study, const struct study_ask *ask, struct err *err)
{
    const unsigned needs = ask->needs & NEEDS_STEPS;
    while (needs && uncover_steps(&study->ends)) {
        phases_release(&study->phases);
        growth_watch_release(&study->growth);
        step_watch_release(&study->steps);
        if (replay_steps(study, ask, needs, err))
            return -1;
    }
    return 0;
}

/* Ends a step with each round of a program that marks no steps. */
static int replay_rounds(struct study *study, const struct study_ask *ask, struct err *err)
{
    struct step_period period = {0};
    bool is_waiting = false;
    if (find_period(&period, study, &study->growth, err)) {
        step_period_release(&period);
        return -1;
    }
    if (!step_period_is_known(&period))
        return 0;
    step_watch_release(&study->steps);
    growth_watch_release(&study->growth);
    study->ends = (struct step_ends){.period = period};
    if (replay_steps(study, ask, ask->needs & (STUDY_NEEDS_steps | STUDY_NEEDS_growth), err) ||
        waits(&is_waiting, study, err))
        return -1;
    if (is_waiting) {
        step_watch_release(&study->steps);
        timelines_begin_telling(&study->timelines);
    }
    return 0;
}

/* True if a leading account held much more at its last birth than when the last step ended. */
static bool grows_afterwards(const struct study *study)
{
    enum { VISIBLE_DIVISOR = 10 };
    const struct growth_watch *watch = &study->growth;

    for (size_t i = 0; i < study->history.device_count && watch->has_ended; i++) {
        const uint32_t account = study->history.devices[i].leading;
        if (account >= watch->account_count)
            continue;
        const struct account_ends *own = &watch->accounts[account];
        if (own->birth_live_bytes > own->end_live_bytes + own->most_bytes / VISIBLE_DIVISOR)
            return true;
    }
    return false;
}

/* Empties the growth after the last step and measures it in a replay. */
static int replay_afterwards(struct study *study, const struct study_ask *ask, struct err *err)
{
    struct step_ends *ends = &study->afterwards_ends;
    growth_watch_release(&study->afterwards);
    ends->ended = STEP_ENDS;
    ends->since_index = growth_watch_last_begin(&study->growth);
    study->afterwards = (struct growth_watch){.ends = ends, .since_index = ends->since_index};
    const struct observer observers[] = {step_ends_observer(ends),
                                         growth_watch_observer(&study->afterwards)};
    const size_t first = ends->period.roles ? 0 : 1; /* nothing ends while rounds are not known */
    return replay_for(study, ask, observers + first, 2 - first, err);
}

/* Finds the rounds after the last step, for example those of an evaluation. */
static int find_afterwards(struct study *study, const struct study_ask *ask, struct err *err)
{
    if (!grows_afterwards(study))
        return 0;
    if (replay_afterwards(study, ask, err) ||
        find_period(&study->afterwards_ends.period, study, &study->afterwards, err))
        return -1;
    if (study->afterwards_ends.period.roles)
        return replay_afterwards(study, ask, err);
    growth_watch_release(&study->afterwards);
    return 0;
}

static int find_steps(struct study *study, const struct study_ask *ask, struct err *err)
{
    if (replay_uncovered(study, ask, err))
        return -1;
    if (!(ask->needs & STUDY_NEEDS_growth))
        return 0;
    return replay_rounds(study, ask, err) ? -1 : find_afterwards(study, ask, err);
}

/* --- second replay: timeline by phase or category --- */

static int ask_moments(struct study *study, uint32_t account, struct err *err)
{
    size_t count;
    uint64_t *moments = timelines_moments(&study->timelines, account, &count, err);
    return moments ? breakdown_ask(&study->breakdown, account, moments, count, err) : -1;
}

/* The number of the block's path, which is the same in both replays. path_count: outside any
 * phase. */
static size_t path_of(const void *self, const struct block *block)
{
    const struct history *history = self;
    return block->path == HISTORY_NONE ? history->path_count : block->path;
}

static size_t category_of(const void *self, const struct block *block)
{
    return categories_of(self, block);
}

static int break_down(struct study *study, const struct study_ask *ask, struct err *err)
{
    const uint32_t account_count = (uint32_t)study->history.account_count;
    const struct breakdown_groups by_category = {CATEGORY_COUNT, category_of, &study->categories};
    const struct breakdown_groups by_phase = {study->history.path_count + 1, path_of,
                                              &study->history};
    const bool is_by_phase = ask->timeline_by == BREAKDOWN_BY_PHASE;
    if (breakdown_init(&study->breakdown, is_by_phase ? &by_phase : &by_category, account_count,
                       err))
        return -1;
    for (uint32_t i = 0; i < account_count; i++)
        if (ask_moments(study, i, err))
            return -1;
    const struct observer observer = breakdown_observer(&study->breakdown);
    return replay_for(study, ask, &observer, 1, err);
}

static int follow_series(struct study *study, const struct study_ask *ask, struct err *err)
{
    struct observer observers[SERIES_OBSERVERS];
    return series_begin(&study->series, &study->categories, &study->timelines, observers, err) ||
                   replay_for(study, ask, observers, SERIES_OBSERVERS, err)
               ? -1
               : 0;
}

static int load(struct trace *trace, const char *path, const struct opened_trace *file,
                struct err *err)
{
    return file->db ? load_opened(trace, path, file, err) : load_trace(trace, path, err);
}

static int study_events(struct study *study, const struct study_ask *ask, struct err *err)
{
    if (run_replay(study, ask, err) || find_steps(study, ask, err) ||
        (ask->whatifs == &fit_whatif && fit_find(&study->fit, &study->whatif, &study->trace, err)))
        return -1;
    if (!study->symbols)
        study->symbols = symbols_new(&study->trace, err);
    return !study->symbols ||
                   categories_init(&study->categories, &study->history, study->symbols, err) ||
                   (ask->timeline_by >= BREAKDOWN_BY_PHASE && break_down(study, ask, err)) ||
                   (ask->wants_series && follow_series(study, ask, err))
               ? -1
               : 0;
}

int study_open(struct study *study, const char *path, const struct study_ask *ask, struct err *err)
{
    *study = (struct study){.takes_library_ranges = ask->takes_library_ranges};
    if (!load(&study->trace, path, &ask->file, err) && !study_events(study, ask, err))
        return 0;
    study_release(study);
    return -1;
}

int study_open_again(struct study *again, const struct study *study, const struct study_ask *ask,
                     struct err *err)
{
    if (study->trace.recording || !study->trace.db)
        return study_open(again, study->trace.path, ask, err);
    *again = (struct study){.trace = study->trace,
                            .symbols = study->symbols,
                            .is_again = true,
                            .takes_library_ranges = ask->takes_library_ranges};
    if (!study_events(again, ask, err))
        return 0;
    study_release(again);
    return -1;
}

void study_release(struct study *study)
{
    if (!study->is_again)
        symbols_free(study->symbols);
    categories_release(&study->categories);
#define WATCH(name, type) type##_release(&study->name);
#include "watches.def"
    growth_watch_release(&study->afterwards);
    step_ends_release(&study->ends);
    step_ends_release(&study->afterwards_ends);
    timelines_release(&study->timelines);
    series_release(&study->series);
    breakdown_release(&study->breakdown);
    whatif_release(&study->whatif);
    fit_release(&study->fit);
    history_release(&study->history);
    if (!study->is_again)
        trace_release(&study->trace);
    *study = (struct study){0};
}
