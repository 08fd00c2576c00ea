/* SPDX-License-Identifier: MIT */
/* The memory that processes held together on one card; see cards.h. */
#include "cards.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/study.h"
#include "analyzer/util/array.h"
#include "analyzer/util/clock.h"

/* Changes kept of one card: 96 MiB. */
enum { STEPS_MOST = 4 << 20 };

struct card_change {
    int64_t time_ns; /* by the monotonic clock */
    uint64_t bytes;  /* live in the process from then on */
    int process;     /* number among the card's processes */
    size_t number;   /* of all changes, in the order in which they were read */
};

struct summing {
    struct shared_card *card;
    struct card_change *changes;
    size_t count, capacity;
    int process;
    int64_t start_ns;
    uint64_t last_bytes, peak_bytes;
};

/* --- one process --- */

static int add_change(struct summing *summing, int64_t time_ns, uint64_t bytes, struct err *err)
{
    struct card_change *grown;

    if (summing->count >= STEPS_MOST) {
        summing->card->is_known = false;
        return 0;
    }
    grown = array_grow(summing->changes, &summing->capacity, summing->count, sizeof *grown, err);
    if (!grown)
        return -1;
    summing->changes = grown;
    grown[summing->count] = (struct card_change){time_ns, bytes, summing->process, summing->count};
    summing->count++;
    summing->last_bytes = bytes;
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct summing *summing = self;
    const int device = summing->card->devices[summing->process];
    const struct device_use *use = history_device(at->history, device);
    const uint64_t bytes =
        use ? at->history->accounts[use->accounts[ACCOUNT_device]].live_bytes : 0;

    if (bytes == summing->last_bytes)
        return 0;
    if (bytes > summing->peak_bytes)
        summing->peak_bytes = bytes;
    return add_change(summing, clock_after_ns(summing->start_ns, (int64_t)at->event->time_ns),
                      bytes, at->err);
}

static int add_process(struct summing *summing, const struct survey *survey, struct err *err)
{
    const struct observer observer = {.self = summing, .on_event = on_event};
    const struct study_ask ask = {.watcher = &observer};
    struct study study;

    summing->start_ns = survey->start_monotonic_ns.value;
    summing->last_bytes = summing->peak_bytes = 0;
    if (study_open(&study, survey->path, &ask, err))
        return -1;
    const int64_t end_ns = clock_after_ns(
        summing->start_ns,
        survey->end_ns.known ? survey->end_ns.value : (int64_t)study.history.last_row_time_ns);
    study_release(&study);
    summing->card->peaks_bytes += summing->peak_bytes;
    return summing->last_bytes ? add_change(summing, end_ns, 0, err) : 0;
}

/* --- their sum --- */

