/* SPDX-License-Identifier: MIT */
/* Gathers the evidence at a failed allocation; see oom.h. */
#include "oom.h"

#include <string.h>

#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/analysis/fragmentation/segments.h"
#include "analyzer/replay/history/live_walk.h"

static const struct {
    int32_t result;
    const char *text;
} results[] = {
    {1, "invalid value"},        {2, "out of memory"},         {3, "not initialized"},
    {4, "deinitialized"},        {100, "no device"},           {101, "invalid device"},
    {201, "invalid context"},    {700, "illegal address"},     {709, "context is destroyed"},
    {716, "misaligned address"}, {719, "launch failed"},       {800, "not permitted"},
    {801, "not supported"},      {900, "stream is capturing"}, {999, "unknown error"},
};

const char *oom_verdict_name(enum oom_verdict verdict)
{
    static const char *const names[] = {
        [OOM_UNKNOWN] = "unknown", [OOM_EXHAUSTED] = "exhausted", [OOM_FRAGMENTED] = "fragmented",
        [OOM_CACHED] = "cached",   [OOM_OUTSIDE] = "outside",     [OOM_OTHERS] = "others",
        [OOM_LIMIT] = "limit",
    };
    return names[verdict];
}

const char *oom_result_name(int32_t result)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].result == result)
            return results[i].text;
    return NULL;
}

/* --- evidence --- */

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static int weigh_device(struct oom *oom, const struct history *history,
                        const struct device_use *use, uint64_t reserved_bytes, struct err *err)
{
    const struct failure *failure = oom->failure;
    uint64_t modules_bytes = card_modules_bytes(history, use, failure->at.index);
    uint64_t used_bytes, context_bytes;
    struct card_free card;
    if (!failure->sample.known)
        return 0;
    if (card_free_since(&card, history, use, &failure->sample, failure->at.index,
                        reserved_bytes + modules_bytes, err))
        return -1;
    oom->device_known = true;
    oom->device_free_bytes = card.free_bytes;
    if (!card.total_bytes) /* an imported trace may know only the free bytes */
        return 0;
    oom->is_slice |= oom->device_total_bytes && card.total_bytes < oom->device_total_bytes;
    oom->device_total_bytes = card.total_bytes;
    if (!oom->context_known)
        return 0;
    used_bytes = minus(oom->device_total_bytes, oom->device_free_bytes);
    context_bytes = oom->context_bytes < LEDGER_CONTEXT_MOST_BYTES ? oom->context_bytes
                                                                   : LEDGER_CONTEXT_MOST_BYTES;
    context_bytes += modules_bytes;
    oom->others_known = true;
    oom->others_bytes = minus(used_bytes, reserved_bytes + context_bytes);
    return 0;
}

/* True if cuMemGetInfo was sampled in one of the hooked calls that failed. */
static bool is_fresh(const struct failure *failure)
{
    const struct memory_sample *sample = &failure->sample;
    if (!sample->known || !sample->call_id || sample->thread_id != failure->event.thread_id)
        return false;
    for (uint32_t i = 0; i < failure->refusals_count && i < FAILURE_REFUSALS; i++)
        if (failure->refusals[i].call_id == sample->call_id)
            return true;
    return false;
}

/* True for the name of a MIG slice, for example "NVIDIA A100-SXM4-80GB MIG 1g.10gb" or
 * "MIG-41b35f89-…". */
static bool names_slice(const struct trace_device *row)
{
    return (row->name && strstr(row->name, "MIG ")) ||
           (row->uuid && !strncmp(row->uuid, "MIG-", 4));
}

static void find_card(struct oom *oom, const struct trace *trace, int device)
{
    for (size_t i = 0; i < trace->device_count; i++) {
        const struct trace_device *row = &trace->devices[i];

        if (row->device != device)
            continue;
        oom->context_known = row->context_known;
        oom->context_bytes = row->context_bytes;
        oom->device_total_bytes = row->total_bytes;
        oom->is_slice = names_slice(row);
    }
}

static void weigh_segment(struct oom *oom, const struct pool_segment *segment)
{
    const uint64_t stream = oom->failure->event.stream;
    if (segment->largest_free_bytes > oom->largest_hole_bytes)
        oom->largest_hole_bytes = segment->largest_free_bytes;
    oom->whole_segments_bytes += segment->free_bytes - segment->stranded_bytes;
    if (!oom->asks_for_pool || stream == STREAM_UNKNOWN || segment->stream == STREAM_UNKNOWN ||
        segment->stream == stream)
        return;
    oom->other_stream_bytes += segment->free_bytes;
    if (segment->largest_free_bytes > oom->other_stream_hole_bytes)
        oom->other_stream_hole_bytes = segment->largest_free_bytes;
}

/* Splits a pool's free memory into idle bytes and bytes that CUDA graphs hold, and splits the idle
 * bytes by stream. */
static int weigh_pool(struct oom *oom, const struct history *history, struct err *err)
{
    struct graph_share of_graphs;
    struct segment_list list;
    if (segments_of_graphs(&of_graphs, history, oom->account, oom->failure->at.index, err) ||
        segments_at(&list, history, oom->account, oom->failure->at.index, err))
        return -1;
    oom->largest_hole_bytes = 0;
    oom->graph_bytes = of_graphs.free_bytes;
    oom->graph_pools_count = of_graphs.pools_count;
    for (size_t i = 0; i < list.count; i++)
        if (!list.items[i].is_of_graph && oom->reserved_known)
            weigh_segment(oom, &list.items[i]);
    segments_release(&list);
    return 0;
}

