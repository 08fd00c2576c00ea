/* SPDX-License-Identifier: MIT */
/* What each phase did; see phases.h. */
#include "phases.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* A span while it is open. Open spans form a list in the order of their push. */
struct open {
    uint64_t allocated_bytes, freed_bytes, kept_bytes;
    uint64_t max_bytes; /* since its push, but only while it was the newest open span */
    uint32_t older, newer;
    bool is_open;
};

struct tally {
    const struct history *history;
    uint32_t stock;
    struct open *open;      /* by span */
    uint32_t *by_end;       /* spans in the order of their end */
    size_t opened, closed;  /* how many so far */
    uint32_t newest;        /* HISTORY_NONE: no phase is open */
    struct phase_row *rows; /* by path; the last one is outside */
    uint64_t live_bytes;
};

static struct phase_row *outside_of(const struct tally *tally)
{
    return &tally->rows[tally->history->path_count];
}

static void raise_to(uint64_t *highest, uint64_t value)
{
    if (value > *highest)
        *highest = value;
}

static void open_occurrence(struct tally *tally, uint32_t number)
{
    struct phase_row *row = &tally->rows[tally->history->spans[number].path];
    struct open *open = &tally->open[number];

    *open = (struct open){.max_bytes = tally->live_bytes,
                          .older = tally->newest,
                          .newer = HISTORY_NONE,
                          .is_open = true};
    if (tally->newest != HISTORY_NONE)
        tally->open[tally->newest].newer = number;
    tally->newest = number;
    if (row->count++ == 0)
        row->entry_bytes = tally->live_bytes;
}

/* The highest value since a span's push is kept in it and in the spans opened after it. */
static void close_occurrence(struct tally *tally, uint32_t number)
{
    struct phase_row *row = &tally->rows[tally->history->spans[number].path];
    struct open *open = &tally->open[number];

    for (uint32_t i = number; i != HISTORY_NONE; i = tally->open[i].newer)
        raise_to(&row->peak_bytes, tally->open[i].max_bytes);
    row->allocated_bytes += open->allocated_bytes;
    row->freed_bytes += open->freed_bytes;
    row->kept_bytes += open->kept_bytes;
    if (open->older != HISTORY_NONE) {
        tally->open[open->older].newer = open->newer;
        raise_to(&tally->open[open->older].max_bytes, open->max_bytes);
    }
    if (open->newer != HISTORY_NONE)
        tally->open[open->newer].older = open->older;
    else
        tally->newest = open->older;
    open->is_open = false;
}

static void count_birth(struct tally *tally, const struct block *block)
{
    for (uint32_t i = block->span; i != HISTORY_NONE; i = tally->history->spans[i].parent) {
        if (!tally->open[i].is_open)
            continue;
        tally->open[i].allocated_bytes += block->size_bytes;
        tally->open[i].kept_bytes += block->size_bytes;
    }
    if (block->span == HISTORY_NONE) {
        outside_of(tally)->allocated_bytes += block->size_bytes;
        outside_of(tally)->kept_bytes += block->size_bytes;
    }
}

static void count_death(struct tally *tally, const struct block *block, uint32_t span)
{
    for (uint32_t i = span; i != HISTORY_NONE; i = tally->history->spans[i].parent)
        if (tally->open[i].is_open)
            tally->open[i].freed_bytes += block->size_bytes;
    for (uint32_t i = block->span; i != HISTORY_NONE; i = tally->history->spans[i].parent)
        if (tally->open[i].is_open)
            tally->open[i].kept_bytes -= block->size_bytes;
    if (span == HISTORY_NONE)
        outside_of(tally)->freed_bytes += block->size_bytes;
    if (block->span == HISTORY_NONE)
        outside_of(tally)->kept_bytes -= block->size_bytes;
}

static void count_change(struct tally *tally, const struct change *change)
{
    const struct block *block = &tally->history->blocks[change->block];

    if (block->stock != tally->stock)
        return;
    if (change->birth) {
        tally->live_bytes += block->size_bytes;
        count_birth(tally, block);
    } else {
        tally->live_bytes -= block->size_bytes;
        count_death(tally, block, change->span);
    }
    outside_of(tally)->count |= change->span == HISTORY_NONE;
    raise_to(tally->newest == HISTORY_NONE ? &outside_of(tally)->peak_bytes
                                           : &tally->open[tally->newest].max_bytes,
             tally->live_bytes);
}

/* Applies pushes and pops up to and including event `until`; an event is never both. */
static void tally_move_to(struct tally *tally, uint32_t until)
{
    const struct history *history = tally->history;

    for (;;) {
        uint32_t begin = HISTORY_NONE, end = HISTORY_NONE;

        if (tally->opened < history->span_count)
            begin = history->spans[tally->opened].begin_index;
        if (tally->closed < history->span_count)
            end = history->spans[tally->by_end[tally->closed]].end_index;
        if (begin > until && end > until)
            return;
        if (begin < end)
            open_occurrence(tally, (uint32_t)tally->opened++);
        else
            close_occurrence(tally, tally->by_end[tally->closed++]);
    }
}

struct ending {
    uint32_t end_index, span;
};

static int compare_endings(const void *left, const void *right)
{
    const struct ending *a = left, *b = right;

    if (a->end_index != b->end_index)
        return a->end_index < b->end_index ? -1 : 1;
    return (a->span < b->span) - (a->span > b->span); /* the innermost first */
}

static int sort_endings(struct tally *tally, struct err *err)
{
    const struct history *history = tally->history;
    struct ending *endings = array_new(history->span_count, sizeof *endings, err);

    if (!endings)
        return -1;
    for (size_t i = 0; i < history->span_count; i++)
        endings[i] = (struct ending){history->spans[i].end_index, (uint32_t)i};
    qsort(endings, history->span_count, sizeof *endings, compare_endings);
    for (size_t i = 0; i < history->span_count; i++)
        tally->by_end[i] = endings[i].span;
    free(endings);
    return 0;
}

static int tally_begin(struct tally *tally, struct err *err)
{
    const struct history *history = tally->history;

    tally->open = array_new(history->span_count, sizeof *tally->open, err);
    tally->by_end = array_new(history->span_count, sizeof *tally->by_end, err);
    tally->rows = array_new(history->path_count + 1, sizeof *tally->rows, err);
    if (!tally->open || !tally->by_end || !tally->rows || sort_endings(tally, err))
        return -1;
    for (size_t i = 0; i < history->path_count; i++)
        tally->rows[i].path = (uint32_t)i;
    outside_of(tally)->path = HISTORY_NONE;
    return 0;
}

int phases_of(struct phases *phases, const struct history *history, uint32_t stock, struct err *err)
{
    struct tally tally = {.history = history, .stock = stock, .newest = HISTORY_NONE};
    int status = -1;

    *phases = (struct phases){0};
    if (tally_begin(&tally, err))
        goto out;
    for (size_t i = 0; i < history->change_count; i++) {
        tally_move_to(&tally, history->changes[i].event);
        count_change(&tally, &history->changes[i]);
    }
    tally_move_to(&tally, history->event_count);
    phases->rows = tally.rows;
    phases->count = history->path_count + (outside_of(&tally)->count ? 1 : 0);
    tally.rows = NULL;
    status = 0;
out:
    free(tally.open);
    free(tally.by_end);
    free(tally.rows);
    return status;
}

void phases_release(struct phases *phases)
{
    free(phases->rows);
    *phases = (struct phases){0};
}
