/* SPDX-License-Identifier: MIT */
/* Live bytes over time; see timeline.h. */
#include "timeline.h"

#include <stdlib.h>

#include "analyzer/replay/phase/spans.h"
#include "analyzer/util/array.h"

struct account_timeline {
    struct timeline_cut *cuts;  /* NULL: no change yet */
    struct timeline_cut *lasts; /* the last state of each cut; NULL if not asked for */
    uint64_t live_bytes;
    uint32_t path;           /* phase of its last change */
    size_t told, told_lasts; /* number of each that timelines_tell_step has given their step */
};

void timelines_init(struct timelines *timelines, const struct timeline_ask *ask,
                    const struct step_ends *ends)
{
    *timelines = (struct timelines){.ask = *ask, .ends = ends, .kind = STEP_ENDS, .width = 1};
}

void timelines_know_steps(struct timelines *timelines, const struct step_ends *found)
{
    timelines->kind = step_ends_kind(found);
    timelines->begun_count = found->begun_count;
}

/* --- steps that ended --- */

/* Drops every second end if there are too many. */
static void keep_end(struct ended_steps *ended, uint64_t index)
{
    if (++ended->seen_count & ended->skips)
        return;
    if (ended->count == TIMELINE_STEPS_MAX) {
        ended->count /= 2;
        for (size_t i = 0; i < ended->count; i++)
            ended->indices[i] = ended->indices[2 * i + 1];
        ended->skips = 2 * ended->skips + 1;
    }
    if (!(ended->seen_count & ended->skips))
        ended->indices[ended->count++] = index;
}

/* Notes an end of a step. The first end of a stronger kind makes the ends of weaker kinds void. */
static void note_end(struct timelines *timelines, enum step_end kind, uint64_t next)
{
    if (kind == STEP_ENDS)
        return;
    if (step_ends_began(timelines->ends, kind))
        timelines->ended = (struct ended_steps){0};
    keep_end(&timelines->ended, next);
}

/* --- the axis --- */

/* Number of the open step, from 1; 0: steps are not known. */
static uint64_t step_now(const struct timelines *timelines)
{
    if (timelines->kind == STEP_ENDS)
        return 0;
    const bool counts = timelines->ends->begun_count == timelines->begun_count;
    return 1 + (counts ? timelines->ends->counts[timelines->kind] : 0);
}

/* Sets the step of a cut. If no earlier replay looked for steps, the number is right only until a
 * stronger kind of end appears; see settle_steps. */
static void note_step(const struct timelines *timelines, struct timeline_cut *cut)
{
    const enum step_end kind = step_ends_kind(timelines->ends);
    if (timelines->kind != STEP_ENDS || !timelines->ask.notes_steps) {
        cut->step = step_now(timelines);
        return;
    }
    cut->begun_count = timelines->ends->begun_count;
    cut->step = 1 + (kind == STEP_ENDS ? 0 : timelines->ends->counts[kind]);
}

static uint64_t number_now(const struct timelines *timelines, const struct cursor *at,
                           enum timeline_axis unit)
{
    return unit == TIMELINE_TIME    ? timelines->now_ns
           : unit == TIMELINE_EVENT ? at->event->seq
                                    : step_now(timelines);
}

static bool is_before(const struct timelines *timelines, const struct cursor *at)
{
    const struct timeline_bound *from = &timelines->ask.from;
    return from->unit && number_now(timelines, at, from->unit) < from->number;
}

static bool is_behind(const struct timelines *timelines, const struct cursor *at)
{
    const struct timeline_bound *to = &timelines->ask.to;
    return to->unit && number_now(timelines, at, to->unit) > to->number;
}

/* Keeps times from going back, because an event of another thread may be slightly older than the
 * event before it. */
static void see_time(struct timelines *timelines, const struct cursor *at)
{
    if (at->event->time_ns > timelines->now_ns)
        timelines->now_ns = at->event->time_ns;
}

/* --- cuts --- */

static void join_cuts(struct timeline_cut *into, const struct timeline_cut *next)
{
    if (!next->is_present)
        return;
    if (!into->is_present) {
        *into = *next;
        return;
    }
    const struct timeline_cut first = *into;
    if (next->max_bytes > first.max_bytes)
        *into = *next;
    into->min_bytes = first.min_bytes < next->min_bytes ? first.min_bytes : next->min_bytes;
    into->last_bytes = next->last_bytes;
}

