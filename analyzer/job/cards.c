/* SPDX-License-Identifier: MIT */
/* Sums the memory that processes held together on one card; see cards.h. */
#include "cards.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/history/history.h"
#include "analyzer/util/array.h"
#include "analyzer/util/clock.h"

/* The largest number of changes that are kept for one card. They take 96 MiB. */
enum { CHANGES_MOST = 4 << 20 };

struct card_change {
    int64_t time_ns; /* by the monotonic clock */
    uint64_t bytes;  /* live bytes in the process from this time on */
    int trace;       /* the trace of the process */
    uint32_t number; /* number among all changes, in the order in which they were read */
};

/* --- one process --- */

static int add_change(struct shared_card *card, struct card_sharer *process, int64_t time_ns,
                      uint64_t bytes, struct err *err)
{
    if (card->change_count >= CHANGES_MOST) {
        card->is_known = false;
        return 0;
    }
    if (ARRAY_GROW(card->changes, card->change_capacity, card->change_count, err))
        return -1;
    card->changes[card->change_count] =
        (struct card_change){time_ns, bytes, process->trace, (uint32_t)card->change_count};
    card->change_count++;
    process->last_bytes = bytes;
    return 0;
}

static int note_event(struct shared_card *card, struct card_sharer *process, int64_t start_ns,
                      const struct cursor *at)
{
    const struct device_use *use = history_device(at->history, process->device);
    const uint64_t bytes =
        use ? at->history->accounts[use->accounts[ACCOUNT_device]].live_bytes : 0;
    if (bytes == process->last_bytes)
        return 0;
    if (bytes > process->peak_bytes)
        process->peak_bytes = bytes;
    return add_change(card, process, clock_after_ns(start_ns, (int64_t)at->event->time_ns), bytes,
                      at->err);
}

static int note_end(struct shared_card *card, struct card_sharer *process,
                    const struct survey *survey, const struct cursor *at)
{
    const int64_t end_ns = clock_after_ns(
        survey->start_monotonic_ns.value,
        survey->end_ns.known ? survey->end_ns.value : (int64_t)at->history->last_row_time_ns);
    process->is_read = true;
    card->peaks_bytes += process->peak_bytes;
    return process->last_bytes ? add_change(card, process, end_ns, 0, at->err) : 0;
}

/* Calls note_event for the cards of the watched trace or, at the end, note_end. */
static int note(const struct card_watch *watch, const struct cursor *at, bool is_end)
{
    const int64_t start_ns = watch->survey->start_monotonic_ns.value;
    for (size_t i = 0; i < watch->cards->count; i++) {
        struct shared_card *card = &watch->cards->items[i];
        for (int n = 0; n < card->count; n++) {
            struct card_sharer *process = &card->processes[n];
            if (process->trace != watch->trace || process->is_read)
                continue;
            if (is_end ? note_end(card, process, watch->survey, at)
                       : note_event(card, process, start_ns, at))
                return -1;
        }
    }
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    return note(self, at, false);
}

static int on_end(void *self, const struct cursor *at)
{
    return note(self, at, true);
}

struct observer card_watch_observer(struct card_watch *watch)
{
    return (struct observer){.self = watch, .on_event = on_event, .on_end = on_end};
}

/* --- their sum --- */

ORDER_BY(compare_changes, struct card_change, RISING(time_ns), RISING(number));

static struct card_sharer *process_of(struct shared_card *card, int trace)
{
    int i = 0;
    while (card->processes[i].trace != trace)
        i++;
    return &card->processes[i];
}

static void sum_up(struct shared_card *card, const struct survey *first)
{
    uint64_t sum = 0;
    for (int i = 0; i < card->count; i++)
        card->processes[i].last_bytes = 0;
    SORT(card->changes, card->change_count, compare_changes);
    for (size_t i = 0; i < card->change_count; i++) {
        const struct card_change *change = &card->changes[i];
        struct card_sharer *process = process_of(card, change->trace);

        sum += change->bytes - process->last_bytes;
        process->last_bytes = change->bytes;
        /* Two processes may have changed within the same nanosecond, and their order is not
         * known. */
        const bool is_last = i + 1 == card->change_count || change[1].time_ns != change->time_ns;
        if (!is_last || sum <= card->highest_bytes)
            continue;
        card->highest_bytes = sum;
        card->highest_unix_ns =
            clock_after_ns(first->start_unix_ns.value,
                           clock_since_ns(change->time_ns, first->start_monotonic_ns.value));
        for (int n = 0; n < card->count; n++)
            card->processes[n].then_bytes = card->processes[n].last_bytes;
    }
}

