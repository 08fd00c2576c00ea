/* SPDX-License-Identifier: MIT */
/* Other processes' traces at a failure; see neighbours.h. */
#include "neighbours.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analysis/ledger/ledger.h"
#include "analyzer/load/load.h"
#include "analyzer/util/clock.h"
#include "oom_sum.h"

/* --- is the trace a neighbour? --- */

static const struct trace_device *find_card(const struct trace *trace, int device)
{
    for (size_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].device == device && trace->devices[i].uuid)
            return &trace->devices[i];
    return NULL;
}

static const struct trace_device *find_same_card(const struct trace *trace,
                                                 const struct trace_device *card)
{
    for (size_t i = 0; card && i < trace->device_count; i++)
        if (trace->devices[i].uuid && !strcmp(trace->devices[i].uuid, card->uuid))
            return &trace->devices[i];
    return NULL;
}

static bool has_clock(const struct trace_meta *meta)
{
    return meta->start_unix_ns.known && meta->start_monotonic_ns.known;
}

static bool is_same_boot(const struct trace_meta *a, const struct trace_meta *b)
{
    if (!has_clock(a) || !has_clock(b))
        return false;
    return clock_same_boot(clock_since_ns(a->start_unix_ns.value, a->start_monotonic_ns.value),
                           clock_since_ns(b->start_unix_ns.value, b->start_monotonic_ns.value));
}

/* --- what a neighbour held --- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Bytes of the other process at the moment that its study was opened for, without its context. */
static int find_held(uint64_t *bytes, const struct study *other, int device, struct err *err)
{
    const struct device_use *use = history_device(&other->history, device);
    const struct moment none = {.index = INDEX_NONE};
    const struct moment moment =
        use ? other->history.accounts[use->accounts[ACCOUNT_device]].asked : none;
    struct ledger ledger;

    *bytes = 0;
    if (moment.index == INDEX_NONE)
        return 0;
    if (ledger_at(&ledger, &other->history, use, &moment, err))
        return -1;
    *bytes = ledger.process_bytes;
    ledger_release(&ledger);
    return 0;
}

static void add(struct card_processes *traced, const struct trace *other, uint64_t bytes)
{
    const uint64_t pid = other->meta.pid.known ? (uint64_t)other->meta.pid.value : 0;

    traced->is_known = true;
    card_processes_add(traced, pid, bytes);
}

/* The other process was alive at that time and used the card. */
static int read_then(struct card_processes *traced, const char *path, int device, uint64_t time_ns,
                     struct err *err)
{
    char at[32];
    struct study_ask ask = {.at = at};
    struct study other;
    uint64_t bytes;

    snprintf(at, sizeof at, "%" PRIu64 "ns", time_ns);
    if (study_open(&other, path, &ask, err))
        return -1;
    const int status = find_held(&bytes, &other, device, err);
    if (!status && bytes)
        add(traced, &other.trace, bytes);
    study_release(&other);
    return status;
}

static int look(struct failure *failure, const struct study *study, const struct trace *other,
                struct err *err)
{
    const struct trace_meta *meta = &study->trace.meta;
    const struct trace_device *card =
        find_card(&study->trace, study->history.accounts[failure->account].device);
    const struct trace_device *same = find_same_card(other, card);
    struct card_processes *traced = &failure->traced;

    if (!same || !is_same_boot(meta, &other->meta))
        return 0;
    const int64_t time_ns = (int64_t)failure->at.time_ns + meta->start_monotonic_ns.value -
                            other->meta.start_monotonic_ns.value;
    if (time_ns < 0 || (other->meta.end_ns.known && time_ns > other->meta.end_ns.value))
        return 0;
    traced->own_bytes = traced->is_known ? traced->own_bytes : OOM_CONTEXT_MOST_BYTES;
    if (card->context_known)
        traced->own_bytes = least(traced->own_bytes, card->context_bytes);
    if (same->context_known)
        traced->own_bytes = least(traced->own_bytes, same->context_bytes);
    return read_then(traced, other->path, same->device, (uint64_t)time_ns, err);
}

/* --- the neighbours' contexts --- */

static int add_contexts(struct failure *failure, const struct history *history, struct err *err)
{
    struct card_processes *traced = &failure->traced;
    struct card_processes alone = *traced;
    const struct device_use *use =
        history_device(history, history->accounts[failure->account].device);
    struct ledger ledger;

    if (!traced->is_known)
        return 0;
    *traced = (struct card_processes){0};
    if (ledger_at(&ledger, history, use, &failure->at, err))
        return -1;
    const uint64_t counted_bytes = ledger.process_bytes + alone.others_bytes;
    alone.is_known = ledger.is_asked && counted_bytes <= ledger.used_bytes;
    if (alone.is_known)
        alone.own_bytes =
            least(alone.own_bytes, (ledger.used_bytes - counted_bytes) / (alone.others_count + 1));
    for (size_t i = 0; i < CARD_PROCESSES_NAMED && i < alone.others_count; i++)
        alone.largest[i].bytes += alone.own_bytes;
    alone.others_bytes += alone.own_bytes * alone.others_count;
    if (alone.is_known)
        *traced = alone;
    ledger_release(&ledger);
    return 0;
}

int neighbours_join(struct study *study, const char *const *paths, int count, int own,
                    struct err *err)
{
    struct history *history = &study->history;
    size_t first = history->failure_count < NEIGHBOUR_FAILURES
                       ? 0
                       : history->failure_count - NEIGHBOUR_FAILURES;
    int status = 0;

    for (int i = 0; i < count && !status && history->failure_count; i++) {
        struct trace other;

        if (i == own)
            continue;
        if (load_trace(&other, paths[i], err))
            return -1;
        for (size_t j = first; j < history->failure_count && !status; j++)
            status = look(&history->failures[j], study, &other, err);
        trace_release(&other);
    }
    for (size_t j = first; j < history->failure_count && !status; j++)
        status = add_contexts(&history->failures[j], history, err);
    return status;
}
