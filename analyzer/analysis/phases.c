/* SPDX-License-Identifier: MIT */
/* Sums of each phase; see phases.h. */
#include "phases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/phase/spans.h"
#include "analyzer/util/array.h"
#include "analyzer/util/high_water.h"
#include "analyzer/util/nearest.h"

struct open_sums { /* sums of an open span */
    uint64_t allocated_bytes, freed_bytes, kept_bytes;
};

struct account_phases {
    struct open_sums *open; /* by span */
    size_t open_count, open_capacity;
    struct high_water water; /* live bytes; its moments are ordinals of spans, from 1 */
    struct phase_row *rows;  /* by path; at the end the row of `outside` follows */
    size_t row_count, row_capacity;
    struct phase_row outside;
};

/* Each reach_ function adds items until the item of the given number exists. */
static int reach_open(struct account_phases *own, uint32_t span, struct err *err)
{
    return ARRAY_REACH(own->open, own->open_capacity, own->open_count, span, err);
}

static int reach_row(struct account_phases *own, size_t path, struct err *err)
{
    return ARRAY_REACH(own->rows, own->row_capacity, own->row_count, path, err);
}

static int reach_occurrences(struct phases *phases, uint32_t path, struct err *err)
{
    return ARRAY_REACH(phases->occurrences_count, phases->path_capacity, phases->path_count, path,
                       err);
}

static int reach_span(struct phases *phases, uint32_t span, struct err *err)
{
    return ARRAY_REACH(phases->occurrence, phases->span_capacity, phases->span_count, span, err);
}

static int reach_steps(struct phases *phases, uint32_t path, struct err *err)
{
    return ARRAY_REACH(phases->steps, phases->steps_capacity, phases->steps_count, path, err);
}

static int reach_account(struct phases *phases, size_t account, struct err *err)
{
    return ARRAY_REACH(phases->accounts, phases->account_capacity, phases->account_count, account,
                       err);
}

/* --- steps --- */

/* Number of the open step, from 1. */
static uint64_t step_now(const struct phases *phases)
{
    return phases->ended_count + 1;
}

static int add_to_step(struct phase_row *row, uint64_t step, uint64_t bytes, struct err *err)
{
    if (row->step && row->step != step) {
        if (spread_add(&row->per_step, row->step_bytes, err))
            return -1;
        row->step_bytes = 0;
    }
    row->step = step;
    row->step_bytes += bytes;
    return 0;
}

static void count_step(struct path_steps *own, uint64_t step)
{
    own->count += own->step != step;
    own->step = step;
}

/* Called when another kind of step end counts from now on. All that happened so far then belongs to
 * the first step. */
static void begin_steps_again(struct phases *phases)
{
    phases->ended_count = 0;
    for (size_t i = 0; i < phases->steps_count; i++)
        if (phases->steps[i].count)
            phases->steps[i] = (struct path_steps){1, 1};
    for (size_t i = 0; i < phases->account_count; i++)
        for (size_t n = 0; n < phases->accounts[i].row_count; n++) {
            struct phase_row *row = &phases->accounts[i].rows[n];
            spread_release(&row->per_step);
            row->step_bytes = row->allocated_bytes;
            row->step = row->step ? 1 : 0;
        }
}

/* Adds the last step, unless it was still open at the end. A step in which this account allocated
 * nothing counts as 0. */
static int finish_steps(const struct phases *phases, struct phase_row *row, uint32_t path,
                        struct err *err)
{
    const uint64_t open_step = step_now(phases);
    if (path >= phases->steps_count || !phases->ended_count)
        return 0;
    const struct path_steps *own = &phases->steps[path];
    const uint64_t ended_count = own->count - (own->count && own->step == open_step);
    if (row->step && row->step != open_step && spread_add(&row->per_step, row->step_bytes, err))
        return -1;
    return spread_add_zeros_before(&row->per_step, ended_count - row->per_step.count, err);
}

static void note_end(struct phases *phases, enum step_end ended)
{
    if (step_ends_began(phases->ends, ended))
        begin_steps_again(phases);
    phases->ended_count += ended != STEP_ENDS;
}