/* Joins each two cuts into one. */
static void widen(struct timelines *timelines)
{
    for (size_t i = 0; i < timelines->account_count; i++) {
        struct timeline_cut *cuts = timelines->accounts[i].cuts;
        for (size_t n = 0; cuts && n < timelines->used; n++) {
            struct timeline_cut cut = cuts[n];
            cuts[n].is_present = false;
            if (n % 2)
                join_cuts(&cuts[n / 2], &cut);
            else
                cuts[n / 2] = cut;
        }
        struct timeline_cut *lasts = timelines->accounts[i].lasts;
        for (size_t n = 0; lasts && n < timelines->used; n++) {
            const struct timeline_cut last = lasts[n];
            lasts[n].is_present = false;
            if (last.is_present || n % 2 == 0)
                lasts[n / 2] = last;
        }
    }
    timelines->width *= 2;
    timelines->used = (timelines->used + 1) / 2;
}

static size_t cut_now(struct timelines *timelines, const struct cursor *at)
{
    const uint64_t way = number_now(timelines, at, timelines->ask.axis) - timelines->begin;
    while (way / timelines->width >= timelines->ask.cut_count)
        widen(timelines);
    const size_t number = (size_t)(way / timelines->width);
    if (number >= timelines->used)
        timelines->used = number + 1;
    return number;
}

/* The current cut of the account. A new one begins with the bytes that were live before it. */
static struct timeline_cut *reach_cut(struct timelines *timelines, const struct cursor *at,
                                      struct account_timeline *own)
{
    struct timeline_cut *cut = &own->cuts[cut_now(timelines, at)];
    if (cut->is_present)
        return cut;
    *cut = (struct timeline_cut){.is_present = true,
                                 .time_ns = timelines->now_ns,
                                 .seq = at->event->seq,
                                 .index = at->index ? at->index - 1 : INDEX_NONE,
                                 .max_bytes = own->live_bytes,
                                 .min_bytes = own->live_bytes,
                                 .last_bytes = own->live_bytes,
                                 .path = own->path};
    note_step(timelines, cut);
    return cut;
}

/* --- the watch --- */

static struct account_timeline *find_account(struct timelines *timelines, uint32_t account,
                                             struct err *err)
{
    if (ARRAY_REACH(timelines->accounts, timelines->account_capacity, timelines->account_count,
                    account, err))
        return NULL;
    struct account_timeline *own = &timelines->accounts[account];
    if (own->cuts)
        return own;
    own->path = HISTORY_NONE;
    if (timelines->ask.keeps_lasts &&
        !(own->lasts = array_new(timelines->ask.cut_count, sizeof *own->lasts, err)))
        return NULL;
    own->cuts = array_new(timelines->ask.cut_count, sizeof *own->cuts, err);
    return own->cuts ? own : NULL;
}

/* Begins to make cuts. If the user asked for a part that begins later than the trace, the first cut
 * of each account shows what is live now. */
static void begin_cuts(struct timelines *timelines, const struct cursor *at)
{
    if (timelines->is_begun)
        return;
    timelines->is_begun = true;
    timelines->begin = number_now(timelines, at, timelines->ask.axis);
    for (size_t i = 0; i < timelines->account_count && timelines->ask.from.unit; i++)
        if (timelines->accounts[i].cuts)
            reach_cut(timelines, at, &timelines->accounts[i]);
}

static void note_last(const struct timelines *timelines, const struct cursor *at,
                      struct timeline_cut *last, uint64_t live_bytes, uint32_t path)
{
    *last = (struct timeline_cut){.is_present = true,
                                  .time_ns = timelines->now_ns,
                                  .seq = at->event->seq,
                                  .index = at->index,
                                  .max_bytes = live_bytes,
                                  .min_bytes = live_bytes,
                                  .last_bytes = live_bytes,
                                  .path = path};
    note_step(timelines, last);
}

static void note_live(struct timelines *timelines, const struct cursor *at,
                      struct account_timeline *own, uint64_t live_bytes, uint32_t path)
{
    struct timeline_cut *cut = reach_cut(timelines, at, own);
    if (own->lasts)
        note_last(timelines, at, &own->lasts[cut - own->cuts], live_bytes, path);
    cut->last_bytes = live_bytes;
    if (live_bytes < cut->min_bytes)
        cut->min_bytes = live_bytes;
    if (live_bytes <= cut->max_bytes)
        return;
    cut->max_bytes = live_bytes;
    cut->time_ns = timelines->now_ns;
    cut->seq = at->event->seq;
    note_step(timelines, cut);
    cut->index = at->index;
    cut->path = path;
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct timelines *timelines = self;
    const struct account *account = &at->history->accounts[change->block->account];
    if (!account_is_of_layer(account))
        return 0;
    struct account_timeline *own = find_account(timelines, change->block->account, at->err);
    if (!own)
        return -1;
    timelines->has_changes = true;
    if (change->is_resize) /* a resize is two changes; the state between them is skipped */
        return 0;
    const uint32_t path = change->event_span == HISTORY_NONE
                              ? HISTORY_NONE
                              : at->spans->items[change->event_span].path;
    see_time(timelines, at);
    if (!is_before(timelines, at) && !is_behind(timelines, at)) {
        begin_cuts(timelines, at);
        note_live(timelines, at, own, account->live_bytes, path);
    }
    own->live_bytes = account->live_bytes;
    own->path = path;
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct timelines *timelines = self;
    const enum step_end kind = step_ends_of_event(timelines->ends, at);
    note_end(timelines, kind, step_ends_next(at, kind));
    see_time(timelines, at);
    if (timelines->has_changes && timelines->ask.from.unit && !is_before(timelines, at) &&
        !is_behind(timelines, at))
        begin_cuts(timelines, at);
    return 0;
}

