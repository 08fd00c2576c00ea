/* SPDX-License-Identifier: MIT */
/* Sums of each step; see step_watch.h. */
#include "step_watch.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/load/durations.h"
#include "analyzer/util/array.h"

/* --- accounts and sites --- */

static struct account_steps *find_account(struct step_watch *watch, const struct cursor *at,
                                          uint32_t account)
{
    if (ARRAY_REACH(watch->accounts, watch->account_capacity, watch->account_count, account,
                    at->err))
        return NULL;
    struct account_steps *own = &watch->accounts[account];
    if (own->is_used)
        return own;
    own->is_used = true;
    own->current = (struct step){.ordinal = watch->step_count + 1,
                                 .begin_index = watch->recent_ends[0],
                                 .begin_ns = watch->begin_ns};
    return own;
}

static struct site_steps *find_site(struct account_steps *own, const struct block *block,
                                    struct err *err)
{
    const uint32_t number = site_numbers_get(&own->numbers, block->site_id);
    if (number != PAIR_MAP_NONE)
        return &own->sites[number];
    if (ARRAY_GROW(own->sites, own->site_capacity, own->site_count, err))
        return NULL;
    if (site_numbers_put(&own->numbers, block->site_id, (uint32_t)own->site_count, err))
        return NULL;
    own->sites[own->site_count] = (struct site_steps){.site_id = block->site_id};
    return &own->sites[own->site_count++];
}

static int add_birth(struct account_steps *own, const struct block *block, struct err *err)
{
    const uint64_t size_bytes = block->size_bytes;
    struct site_steps *site = find_site(own, block, err);
    if (!site)
        return -1;
    if (!site->now_bytes && size_bytes) {
        if (ARRAY_GROW(own->touched, own->touched_capacity, own->touched_count, err))
            return -1;
        own->touched[own->touched_count++] = (uint32_t)(site - own->sites);
    }
    site->now_bytes += size_bytes;
    site->all_bytes += size_bytes;
    if (size_bytes > site->now_largest_bytes)
        site->now_largest_bytes = size_bytes;
    if (size_bytes > site->all_largest_bytes)
        site->all_largest_bytes = size_bytes;
    return 0;
}

static void count_driver(struct step_watch *watch, const struct account *account,
                         const struct change *change)
{
    struct driver_work *work = &watch->work[DEVICE_SLOT(account->device)];
    if (account->kind != ACCOUNT_device || change->is_resize)
        return;
    work->calls_count++;
    if (!change->birth && change->block->is_segment)
        work->flushed_bytes += change->block->size_bytes;
}

static void note_refusal(struct step_watch *watch, const struct event *event)
{
    const int slot = DEVICE_SLOT(event->device);
    if (event->kind != EVENT_ALLOC || event->result == INT32_MIN)
        return;
    switch (account_kind((enum memory_kind)event->memory)) {
    case ACCOUNT_pool:
        watch->is_refused[slot] &= event->result == 0;
        break;
    case ACCOUNT_device:
        watch->work[slot].calls_count += event->result != 0;
        watch->work[slot].retries_count += event->result == 0 && watch->is_refused[slot];
        watch->is_refused[slot] = event->result == RESULT_OUT_OF_MEMORY;
        break;
    default:
        break;
    }
}

/* --- the end of a step --- */

static struct driver_work work_since(const struct driver_work *now, const struct driver_work *then)
{
    return (struct driver_work){now->calls_count - then->calls_count,
                                now->retries_count - then->retries_count,
                                now->flushed_bytes - then->flushed_bytes};
}

static int keep_highest(struct account_steps *own, const struct step *step, struct err *err)
{
    own->highest = *step;
    own->highest_site_count = 0;
    for (size_t i = 0; i < own->touched_count; i++) {
        const struct site_steps *site = &own->sites[own->touched[i]];
        if (ARRAY_GROW(own->highest_sites, own->highest_site_capacity, own->highest_site_count,
                       err))
            return -1;
        own->highest_sites[own->highest_site_count++] =
            (struct step_site){own->touched[i], site->now_bytes, site->now_largest_bytes};
    }
    return 0;
}

static void join_windows(struct account_steps *own)
{
    for (size_t i = 0; i < own->window_count; i++) {
        const struct step_window *from = &own->windows[i];
        struct step_window *into = &own->windows[i / 2];
        if (i % 2 == 0)
            *into = *from;
        else if (from->highest.peak_bytes > into->highest.peak_bytes)
            into->highest = from->highest;
    }
    own->window_count = (own->window_count + 1) / 2;
    own->window_steps *= 2;
}