/* --- the processes that share a card --- */

static bool is_listed(const struct shared_cards *cards, const struct survey *surveys, int trace,
                      const char *uuid)
{
    for (size_t i = 0; i < cards->count; i++)
        if (!strcmp(cards->items[i].uuid, uuid) &&
            surveys_share_machine(&surveys[cards->items[i].processes[0].trace], &surveys[trace]))
            return true;
    return false;
}

static bool may_be_used(const struct survey *survey, const struct survey_card *card)
{
    return *card->uuid && (card->is_used || !survey->peaks.are_known);
}

static int list_card(struct shared_cards *cards, const struct survey *surveys, int count, int trace,
                     const struct survey_card *from, struct err *err)
{
    struct shared_card card = {
        .uuid = from->uuid, .total_bytes = from->total_bytes, .is_known = true};
    if (ARRAY_GROW(cards->items, cards->capacity, cards->count, err))
        return -1;
    card.processes = array_new((size_t)count, sizeof *card.processes, err);
    for (int i = trace; i < count && card.processes; i++)
        for (size_t n = 0; n < surveys[i].card_count; n++)
            if (may_be_used(&surveys[i], &surveys[i].cards[n]) &&
                !strcmp(surveys[i].cards[n].uuid, from->uuid) &&
                surveys_share_machine(&surveys[trace], &surveys[i])) {
                card.processes[card.count++] =
                    (struct card_sharer){.trace = i, .device = surveys[i].cards[n].device};
                break;
            }
    cards->items[cards->count++] = card;
    return card.processes ? 0 : -1;
}

static void release_card(struct shared_card *card)
{
    free(card->processes);
    free(card->changes);
}

static void drop_unless(struct shared_cards *cards, const struct survey *surveys,
                        bool is_kept(const struct shared_card *card, const struct survey *surveys))
{
    size_t kept = 0;
    for (size_t i = 0; i < cards->count; i++)
        if (is_kept(&cards->items[i], surveys))
            cards->items[kept++] = cards->items[i];
        else
            release_card(&cards->items[i]);
    cards->count = kept;
}

static bool has_several(const struct shared_card *card, const struct survey *surveys)
{
    (void)surveys;
    return card->count > 1;
}

/* True if the processes shared the card. Simulated processes that together hold more than the card
 * has did not share it. */
static bool was_shared(const struct shared_card *card, const struct survey *surveys)
{
    const bool is_simulated = surveys[card->processes[0].trace].is_simulated;
    return card->highest_bytes &&
           !(is_simulated && card->total_bytes && card->highest_bytes > card->total_bytes);
}

int shared_cards_list(struct shared_cards *cards, const struct survey *surveys, int count,
                      struct err *err)
{
    *cards = (struct shared_cards){0};
    for (int i = 0; i < count; i++)
        for (size_t n = 0; n < surveys[i].card_count; n++) {
            const struct survey_card *card = &surveys[i].cards[n];

            if (may_be_used(&surveys[i], card) && !is_listed(cards, surveys, i, card->uuid) &&
                list_card(cards, surveys, count, i, card, err)) {
                shared_cards_release(cards);
                return -1;
            }
        }
    drop_unless(cards, surveys, has_several);
    return 0;
}

static bool was_used(const struct survey *survey, int device)
{
    for (size_t i = 0; i < survey->card_count; i++)
        if (survey->cards[i].device == device)
            return survey->cards[i].is_used;
    return false;
}

void shared_cards_keep_used(struct shared_cards *cards, const struct survey *surveys)
{
    for (size_t i = 0; i < cards->count; i++) {
        struct shared_card *card = &cards->items[i];
        int kept = 0;

        for (int n = 0; n < card->count; n++)
            if (was_used(&surveys[card->processes[n].trace], card->processes[n].device))
                card->processes[kept++] = card->processes[n];
        card->count = kept;
    }
    drop_unless(cards, surveys, has_several);
}

void shared_cards_sum(struct shared_cards *cards, const struct survey *surveys)
{
    for (size_t i = 0; i < cards->count; i++)
        sum_up(&cards->items[i], &surveys[cards->items[i].processes[0].trace]);
    drop_unless(cards, surveys, was_shared);
}

void shared_cards_release(struct shared_cards *cards)
{
    for (size_t i = 0; i < cards->count; i++)
        release_card(&cards->items[i]);
    free(cards->items);
    *cards = (struct shared_cards){0};
}