/* Gives step 1 to the cuts before the first end that counts. */
static void settle_cuts(const struct timelines *timelines, struct timeline_cut *cuts)
{
    const bool has_steps = step_ends_kind(timelines->ends) != STEP_ENDS;
    for (size_t n = 0; cuts && n < timelines->used; n++)
        if (!has_steps)
            cuts[n].step = 0;
        else if (cuts[n].begun_count != timelines->ends->begun_count && cuts[n].step)
            cuts[n].step = 1;
}

static int settle_steps(void *self, const struct cursor *at)
{
    struct timelines *timelines = self;
    (void)at;
    for (size_t i = 0; timelines->kind == STEP_ENDS && i < timelines->account_count; i++) {
        settle_cuts(timelines, timelines->accounts[i].cuts);
        settle_cuts(timelines, timelines->accounts[i].lasts);
    }
    return 0;
}

void timelines_begin_telling(struct timelines *timelines)
{
    timelines->ended = (struct ended_steps){0};
    for (size_t i = 0; i < timelines->account_count; i++) {
        struct account_timeline *own = &timelines->accounts[i];
        while (own->told)
            own->cuts[--own->told].step = 0;
        while (own->told_lasts)
            own->lasts[--own->told_lasts].step = 0;
    }
}

/* Gives the number of this step to the cuts between the end of the previous step and the end of
 * this one. After the last end, gives a number to the cuts that remain. */
void timelines_tell_step(struct timelines *timelines, uint64_t index, uint64_t seq)
{
    const uint64_t step = timelines->ended.seen_count + 1;
    for (size_t i = 0; i < timelines->account_count; i++) {
        struct account_timeline *own = &timelines->accounts[i];
        while (own->cuts && own->told < timelines->used && own->cuts[own->told].seq < seq)
            own->cuts[own->told++].step = step;
        while (own->lasts && own->told_lasts < timelines->used &&
               own->lasts[own->told_lasts].seq < seq)
            own->lasts[own->told_lasts++].step = step;
    }
    if (index != INDEX_NONE)
        keep_end(&timelines->ended, index);
}

static int on_span(void *self, const struct cursor *at, uint32_t span, bool begins)
{
    struct timelines *timelines = self;
    (void)span;
    if (!begins)
        note_end(timelines, step_ends_of_span(timelines->ends), at->index);
    return 0;
}

struct observer timelines_observer(struct timelines *timelines)
{
    return (struct observer){.self = timelines,
                             .on_change = on_change,
                             .on_span = on_span,
                             .on_event = on_event,
                             .on_end = settle_steps};
}

void timelines_release(struct timelines *timelines)
{
    for (size_t i = 0; i < timelines->account_count; i++) {
        free(timelines->accounts[i].cuts);
        free(timelines->accounts[i].lasts);
    }
    free(timelines->accounts);
    *timelines = (struct timelines){0};
}

const struct timeline_cut *timelines_of(const struct timelines *timelines, uint32_t account)
{
    return account < timelines->account_count ? timelines->accounts[account].cuts : NULL;
}

const struct timeline_cut *timelines_point(const struct timelines *timelines, uint32_t account,
                                           size_t number)
{
    const struct timeline_cut *cuts = timelines_of(timelines, account);
    const size_t cut = number / 2;
    if (!cuts || !cuts[cut].is_present)
        return NULL;
    if (number % 2 == 0)
        return &cuts[cut];
    const struct timeline_cut *lasts = timelines->accounts[account].lasts;
    const bool is_followed = cut + 1 < timelines->used && cuts[cut + 1].is_present;
    return !lasts || is_followed || lasts[cut].index == cuts[cut].index ? NULL : &lasts[cut];
}

uint64_t *timelines_moments(const struct timelines *timelines, uint32_t account, size_t *count,
                            struct err *err)
{
    uint64_t *moments = array_new(2 * timelines->used, sizeof *moments, err);
    const struct timeline_cut *point;
    *count = 0;
    for (size_t i = 0; moments && i < 2 * timelines->used; i++)
        if ((point = timelines_point(timelines, account, i)))
            moments[(*count)++] = point->index == INDEX_NONE ? 0 : point->index;
    return moments;
}