/* --- spans --- */

static void raise_to(uint64_t *highest, uint64_t value)
{
    if (value > *highest)
        *highest = value;
}

static int begin_in_account(struct account_phases *own, const struct span *span, uint32_t number,
                            uint64_t live_bytes, bool is_first, struct err *err)
{
    if (reach_open(own, number, err) || reach_row(own, span->path, err))
        return -1;
    own->open[number] = (struct open_sums){0};
    if (is_first)
        own->rows[span->path].entry_bytes = live_bytes;
    return high_water_begin(&own->water, span->ordinal + 1, live_bytes, err);
}

/* The begin moment of the latest span that is still open after `ending` ends. All open spans are
 * searched, because NVTX ranges may end in any order. */
static uint64_t last_open_moment(const struct spans *spans, uint32_t ending)
{
    const uint32_t open[] = {spans->innermost, spans->inferred_span};
    uint64_t moment = 0;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (open[i] != HISTORY_NONE && open[i] != ending)
            raise_to(&moment, spans->items[open[i]].ordinal + 1);
    return moment;
}

static int add_occurrence(struct phase_row *row, const struct open_sums *open, uint64_t peak_bytes,
                          uint64_t occurrence, struct err *err)
{
    const uint64_t figures[PHASE_FIGURES] = {[PHASE_PEAK] = peak_bytes,
                                             [PHASE_ALLOCATED] = open->allocated_bytes,
                                             [PHASE_KEPT] = open->kept_bytes};
    if (peak_bytes > row->peak_bytes || !row->peak_occurrence)
        row->peak_occurrence = occurrence;
    raise_to(&row->peak_bytes, peak_bytes);
    for (int i = 0; i < PHASE_FIGURES; i++)
        if (spread_add(&row->each[i], figures[i], err))
            return -1;
    return 0;
}

static int end_in_account(struct account_phases *own, const struct spans *spans, uint32_t number,
                          uint64_t occurrence, uint64_t step, struct err *err)
{
    const struct span *span = &spans->items[number];
    if (reach_open(own, number, err) || reach_row(own, span->path, err))
        return -1;
    const struct open_sums *open = &own->open[number];
    struct phase_row *row = &own->rows[span->path];
    const uint64_t peak_bytes = high_water_since(&own->water, span->ordinal + 1);
    high_water_forget(&own->water, last_open_moment(spans, number));
    row->allocated_bytes += open->allocated_bytes;
    row->freed_bytes += open->freed_bytes;
    row->kept_bytes += open->kept_bytes;
    return add_to_step(row, step, open->allocated_bytes, err) ||
                   add_occurrence(row, open, peak_bytes, occurrence, err)
               ? -1
               : 0;
}

static int on_span(void *self, const struct cursor *at, uint32_t number, bool begins)
{
    struct phases *phases = self;
    const struct span *span = &at->spans->items[number];
    const uint64_t step = step_now(phases);
    if (reach_occurrences(phases, span->path, at->err) || reach_span(phases, number, at->err) ||
        reach_steps(phases, span->path, at->err))
        return -1;
    if (begins)
        phases->occurrence[number] = ++phases->occurrences_count[span->path];
    bool is_first = phases->occurrences_count[span->path] == 1;
    for (size_t i = 0; i < phases->account_count; i++) {
        struct account_phases *own = &phases->accounts[i];
        if (!account_is_of_layer(&at->history->accounts[i]))
            continue;
        if (begins
                ? begin_in_account(own, span, number, at->history->accounts[i].live_bytes, is_first,
                                   at->err)
                : end_in_account(own, at->spans, number, phases->occurrence[number], step, at->err))
            return -1;
    }
    if (begins)
        return 0;
    count_step(&phases->steps[span->path], step);
    note_end(phases, step_ends_of_span(phases->ends));
    return 0;
}

/* --- changes --- */

