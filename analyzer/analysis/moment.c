/* SPDX-License-Identifier: MIT */
/* From --at=… to an event; see moment.h. */
#include "moment.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *suffix;
    double ns;
} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}};

static int wrong(const char *at, const char *why, struct err *err)
{
    err_set(err, ERR_USAGE,
            "--at=%.100s: %s; it takes peak, end, a time as 1.5s, a sequence number, phase:NAME "
            "or oom:N",
            at, why);
    return -1;
}

/* The last counted event for which `before` holds; events are sorted by both keys. */
static uint32_t last_event(const struct history *history, uint64_t limit, bool by_time)
{
    const struct event *events = history->trace->events;
    uint32_t low = 0, high = history->event_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if ((by_time ? events[middle].time_ns : events[middle].seq) <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : HISTORY_NONE;
}

static int parse_number(const char *text, uint64_t *number)
{
    char *end;

    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno || *end ? -1 : 0;
}

/* Sequence numbers decide the order; times of different threads may differ by a call's duration. */
static int find_time(const char *at, const struct history *history, uint32_t *index,
                     struct err *err)
{
    char *end;
    double value = strtod(at, &end);

    for (size_t i = 0; end != at && i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].suffix))
            continue;
        value *= units[i].ns;
        if (!isfinite(value) || value < 0 || value >= 0x1p63)
            return wrong(at, "no such time", err);
        *index = last_event(history, (uint64_t)value, true);
        return 0;
    }
    return wrong(at, "not understood", err);
}

static int find_failure(const char *at, const char *text, const struct history *history,
                        uint32_t stock, uint32_t *index, struct err *err)
{
    uint64_t number;

    if (parse_number(text, &number) || number == 0)
        return wrong(at, "failures count from 1", err);
    if (number > history->failure_count) {
        err_set(err, ERR_USAGE, "--at=%.100s: the trace has %zu failed allocations", at,
                history->failure_count);
        return -1;
    }
    *index = history->failures[number - 1].event;
    if (history->stocks[history->failures[number - 1].stock].device !=
        history->stocks[stock].device)
        *index = HISTORY_NONE;
    return 0;
}

/* --- phase:NAME --- */

static bool path_is_named(const struct history *history, uint32_t path, const char *name)
{
    return !strcmp(history->paths[path].text, name) || !strcmp(history->paths[path].name, name);
}

/* Spans are sorted by their begin. Returns the end of the next run of open ones. */
static uint32_t covered_until(const struct history *history, const char *name, size_t *span,
                              uint32_t index, uint32_t until)
{
    for (; *span < history->span_count && history->spans[*span].begin_index <= index; (*span)++) {
        const struct span *here = &history->spans[*span];

        if (path_is_named(history, here->path, name) && here->end_index > until)
            until = here->end_index;
    }
    return until;
}

/* The state at entry counts too: it is the state of the first event inside. */
static int find_phase_peak(const char *at, const char *name, const struct history *history,
                           uint32_t stock, uint32_t *index, struct err *err)
{
    uint64_t live_bytes = 0, highest_bytes = 0;
    uint32_t until = 0;
    size_t span = 0, change = 0;
    bool known = false;

    *index = HISTORY_NONE;
    for (size_t i = 0; i < history->path_count && !known; i++)
        known = path_is_named(history, (uint32_t)i, name);
    if (!known) {
        err_set(err, ERR_USAGE,
                "--at=%.100s: the trace has no phase of that name; see "
                "'gpumemtrace phases'",
                at);
        return -1;
    }
    for (uint32_t i = 0; i < history->event_count; i++) {
        for (; change < history->change_count && history->changes[change].event == i; change++) {
            const struct block *block = &history->blocks[history->changes[change].block];

            if (block->stock == stock)
                live_bytes +=
                    history->changes[change].birth ? block->size_bytes : -block->size_bytes;
        }
        until = covered_until(history, name, &span, i, until);
        if (i < until && (*index == HISTORY_NONE || live_bytes > highest_bytes)) {
            highest_bytes = live_bytes;
            *index = i;
        }
    }
    return 0;
}

int moment_find(const char *at, const struct history *history, uint32_t stock, uint32_t *index,
                struct err *err)
{
    static const char phase[] = "phase:", oom[] = "oom:";
    uint64_t seq;

    if (!at || !strcmp(at, "peak")) {
        *index = history->stocks[stock].peak_index;
        return 0;
    }
    if (!strcmp(at, "end")) {
        *index = history->event_count ? history->event_count - 1 : HISTORY_NONE;
        return 0;
    }
    if (!strncmp(at, phase, sizeof phase - 1))
        return find_phase_peak(at, at + sizeof phase - 1, history, stock, index, err);
    if (!strncmp(at, oom, sizeof oom - 1))
        return find_failure(at, at + sizeof oom - 1, history, stock, index, err);
    if (!parse_number(at, &seq)) {
        *index = last_event(history, seq, false);
        return 0;
    }
    return find_time(at, history, index, err);
}