static void add_to_window(struct account_steps *own, const struct step *step)
{
    const uint64_t place = step->ordinal - 2;
    if (!own->window_steps)
        own->window_steps = 1;
    while (place / own->window_steps >= STEP_WINDOWS)
        join_windows(own);
    struct step_window *window = &own->windows[place / own->window_steps];
    if (place / own->window_steps >= own->window_count) {
        /* The steps before the account had any memory were empty. */
        for (size_t i = own->window_count; i < place / own->window_steps; i++)
            own->windows[i] = (struct step_window){0};
        own->window_count = (size_t)(place / own->window_steps) + 1;
        *window = (struct step_window){.highest = *step, .first = *step};
        if (place % own->window_steps)
            window->first = (struct step){0};
    } else if (step->peak_bytes > window->highest.peak_bytes) {
        window->highest = *step;
    }
}

static void sum_sites(struct account_steps *own, bool counts)
{
    for (size_t i = 0; i < own->touched_count; i++) {
        struct site_steps *site = &own->sites[own->touched[i]];
        site->steps_count += counts;
        site->bytes += counts ? site->now_bytes : 0;
        site->largest_bytes += counts ? site->now_largest_bytes : 0;
        site->now_bytes = site->now_largest_bytes = 0;
    }
    own->touched_count = 0;
}

/* Makes all allocations since the trace began those of the open step. */
static int open_all_sites(struct account_steps *own, struct err *err)
{
    own->touched_count = 0;
    for (size_t i = 0; i < own->site_count; i++) {
        struct site_steps *site = &own->sites[i];
        *site = (struct site_steps){.site_id = site->site_id,
                                    .now_bytes = site->all_bytes,
                                    .now_largest_bytes = site->all_largest_bytes,
                                    .all_bytes = site->all_bytes,
                                    .all_largest_bytes = site->all_largest_bytes};
        if (!site->all_bytes)
            continue;
        if (ARRAY_GROW(own->touched, own->touched_capacity, own->touched_count, err))
            return -1;
        own->touched[own->touched_count++] = (uint32_t)i;
    }
    return 0;
}

/* Called when a new kind of end appears. Ends of weaker kinds become void, and the first step
 * begins with the trace again. */
static int begin_again(struct step_watch *watch, const struct cursor *at)
{
    watch->step_count = 0;
    memset(watch->recent_ends, 0, sizeof watch->recent_ends);
    memset(watch->begun_work, 0, sizeof watch->begun_work);
    for (size_t i = 0; i < watch->account_count; i++) {
        struct account_steps *own = &watch->accounts[i];
        if (!own->is_used)
            continue;
        if (open_all_sites(own, at->err))
            return -1;
        own->window_count = own->highest_site_count = 0;
        own->window_steps = own->peak_ordinal = 0;
        own->highest = (struct step){0};
        own->current = (struct step){.ordinal = 1,
                                     .peak_bytes = at->history->accounts[i].peak_bytes,
                                     .allocated_bytes = own->allocated_bytes};
    }
    return 0;
}

static void note_peak_ends(const struct step_watch *watch, struct account_steps *own,
                           const struct account *account, uint64_t ordinal)
{
    if (account->peak.index == INDEX_NONE || account->peak.index < own->current.begin_index)
        return;
    memcpy(own->peak_ends, watch->recent_ends, sizeof own->peak_ends);
    own->peak_ordinal = ordinal;
}

static int end_account(struct step_watch *watch, const struct cursor *at, uint32_t number,
                       uint64_t step_number, uint64_t next)
{
    struct account_steps *own = &watch->accounts[number];
    const struct account *account = &at->history->accounts[number];
    const int slot = DEVICE_SLOT(account->device);
    struct step step = own->current;
    step.number = step_number;
    step.end_ns = at->event->time_ns;
    step.end_bytes = own->live_bytes;
    step.work = work_since(&watch->work[slot], &watch->begun_work[slot]);
    note_peak_ends(watch, own, account, step.ordinal);
    if ((step.ordinal == 1 || step.peak_bytes > own->highest.peak_bytes) &&
        keep_highest(own, &step, at->err))
        return -1;
    if (step.ordinal == 1)
        own->first = step;
    else
        add_to_window(own, &step);
    own->last = step;
    sum_sites(own, step.ordinal > 1);
    own->current = (struct step){.ordinal = step.ordinal + 1,
                                 .begin_index = next,
                                 .begin_ns = at->event->time_ns,
                                 .start_bytes = own->live_bytes,
                                 .peak_bytes = own->live_bytes};
    return 0;
}

