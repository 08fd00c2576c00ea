/* SPDX-License-Identifier: MIT */
/* Ended objects that were live at kept moments; see past.h. */
#include "past.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

enum { FIRST_PRUNE = 1024 };

void past_init(struct history *history)
{
    history->ended_blocks = (struct ended){.item_bytes = sizeof(struct block)};
    history->ended_segments = (struct ended){.item_bytes = sizeof(struct segment)};
    history->ended_samples = (struct ended){.item_bytes = sizeof(struct memory_sample)};
    history->ended_usages = (struct ended){.item_bytes = sizeof(struct mempool_usage)};
}

void past_release(struct history *history)
{
    free(history->ended_blocks.items);
    free(history->ended_segments.items);
    free(history->ended_samples.items);
    free(history->ended_usages.items);
    free(history->pins);
}

/* --- the moments that count --- */

/* Number of pins before `index`. */
static size_t pins_before(const struct history *history, uint64_t index)
{
    return sorted_count(history->pins, history->pin_count, sizeof *history->pins, 0,
                        sizeof *history->pins, index, false);
}

int past_pin(struct history *history, uint64_t index, struct err *err)
{
    size_t at = pins_before(history, index);
    if (at < history->pin_count && history->pins[at] == index)
        return 0;
    if (ARRAY_GROW(history->pins, history->pin_capacity, history->pin_count, err))
        return -1;
    memmove(&history->pins[at + 1], &history->pins[at],
            (history->pin_count++ - at) * sizeof *history->pins);
    history->pins[at] = index;
    return 0;
}

void past_unpin(struct history *history, uint64_t index)
{
    size_t at = pins_before(history, index);
    if (at == history->pin_count || history->pins[at] != index)
        return;
    memmove(&history->pins[at], &history->pins[at + 1],
            (--history->pin_count - at) * sizeof *history->pins);
}

/* True if a pin lies in the life. Tests the last pin first, because most lives begin after it. */
static bool pin_lies_in(const struct history *history, const struct life *life)
{
    if (!history->pin_count || history->pins[history->pin_count - 1] < life->begin_index)
        return false;
    size_t at = pins_before(history, life->begin_index);
    return at < history->pin_count && history->pins[at] < life->end_index;
}

/* The moment of the card's sample is kept because the free memory in the sample is compared with
 * the bytes that the process held at that moment. */
static bool sample_lies_in(const struct history *history, const struct account *account,
                           const struct life *life)
{
    const struct memory_sample *sample = &history->samples[DEVICE_SLOT(account->device)];
    return account->kind != ACCOUNT_pool && sample->known &&
           life_covers(life, sample->reported_index);
}

static bool own_moment_lies_in(const struct account *account, const struct life *life)
{
    return life_covers(life, account->peak.index) || life_covers(life, account->asked.index) ||
           life_covers(life, account->fullest.index) ||
           life_covers(life, account->reserved_peak.index);
}

/*
 * A moment of a pool also keeps driver memory: what was live at the moment, and what was live at
 * the card's last sample before the moment.
 */
static bool moment_of_device_lies_in(const struct history *history, int device,
                                     const struct life *life)
{
    for (size_t i = 0; i < history->account_count; i++) {
        const struct account *account = &history->accounts[i];

        if (account->device == device && account_is_of_layer(account) &&
            (own_moment_lies_in(account, life) || life_covers(life, account->peak_reported_index) ||
             life_covers(life, account->asked_reported_index) ||
             life_covers(life, account->fullest_reported_index)))
            return true;
    }
    return false;
}

static bool is_of_card(const struct account *account)
{
    return account->kind == ACCOUNT_device || account->kind == ACCOUNT_context;
}

/* A ledger adds up the bytes of all layers at the peak of the driver's memory. */
static bool moment_of_driver_lies_in(const struct history *history, const struct account *account,
                                     const struct life *life)
{
    return own_moment_lies_in(&history->accounts[account->driver], life);
}

static bool account_wants(const struct history *history, const struct account *account,
                          const struct life *life)
{
    return own_moment_lies_in(account, life) || sample_lies_in(history, account, life) ||
           moment_of_driver_lies_in(history, account, life) ||
           (is_of_card(account) && moment_of_device_lies_in(history, account->device, life));
}

/* True if a moment of the device lies in the life. An unknown device may have no account yet. */
static bool device_wants(const struct history *history, int device, const struct life *life)
{
    if (pin_lies_in(history, life))
        return true;
    for (size_t i = 0; i < history->account_count; i++)
        if (history->accounts[i].device == device &&
            account_wants(history, &history->accounts[i], life))
            return true;
    return false;
}

static bool wants_block(const struct history *history, const void *item)
{
    const struct block *block = item;
    const struct keeper *keeper = &history->keeper;
    return account_wants(history, &history->accounts[block->account], &block->life) ||
           pin_lies_in(history, &block->life) ||
           (keeper->wants && keeper->wants(keeper->self, block->account, &block->life));
}

static bool wants_segment(const struct history *history, const void *item)
{
    const struct segment *segment = item;
    return account_wants(history, &history->accounts[segment->account], &segment->life) ||
           pin_lies_in(history, &segment->life);
}

static bool wants_sample(const struct history *history, const void *item)
{
    const struct memory_sample *sample = item;
    return device_wants(history, sample->device, &sample->life);
}

static bool wants_usage(const struct history *history, const void *item)
{
    const struct mempool_usage *usage = item;
    return device_wants(history, history->mempools[usage->mempool].device, &usage->life);
}

/* --- the lists --- */

typedef bool wants_item(const struct history *history, const void *item);

static void prune(const struct history *history, struct ended *list, wants_item *wants)
{
    char *items = list->items;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *item = items + i * list->item_bytes;
        if (wants(history, item))
            memmove(items + kept++ * list->item_bytes, item, list->item_bytes);
    }
    list->count = kept;
    /*
     * The list may grow by a quarter before the next pruning, so that memory does not grow with the
     * trace.
     */
    const size_t most = kept + kept / 4;
    list->prune_at = most > FIRST_PRUNE ? most : FIRST_PRUNE;
}

static int keep(struct history *history, struct ended *list, wants_item *wants, const void *item,
                struct err *err)
{
    if (history->forgets || !wants(history, item))
        return 0;
    if (list->count >= list->prune_at)
        prune(history, list, wants);
    if (array_grow(&list->items, &list->capacity, list->count, list->item_bytes, err))
        return -1;
    memcpy((char *)list->items + list->count++ * list->item_bytes, item, list->item_bytes);
    return 0;
}

int past_end_block(struct history *history, const struct block *block, struct err *err)
{
    return keep(history, &history->ended_blocks, wants_block, block, err);
}

int past_end_segment(struct history *history, const struct segment *segment, struct err *err)
{
    return keep(history, &history->ended_segments, wants_segment, segment, err);
}

int past_end_sample(struct history *history, const struct memory_sample *sample, struct err *err)
{
    return keep(history, &history->ended_samples, wants_sample, sample, err);
}

int past_end_usage(struct history *history, const struct mempool_usage *usage, struct err *err)
{
    return keep(history, &history->ended_usages, wants_usage, usage, err);
}
