/* SPDX-License-Identifier: MIT */
/* The highest separate moments; see local_peaks.h. */
#include "local_peaks.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/thresholds/thresholds.h"

static bool is_well_below(uint64_t bytes, uint64_t high_bytes)
{
    return bytes < high_bytes - high_bytes / LOCAL_PEAK_DIVISOR;
}

static void keep(struct account_local_peaks *own, const struct local_peak *local_peak)
{
    size_t at = own->count;
    while (at > 0 && own->items[at - 1].bytes < local_peak->bytes)
        at--;
    if (at == LOCAL_PEAKS_MOST)
        return;
    if (own->count < LOCAL_PEAKS_MOST)
        own->count++;
    memmove(&own->items[at + 1], &own->items[at], (own->count - 1 - at) * sizeof *own->items);
    own->items[at] = *local_peak;
}

static void move_on(struct account_local_peaks *own)
{
    const struct local_peak *now = &own->now;
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

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct local_peaks *local_peaks = self;
    const uint32_t account = change->block->account;
    if (!account_is_of_layer(&at->history->accounts[account]))
        return 0;
    if (ARRAY_REACH(local_peaks->accounts, local_peaks->account_capacity,
                    local_peaks->account_count, account, at->err))
        return -1;
    struct account_local_peaks *own = &local_peaks->accounts[account];
    if (change->birth)
        own->now.path = change->block->path;
    if (own->has_changed)
        return 0;
    if (ARRAY_GROW(local_peaks->changed, local_peaks->changed_capacity, local_peaks->changed_count,
                   at->err))
        return -1;
    local_peaks->changed[local_peaks->changed_count++] = account;
    own->has_changed = true;
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct local_peaks *local_peaks = self;
    for (size_t i = 0; i < local_peaks->changed_count; i++) {
        struct account_local_peaks *own = &local_peaks->accounts[local_peaks->changed[i]];

        own->now.at = cursor_moment(at);
        own->now.bytes = at->history->accounts[local_peaks->changed[i]].live_bytes;
        own->has_changed = false;
        move_on(own);
    }
    local_peaks->changed_count = 0;
    return 0;
}

static int on_end(void *self, const struct cursor *at)
{
    struct local_peaks *local_peaks = self;
    (void)at;
    for (size_t i = 0; i < local_peaks->account_count; i++)
        if (local_peaks->accounts[i].is_rising)
            keep(&local_peaks->accounts[i], &local_peaks->accounts[i].highest);
    return 0;
}

struct observer local_peaks_observer(struct local_peaks *local_peaks)
{
    return (struct observer){
        .self = local_peaks, .on_change = on_change, .on_event = on_event, .on_end = on_end};
}

/* Also keeps the highest moment of the current rise, because it may become the next local peak. */
static bool wants(const void *self, uint32_t account, const struct life *life)
{
    const struct account_local_peaks *own = local_peaks_of(self, account);
    bool found = own->is_rising && life_covers(life, own->highest.at.index);
    for (size_t i = 0; i < own->count && !found; i++)
        found = life_covers(life, own->items[i].at.index);
    return found;
}

struct keeper local_peaks_keeper(const struct local_peaks *local_peaks)
{
    return (struct keeper){local_peaks, wants};
}

void local_peaks_release(struct local_peaks *local_peaks)
{
    free(local_peaks->accounts);
    free(local_peaks->changed);
    *local_peaks = (struct local_peaks){0};
}

const struct account_local_peaks *local_peaks_of(const struct local_peaks *local_peaks,
                                                 uint32_t account)
{
    static const struct account_local_peaks none = {0};
    return account < local_peaks->account_count ? &local_peaks->accounts[account] : &none;
}
