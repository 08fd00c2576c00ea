/* SPDX-License-Identifier: MIT */
/* The highest separate moments; see summits.h. */
#include "summits.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

/* Whether it is lower by more than a quarter. */
static bool is_well_below(uint64_t bytes, uint64_t high_bytes)
{
    return bytes < high_bytes - high_bytes / 4;
}

static void keep(struct account_summits *own, const struct summit *summit)
{
    size_t at = own->count;

    while (at > 0 && own->items[at - 1].bytes < summit->bytes)
        at--;
    if (at == SUMMITS_MOST)
        return;
    if (own->count < SUMMITS_MOST)
        own->count++;
    memmove(&own->items[at + 1], &own->items[at], (own->count - 1 - at) * sizeof *own->items);
    own->items[at] = *summit;
}

static void move_on(struct account_summits *own)
{
    const struct summit *now = &own->now;

    if (own->is_rising && now->bytes > own->highest.bytes) {
        own->highest = *now;
    } else if (own->is_rising && is_well_below(now->bytes, own->highest.bytes)) {
        keep(own, &own->highest);
        own->is_rising = false;
        own->lowest_bytes = now->bytes;
    } else if (!own->is_rising && is_well_below(own->lowest_bytes, now->bytes)) {
        own->is_rising = true;
        own->highest = *now;
    } else if (now->bytes < own->lowest_bytes) {
        own->lowest_bytes = now->bytes;
    }
}

static int on_change(void *self, const struct cursor *at, const struct spans *spans,
                     const struct change *change)
{
    struct summits *summits = self;
    const uint32_t account = change->block->account;
    struct account_summits *grown;

    (void)spans;
    if (!account_is_of_layer(&at->history->accounts[account]))
        return 0;
    grown = array_reach(summits->accounts, &summits->account_capacity, &summits->account_count,
                        sizeof *grown, account, at->err);
    if (!grown)
        return -1;
    summits->accounts = grown;
    grown += account;
    if (change->birth)
        grown->now.path = change->block->path;
    if (grown->has_changed)
        return 0;
    uint32_t *changed = array_grow(summits->changed, &summits->changed_capacity,
                                   summits->changed_count, sizeof *changed, at->err);
    if (!changed)
        return -1;
    summits->changed = changed;
    changed[summits->changed_count++] = account;
    grown->has_changed = true;
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct summits *summits = self;

    for (size_t i = 0; i < summits->changed_count; i++) {
        struct account_summits *own = &summits->accounts[summits->changed[i]];

        own->now.at = cursor_moment(at);
        own->now.bytes = at->history->accounts[summits->changed[i]].live_bytes;
        own->has_changed = false;
        move_on(own);
    }
    summits->changed_count = 0;
    return 0;
}

static int on_end(void *self, const struct cursor *at)
{
    struct summits *summits = self;

    (void)at;
    for (size_t i = 0; i < summits->account_count; i++)
        if (summits->accounts[i].is_rising)
            keep(&summits->accounts[i], &summits->accounts[i].highest);
    return 0;
}

struct observer summits_observer(struct summits *summits)
{
    return (struct observer){
        .self = summits, .on_change = on_change, .on_event = on_event, .on_end = on_end};
}

/* The one that a rise has reached so far counts, too: it may be the next. */
static bool wants(const void *self, uint32_t account, const struct life *life)
{
    const struct account_summits *own = summits_of(self, account);
    bool found = own->is_rising && life_covers(life, own->highest.at.index);

    for (size_t i = 0; i < own->count && !found; i++)
        found = life_covers(life, own->items[i].at.index);
    return found;
}

struct keeper summits_keeper(const struct summits *summits)
{
    return (struct keeper){summits, wants};
}

void summits_release(struct summits *summits)
{
    free(summits->accounts);
    free(summits->changed);
    *summits = (struct summits){0};
}

const struct account_summits *summits_of(const struct summits *summits, uint32_t account)
{
    static const struct account_summits none = {0};

    return account < summits->account_count ? &summits->accounts[account] : &none;
}
