/* SPDX-License-Identifier: MIT */
/* Where a part of a run begins or ends; see part_end.h. */
#include "part_end.h"

#include <stdlib.h>

#include "analyzer/replay/phase/spans.h"
#include "analyzer/util/array.h"
#include "moment.h"

/* --- phases --- */

static int close_occurrence(struct part_end *end, const struct cursor *at)
{
    const struct history *history = at->history;
    for (size_t i = 0; i < history->account_count; i++) {
        const struct moment *highest = &history->accounts[i].asked;
        if (highest->index == INDEX_NONE || highest->index < end->begin_index)
            continue;
        if (ARRAY_REACH(end->occurrences, end->capacity, end->count, i, at->err))
            return -1;
        end->occurrences[i] = (struct occurrence){end->begin_seq, end->now_seq};
    }
    return 0;
}

static int on_span(void *self, const struct cursor *at, uint32_t span, bool begins)
{
    struct part_end *end = self;
    if (!at->history->paths[at->spans->items[span].path].is_asked)
        return 0;
    if (!begins)
        return --end->open_count ? 0 : close_occurrence(end, at);
    if (!end->open_count++) {
        end->begin_index = at->index;
        end->begin_seq = end->now_seq = at->event->seq;
    }
    return 0;
}

/* Remembers the event before the one that shows the end of a phase, because the
 * phase ends there. */
static int on_event(void *self, const struct cursor *at)
{
    struct part_end *end = self;
    end->now_seq = at->event->seq;
    return 0;
}

/* --- the result --- */

static uint64_t seq_of(const struct part_end *end, uint32_t account, const struct moment *moment)
{
    if (account >= end->count || !end->occurrences[account].begin_seq)
        return moment->seq;
    return end->is_last ? end->occurrences[account].end_seq : end->occurrences[account].begin_seq;
}

static int on_end(void *self, const struct cursor *at)
{
    struct part_end *end = self;
    const struct history *history = at->history;
    uint64_t most_bytes = 0;
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        const uint32_t account = end->of_driver ? use->accounts[ACCOUNT_device] : use->leading;
        const uint64_t peak_bytes = history->accounts[account].peak_bytes;
        struct moment moment;
        if (moment_find(end->option, end->at, history, account, &moment, at->err))
            return -1;
        if (moment.index == INDEX_NONE || (end->device >= 0 && end->device != use->device) ||
            peak_bytes < most_bytes)
            continue;
        most_bytes = peak_bytes;
        end->seq = seq_of(end, account, &moment);
    }
    if (end->seq || !history->device_count)
        return 0;
    return err_set(at->err, ERR_USAGE, "--%s=%.100s: the device that is shown has no such moment",
                   end->option, end->at);
}

struct observer part_end_observer(struct part_end *end)
{
    return (struct observer){
        .self = end, .on_span = on_span, .on_event = on_event, .on_end = on_end};
}

void part_end_release(struct part_end *end)
{
    free(end->occurrences);
    end->occurrences = NULL;
}