/* next: the event that begins the next step. */
static int end_step(struct step_watch *watch, const struct cursor *at, enum step_end kind,
                    uint64_t next)
{
    if (kind == STEP_ENDS)
        return 0;
    if (kind < STEP_END_PHASE && step_ends_began(watch->ends, kind) && begin_again(watch, at))
        return -1;
    watch->kind = kind;
    const uint64_t ordinal = watch->step_count + 1;
    const uint64_t number = kind == STEP_END_EVENT ? at->event->size_bytes : ordinal;
    for (uint32_t i = 0; i < watch->account_count; i++)
        if (watch->accounts[i].is_used && end_account(watch, at, i, number, next))
            return -1;
    memcpy(watch->begun_work, watch->work, sizeof watch->begun_work);
    if (!watch->step_count++) {
        memcpy(watch->first_work, watch->work, sizeof watch->first_work);
        watch->first_end_index = next;
        watch->first_end_seq = at->event->seq;
    }
    watch->last_end_seq = at->event->seq;
    watch->begin_ns = at->event->time_ns;
    memmove(watch->recent_ends + 1, watch->recent_ends, STEP_AGES * sizeof *watch->recent_ends);
    watch->recent_ends[0] = next;
    return 0;
}

/* --- the observer --- */

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct step_watch *watch = self;
    const struct block *block = change->block;
    const struct account *account = &at->history->accounts[block->account];
    if (!account_may_leak(account))
        return 0;
    struct account_steps *own = find_account(watch, at, block->account);
    if (!own)
        return -1;
    if (end_step(watch, at, step_ends_of_change(watch->ends), at->index))
        return -1;
    count_driver(watch, account, change);
    own->live_bytes = account->live_bytes;
    if (own->live_bytes > own->current.peak_bytes && !change->is_resize)
        own->current.peak_bytes = own->live_bytes;
    if (!change->birth)
        return 0;
    own->current.allocated_bytes += block->size_bytes;
    own->allocated_bytes += block->size_bytes;
    return add_birth(own, block, at->err);
}

static int on_span(void *self, const struct cursor *at, uint32_t span, bool begins)
{
    struct step_watch *watch = self;
    (void)span;
    if (begins)
        return 0;
    return end_step(watch, at, step_ends_of_span(watch->ends), at->index);
}

static int on_event(void *self, const struct cursor *at)
{
    struct step_watch *watch = self;
    note_refusal(watch, at->event);
    watch->end_ns = at->event->time_ns;
    const enum step_end kind = step_ends_of_event(watch->ends, at);
    return end_step(watch, at, kind, step_ends_next(at, kind));
}

/* --- the end --- */

static int add_duration(void *self, uint64_t seq, uint64_t duration_ns, struct err *err)
{
    struct step_watch *watch = self;
    (void)err;
    if (seq > watch->first_end_seq && seq <= watch->last_end_seq) {
        watch->driver_ns += duration_ns;
        watch->timed_count++;
    }
    return 0;
}

static int on_end(void *self, const struct cursor *at)
{
    struct step_watch *watch = self;
    const struct duration_listener listener = {.on_duration = add_duration, .self = watch};
    for (uint32_t i = 0; i < watch->account_count; i++)
        if (watch->accounts[i].is_used)
            note_peak_ends(watch, &watch->accounts[i], &at->history->accounts[i],
                           watch->step_count + 1);
    return watch->step_count ? durations_read(at->history->trace, &listener, at->err) : 0;
}

struct observer step_watch_observer(struct step_watch *watch)
{
    return (struct observer){.self = watch,
                             .on_change = on_change,
                             .on_span = on_span,
                             .on_event = on_event,
                             .on_end = on_end};
}

const struct account_steps *step_watch_of(const struct step_watch *watch, uint32_t account)
{
    return account < watch->account_count && watch->accounts[account].is_used
               ? &watch->accounts[account]
               : NULL;
}

struct step step_watch_open_step(const struct step_watch *watch, const struct account_steps *own,
                                 const struct account *account)
{
    const int slot = DEVICE_SLOT(account->device);
    struct step step = own->current;
    step.number = own->last.number + 1;
    step.end_ns = watch->end_ns;
    step.end_bytes = own->live_bytes;
    step.work = work_since(&watch->work[slot], &watch->begun_work[slot]);
    return step;
}

void step_watch_release(struct step_watch *watch)
{
    for (size_t i = 0; i < watch->account_count; i++) {
        site_numbers_release(&watch->accounts[i].numbers);
        free(watch->accounts[i].sites);
        free(watch->accounts[i].touched);
        free(watch->accounts[i].highest_sites);
    }
    free(watch->accounts);
    *watch = (struct step_watch){0};
}