static void count_birth(struct account_phases *own, const struct spans *spans,
                        const struct change *change)
{
    uint64_t bytes = change->block->size_bytes;
    for (uint32_t i = change->birth_span; i != HISTORY_NONE; i = spans->items[i].parent) {
        if (!span_is_open(&spans->items[i]))
            continue;
        own->open[i].allocated_bytes += bytes;
        own->open[i].kept_bytes += bytes;
    }
    if (change->birth_span != HISTORY_NONE)
        return;
    own->outside.allocated_bytes += bytes;
    own->outside.kept_bytes += bytes;
}

static void count_end(struct account_phases *own, const struct spans *spans,
                      const struct change *change)
{
    uint64_t bytes = change->block->size_bytes;
    for (uint32_t i = change->event_span; i != HISTORY_NONE; i = spans->items[i].parent)
        if (span_is_open(&spans->items[i]))
            own->open[i].freed_bytes += bytes;
    for (uint32_t i = change->birth_span; i != HISTORY_NONE; i = spans->items[i].parent)
        if (span_is_open(&spans->items[i]))
            own->open[i].kept_bytes -= bytes;
    if (change->event_span == HISTORY_NONE)
        own->outside.freed_bytes += bytes;
    if (change->birth_span == HISTORY_NONE)
        own->outside.kept_bytes -= bytes;
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct phases *phases = self;
    uint32_t account = change->block->account;
    uint64_t live_bytes = at->history->accounts[account].live_bytes;
    if (!account_is_of_layer(&at->history->accounts[account]))
        return 0;
    if (reach_account(phases, account, at->err))
        return -1;
    struct account_phases *own = &phases->accounts[account];
    if (at->spans->slots.used && reach_open(own, at->spans->slots.used - 1, at->err))
        return -1;
    if (change->birth)
        count_birth(own, at->spans, change);
    else
        count_end(own, at->spans, change);
    if (change->event_span == HISTORY_NONE) {
        own->outside.count = 1;
        raise_to(&own->outside.peak_bytes, live_bytes);
    }
    return high_water_raise(&own->water, live_bytes, at->err);
}

/* --- the end --- */

/* Counts zeros for the occurrences that ended before the account had any memory. */
static int add_before_account(struct phase_row *row, struct err *err)
{
    for (int i = 0; i < PHASE_FIGURES; i++)
        if (spread_add_zeros_before(&row->each[i], row->count - row->each[i].count, err))
            return -1;
    if (!row->peak_bytes)
        row->peak_occurrence = row->count ? 1 : 0;
    return 0;
}

static int finish_account(const struct phases *phases, struct account_phases *own,
                          size_t path_count, struct err *err)
{
    if (reach_row(own, path_count, err))
        return -1;
    for (size_t i = 0; i < path_count; i++) {
        own->rows[i].path = (uint32_t)i;
        own->rows[i].count = i < phases->path_count ? phases->occurrences_count[i] : 0;
        if (add_before_account(&own->rows[i], err) ||
            finish_steps(phases, &own->rows[i], (uint32_t)i, err))
            return -1;
    }
    own->rows[path_count] = own->outside;
    own->rows[path_count].path = HISTORY_NONE;
    own->row_count = path_count + (own->outside.count ? 1 : 0);
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct phases *phases = self;
    note_end(phases, step_ends_of_event(phases->ends, at));
    return 0;
}

static int on_end(void *self, const struct cursor *at)
{
    struct phases *phases = self;
    const struct history *history = at->history;
    if (history->account_count && reach_account(phases, history->account_count - 1, at->err))
        return -1;
    for (size_t i = 0; i < phases->account_count; i++)
        if (account_is_of_layer(&history->accounts[i]) &&
            finish_account(phases, &phases->accounts[i], history->path_count, at->err))
            return -1;
    return 0;
}

struct observer phases_observer(struct phases *phases)
{
    return (struct observer){.self = phases,
                             .on_change = on_change,
                             .on_span = on_span,
                             .on_event = on_event,
                             .kinds = step_ends_kinds(phases->ends),
                             .on_end = on_end};
}