/* True if the failed call asked one of the driver's stream-ordered pools. */
static bool asks_mempool(const struct failure *failure)
{
    if (failure->event.memory == MEMORY_ASYNC)
        return true;
    for (uint32_t i = 0; i < failure->refusals_count && i < FAILURE_REFUSALS; i++)
        if (failure->refusals[i].memory == MEMORY_ASYNC)
            return true;
    return false;
}

/* Finds the idle bytes of the stream-ordered pool that was asked. If its handle is unknown, it may
 * be any of them. */
static int find_asked_idle(struct oom *oom, const struct history *history,
                           const struct device_use *use, struct err *err)
{
    const struct event *event = &oom->failure->event;
    const uint64_t all_bytes = oom->sum.mempools_bytes;
    oom->asked_idle_bytes = asks_mempool(oom->failure) ? all_bytes : 0;
    if (event->memory != MEMORY_ASYNC || !event->object || !all_bytes)
        return 0;
    if (frag_mempool_free(&oom->asked_idle_bytes, history, use->accounts[ACCOUNT_device],
                          event->object, oom->failure->at.index, err))
        return -1;
    if (oom->asked_idle_bytes > all_bytes)
        oom->asked_idle_bytes = all_bytes;
    return 0;
}

static int weigh_rest(struct oom *oom, const struct history *history, const struct device_use *use,
                      struct err *err)
{
    const struct trace_meta *meta = &history->trace->meta;
    oom->lost_events = meta->lost_events.known && meta->lost_events.value > 0;
    if ((oom->has_pool && weigh_pool(oom, history, err)) ||
        oom_sum_at(&oom->sum, history, use, &oom->failure->at, oom->is_fresh, err))
        return -1;
    if (oom->sum.is_by_nvml) {
        oom->others_known = true;
        oom->others_bytes = oom->failure->processes.others_bytes;
    }
    if (!oom->has_pool && oom->reserved_known) {
        oom->idle_bytes =
            oom->sum.mempools_bytes + oom->sum.graphs_idle_bytes + oom->sum.rounding_bytes;
        if (oom->largest_hole_bytes > oom->idle_bytes)
            oom->largest_hole_bytes = oom->idle_bytes;
    }
    if (find_asked_idle(oom, history, use, err))
        return -1;
    oom->hole_known = oom->reserved_known && !(oom->asks_drivers_pool && oom->sum.mempools_bytes);
    oom->outside_bytes = oom->sum.outside_bytes;
    oom->managed_bytes = oom->sum.managed_bytes;
    return 0;
}

/* Returns the bytes that were requested from the driver. A pool asks the driver for whole segments:
 * PyTorch asks for 20 MiB where a tensor needs 2 MiB. */
static uint64_t driver_requested_bytes(const struct failure *failure)
{
    uint64_t least_bytes = UINT64_MAX;
    for (uint32_t i = 0; i < failure->refusals_count && i < FAILURE_REFUSALS; i++) {
        const struct refusal *refusal = &failure->refusals[i];
        if (account_kind((enum memory_kind)refusal->memory) == ACCOUNT_device &&
            refusal->size_bytes < least_bytes)
            least_bytes = refusal->size_bytes;
    }
    return least_bytes == UINT64_MAX || least_bytes < failure->event.size_bytes
               ? failure->event.size_bytes
               : least_bytes;
}

/* Fills the numbers. */
static int gather(struct oom *oom, const struct history *history, const struct failure *failure,
                  struct err *err)
{
    const struct account *failing = &history->accounts[failure->account];
    const struct device_use *use = history_device(history, failing->device);
    const uint64_t index = failure->at.index;
    struct frag driver, held;
    *oom = (struct oom){.failure = failure,
                        .result = failure->event.result,
                        .requested_bytes = failure->event.size_bytes,
                        .driver_requested_bytes = driver_requested_bytes(failure),
                        .account_kind = failing->kind,
                        .asks_for_pool = failing->kind == ACCOUNT_pool,
                        .is_fresh = is_fresh(failure)};
    oom->account = oom->asks_for_pool ? failure->account : use->leading;
    oom->has_pool = history->accounts[oom->account].kind == ACCOUNT_pool;
    oom->asks_drivers_pool = !oom->has_pool && failure->event.memory == MEMORY_ASYNC;
    if (frag_at(&driver, history, use->accounts[ACCOUNT_device], index, err))
        return -1;
    held = driver;
    if (oom->has_pool && frag_at(&held, history, oom->account, index, err))
        return -1;
    oom->driver_live_bytes = driver.live_bytes;
    oom->live_bytes = held.live_bytes;
    oom->reserved_known = held.reserved_known;
    oom->reserved_bytes = held.reserved_bytes;
    oom->idle_bytes = held.free_bytes;
    oom->largest_hole_bytes = held.largest_free_bytes;
    oom->driver_is_unknown =
        !history_knows(history, &history->accounts[use->accounts[ACCOUNT_device]]);
    find_card(oom, history->trace, failing->device);
    oom->limit = card_limit_at(history, use, index);
    return weigh_device(oom, history, use, driver.reserved_bytes, err) ||
                   weigh_rest(oom, history, use, err)
               ? -1
               : 0;
}

int oom_explain(struct oom *oom, const struct history *history, const struct failure *failure,
                struct err *err)
{
    if (gather(oom, history, failure, err))
        return -1;
    oom_judge(oom);
    return 0;
}