static int compare_changes(const void *left, const void *right)
{
    const struct card_change *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int sum_up(struct summing *summing, const struct survey *first, struct err *err)
{
    struct shared_card *card = summing->card;
    uint64_t *now = array_new((size_t)card->count, sizeof *now, err), sum = 0;

    if (!now)
        return -1;
    if (summing->count)
        qsort(summing->changes, summing->count, sizeof *summing->changes, compare_changes);
    for (size_t i = 0; i < summing->count; i++) {
        const struct card_change *change = &summing->changes[i];

        sum += change->bytes - now[change->process];
        now[change->process] = change->bytes;
        /* Nobody knows which of two processes came first within a nanosecond. */
        const bool is_last = i + 1 == summing->count || change[1].time_ns != change->time_ns;
        if (!is_last || sum <= card->highest_bytes)
            continue;
        card->highest_bytes = sum;
        card->highest_unix_ns =
            clock_after_ns(first->start_unix_ns.value,
                           clock_since_ns(change->time_ns, first->start_monotonic_ns.value));
        memcpy(card->then_bytes, now, (size_t)card->count * sizeof *now);
    }
    free(now);
    return 0;
}

static int sum_card(struct shared_card *card, const struct survey *surveys, struct err *err)
{
    struct summing summing = {.card = card};
    int status = 0;

    card->is_known = true;
    for (int i = 0; i < card->count && !status; i++) {
        summing.process = i;
        status = add_process(&summing, &surveys[card->traces[i]], err);
    }
    if (!status)
        status = sum_up(&summing, &surveys[card->traces[0]], err);
    free(summing.changes);
    return status;
}

/* --- who shares one --- */

static bool is_listed(const struct shared_cards *cards, const struct survey *surveys, int trace,
                      const char *uuid)
{
    for (size_t i = 0; i < cards->count; i++)
        if (!strcmp(cards->items[i].uuid, uuid) &&
            surveys_share_machine(&surveys[cards->items[i].traces[0]], &surveys[trace]))
            return true;
    return false;
}

static int list_card(struct shared_cards *cards, const struct survey *surveys, int count, int trace,
                     const struct survey_card *from, struct err *err)
{
    struct shared_card card = {.uuid = from->uuid, .total_bytes = from->total_bytes};
    struct shared_card *grown =
        array_grow(cards->items, &cards->capacity, cards->count, sizeof *grown, err);

    if (!grown)
        return -1;
    cards->items = grown;
    card.traces = array_new((size_t)count, sizeof *card.traces, err);
    card.devices = array_new((size_t)count, sizeof *card.devices, err);
    card.then_bytes = array_new((size_t)count, sizeof *card.then_bytes, err);
    for (int i = trace; i < count && card.traces && card.devices; i++)
        for (size_t n = 0; n < surveys[i].card_count; n++)
            if (surveys[i].cards[n].is_used && !strcmp(surveys[i].cards[n].uuid, from->uuid) &&
                surveys_share_machine(&surveys[trace], &surveys[i])) {
                card.traces[card.count] = i;
                card.devices[card.count++] = surveys[i].cards[n].device;
                break;
            }
    grown[cards->count++] = card;
    return card.traces && card.devices && card.then_bytes ? 0 : -1;
}

/* Keeps cards on which several processes had memory. Simulated processes that together hold more
 * than the card has share no card, so theirs are dropped. */
static void keep_shared(struct shared_cards *cards, const struct survey *surveys)
{
    size_t kept = 0;

    for (size_t i = 0; i < cards->count; i++) {
        struct shared_card *card = &cards->items[i];
        const bool is_simulated = surveys[card->traces[0]].is_simulated;

        if (card->count > 1 && card->highest_bytes &&
            !(is_simulated && card->total_bytes && card->highest_bytes > card->total_bytes)) {
            cards->items[kept++] = *card;
            continue;
        }
        free(card->traces);
        free(card->devices);
        free(card->then_bytes);
    }
    cards->count = kept;
}

int shared_cards_find(struct shared_cards *cards, const struct survey *surveys, int count,
                      struct err *err)
{
    int status = 0;

    *cards = (struct shared_cards){0};
    for (int i = 0; i < count && !status; i++)
        for (size_t n = 0; n < surveys[i].card_count && !status; n++) {
            const struct survey_card *card = &surveys[i].cards[n];

            if (*card->uuid && card->is_used && !is_listed(cards, surveys, i, card->uuid))
                status = list_card(cards, surveys, count, i, card, err);
        }
    for (size_t i = 0; i < cards->count && !status; i++)
        if (cards->items[i].count > 1)
            status = sum_card(&cards->items[i], surveys, err);
    if (status)
        shared_cards_release(cards);
    else
        keep_shared(cards, surveys);
    return status;
}

void shared_cards_release(struct shared_cards *cards)
{
    for (size_t i = 0; i < cards->count; i++) {
        free(cards->items[i].traces);
        free(cards->items[i].devices);
        free(cards->items[i].then_bytes);
    }
    free(cards->items);
    *cards = (struct shared_cards){0};
}