void phases_release(struct phases *phases)
{
    for (size_t i = 0; i < phases->account_count; i++) {
        for (size_t n = 0; n < phases->accounts[i].row_count; n++)
            for (int figure = 0; figure < PHASE_FIGURES; figure++)
                spread_release(&phases->accounts[i].rows[n].each[figure]);
        for (size_t n = 0; n < phases->accounts[i].row_count; n++)
            spread_release(&phases->accounts[i].rows[n].per_step);
        free(phases->accounts[i].open);
        free(phases->accounts[i].rows);
        high_water_release(&phases->accounts[i].water);
    }
    free(phases->accounts);
    free(phases->occurrences_count);
    free(phases->occurrence);
    free(phases->steps);
    *phases = (struct phases){0};
}

struct phase_rows phases_of(const struct phases *phases, uint32_t account)
{
    if (account >= phases->account_count)
        return (struct phase_rows){0};
    return (struct phase_rows){phases->accounts[account].rows, phases->accounts[account].row_count};
}

/* --- as a tree --- */

uint32_t *phases_as_tree(const struct history *history, struct err *err)
{
    const size_t count = history->path_count;
    uint32_t *order = array_new(count + 1, sizeof *order, err);
    uint32_t *inner = array_new(count + 1, sizeof *inner, err); /* first child; [count]: root's */
    uint32_t *next = array_new(count + 1, sizeof *next, err);
    if (!order || !inner || !next) {
        free(order);
        order = NULL;
        goto out;
    }
    for (size_t i = 0; i <= count; i++)
        inner[i] = HISTORY_NONE;
    for (size_t i = count; i-- > 0;) {
        const uint32_t parent = history->paths[i].parent;
        const size_t around = parent == HISTORY_NONE ? count : parent;
        next[i] = inner[around];
        inner[around] = (uint32_t)i;
    }
    size_t used = 0;
    for (uint32_t path = inner[count]; path != HISTORY_NONE;) {
        order[used++] = path;
        if (inner[path] != HISTORY_NONE) {
            path = inner[path];
            continue;
        }
        while (path != HISTORY_NONE && next[path] == HISTORY_NONE)
            path = history->paths[path].parent;
        path = path == HISTORY_NONE ? path : next[path];
    }
out:
    free(inner);
    free(next);
    return order;
}

/* --- hints --- */

/* The phase name or path that is nearest to `typed`. Compares one name at a time, because there is
 * no array of all names. */
static const char *nearest_phase(const struct history *history, const char *typed)
{
    const char *nearest = NULL;
    for (size_t i = 0; i < history->path_count; i++) {
        const char *names[] = {nearest, history->paths[i].name, history->paths[i].text};
        const char *found = nearest_name(typed, nearest ? names : names + 1, nearest ? 3 : 2);
        nearest = found ? found : nearest;
    }
    return nearest;
}

const char *phase_source_name(const struct history *history, uint32_t path)
{
    static const char *const names[] = {[PHASE_SOURCE_API] = "api",
                                        [PHASE_SOURCE_NVTX] = "nvtx",
                                        [PHASE_SOURCE_INFERRED] = "inferred"};
    return path == HISTORY_NONE ? NULL : names[history->paths[path].source];
}

const char *phases_hint(char hint[PHASES_HINT_BYTES], const struct history *history,
                        const char *typed)
{
    enum { SHOWN = 4, NAME_BYTES = 40 };
    const char *nearest = nearest_phase(history, typed);
    if (nearest) {
        snprintf(hint, PHASES_HINT_BYTES, "did you mean '%s'?", nearest);
        return hint;
    }
    snprintf(hint, PHASES_HINT_BYTES, history->path_count ? "it has" : "it has no phases");
    size_t shown = 0;
    for (; shown < history->path_count && shown < SHOWN; shown++) {
        const size_t length = strlen(hint);
        snprintf(hint + length, PHASES_HINT_BYTES - length, "%s '%.*s'", shown ? "," : "",
                 NAME_BYTES, history->paths[shown].text);
    }
    if (shown < history->path_count) {
        const size_t length = strlen(hint);
        snprintf(hint + length, PHASES_HINT_BYTES - length,
                 " and %zu more; see 'gpumemtrace phases'", history->path_count - shown);
    }
    return hint;
}
