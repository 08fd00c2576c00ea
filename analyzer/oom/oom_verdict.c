/* SPDX-License-Identifier: MIT */
/* Judges the evidence by the rules of oom.h. */
#include "analyzer/analysis/fragmentation/frag.h"
#include "oom.h"
#include "analyzer/thresholds/thresholds.h"

static bool would_fit(uint64_t requested_bytes, uint64_t first, uint64_t second, uint64_t third)
{
    uint64_t sum;
    if (GMT_ADD_OVERFLOWS(first, second, &sum) || GMT_ADD_OVERFLOWS(sum, third, &sum))
        return true;
    return requested_bytes <= sum;
}

/* True if these bytes, together with the free and the idle bytes, would have made room for the
 * request. */
static bool would_make_room(const struct oom *oom, uint64_t bytes)
{
    return bytes >= oom->device_total_bytes / NOISE_DIVISOR &&
           would_fit(oom->requested_bytes, oom->idle_bytes, oom->device_free_bytes, bytes);
}

bool oom_limit_makes_room(const struct oom *oom)
{
    return oom->verdict == OOM_EXHAUSTED && would_make_room(oom, oom->limit.bytes);
}

bool oom_limit_may_hold(const struct oom *oom)
{
    return oom->limit.is_set && (oom->reason == OOM_CONTEXT_OR_OTHERS ||
                                 (oom->verdict == OOM_OTHERS && oom->reason != OOM_BY_NVML));
}

static bool is_notable(const struct oom *oom, uint64_t idle_bytes)
{
    return idle_bytes && idle_bytes >= oom->reserved_bytes / ROUNDING_DIVISOR;
}

/* A trifle beside the request, such as the rounding of a nearly empty process, is not why it
 * failed, even if it would have closed the gap. */
static bool is_enough(const struct oom *oom, uint64_t idle_bytes)
{
    return (idle_bytes && idle_bytes >= oom->requested_bytes) ||
           (is_notable(oom, idle_bytes) &&
            idle_bytes >= oom->requested_bytes / IDLE_TRIFLE_DIVISOR &&
            would_fit(oom->requested_bytes, idle_bytes, oom->device_free_bytes, 0));
}

bool oom_is_of_card(const struct oom *oom)
{
    return oom->account_kind == ACCOUNT_device || oom->account_kind == ACCOUNT_pool;
}

static enum oom_verdict decide(struct oom *oom, enum oom_verdict verdict, enum oom_reason reason)
{
    oom->reason = reason;
    return verdict;
}

/* Judges a failure in which the pool refused without asking the driver. */
static enum oom_verdict judge_framework(struct oom *oom)
{
    const bool is_idle = oom->reserved_known && oom->idle_bytes >= oom->requested_bytes;
    return decide(oom, is_idle ? OOM_FRAGMENTED : OOM_LIMIT, OOM_BY_FRAMEWORK);
}

uint64_t oom_unreachable_bytes(const struct oom *oom, enum oom_idle owner)
{
    switch (owner) {
    case OOM_IDLE_FRAMEWORK:
        return oom->has_pool && !oom->asks_for_pool ? oom->idle_bytes : 0;
    case OOM_IDLE_MEMPOOLS:
        return oom->sum.mempools_bytes - oom->asked_idle_bytes;
    default:
        return oom->sum.graphs_idle_bytes;
    }
}

/* Judges idle memory in this process's pools. OOM_EXHAUSTED: the idle memory would not have been
 * enough. */
static enum oom_verdict judge_idle(struct oom *oom)
{
    uint64_t unreachable_bytes = 0;
    if (oom->asks_for_pool && oom->other_stream_hole_bytes >= oom->requested_bytes)
        return decide(oom, OOM_CACHED, OOM_ANOTHER_STREAM);
    if (oom->asks_for_pool && is_enough(oom, oom->whole_segments_bytes))
        return decide(oom, OOM_CACHED, OOM_NOT_GIVEN_BACK);
    for (int owner = 0; owner < OOM_IDLE_OWNERS; owner++)
        unreachable_bytes += oom_unreachable_bytes(oom, (enum oom_idle)owner);
    if (is_enough(oom, unreachable_bytes))
        return decide(oom, OOM_CACHED, OOM_ANOTHER_CALLER);
    if (oom->has_pool && !oom->asks_for_pool)
        return OOM_EXHAUSTED;
    const bool is_of_pool = oom->has_pool || oom->asks_drivers_pool;
    const uint64_t idle_bytes = oom->asks_drivers_pool ? oom->asked_idle_bytes : oom->idle_bytes;
    return (!is_of_pool || is_notable(oom, idle_bytes)) && is_enough(oom, idle_bytes)
               ? OOM_FRAGMENTED
               : OOM_EXHAUSTED;
}

/* Judges bytes in use that nothing accounts for. They belong to other processes, unless they may be
 * something else. */
static enum oom_verdict judge_unexplained(struct oom *oom, uint64_t bytes)
{
    if (!would_make_room(oom, bytes))
        return OOM_EXHAUSTED;
    if (oom->lost_events)
        return decide(oom, OOM_UNKNOWN, OOM_LOST_EVENTS);
    if (oom->managed_bytes &&
        !would_make_room(oom, bytes > oom->managed_bytes ? bytes - oom->managed_bytes : 0))
        return decide(oom, OOM_UNKNOWN, OOM_MANAGED_OR_OTHERS);
    if (!oom->others_known || bytes <= LEDGER_CONTEXT_MOST_BYTES)
        return decide(oom, OOM_UNKNOWN, OOM_CONTEXT_OR_OTHERS);
    return OOM_OTHERS;
}

static uint64_t unexplained_bytes(const struct oom *oom)
{
    const uint64_t known_bytes = oom->device_free_bytes + oom->driver_live_bytes;
    if (oom->others_known)
        return oom->others_bytes;
    /* Without a first sample the context's size is unknown, so this takes the largest size that it
     * may have. */
    return oom->device_total_bytes > known_bytes + LEDGER_CONTEXT_MOST_BYTES
               ? oom->device_total_bytes - known_bytes - LEDGER_CONTEXT_MOST_BYTES
               : 0;
}

/* Judges bytes of other processes. NVML names the owners, so its bytes are judged before the
 * unexplained rest. */
static enum oom_verdict judge_others(struct oom *oom)
{
    const uint64_t unlisted_bytes =
        oom->sum.unaccounted_bytes > 0 ? (uint64_t)oom->sum.unaccounted_bytes : 0;
    if (!oom->sum.is_by_nvml)
        return judge_unexplained(oom, unexplained_bytes(oom));
    if (would_make_room(oom, oom->others_bytes))
        return decide(oom, OOM_OTHERS, OOM_BY_NVML);
    return would_make_room(oom, oom->others_bytes + unlisted_bytes)
               ? decide(oom, OOM_UNKNOWN, OOM_NOT_LISTED)
               : OOM_EXHAUSTED;
}

static enum oom_verdict judge_full(struct oom *oom)
{
    const enum oom_verdict unexplained = judge_others(oom);
    if (unexplained == OOM_OTHERS)
        return OOM_OTHERS;
    if (oom->asks_for_pool && oom->outside_bytes >= oom->live_bytes / 2 &&
        would_make_room(oom, oom->outside_bytes))
        return OOM_OUTSIDE;
    if (unexplained == OOM_UNKNOWN)
        return OOM_UNKNOWN;
    if (oom->is_slice)
        return decide(oom, OOM_LIMIT, OOM_BY_SLICE);
    return would_fit(oom->requested_bytes, oom->device_free_bytes, oom->driver_live_bytes, 0)
               ? OOM_EXHAUSTED
               : decide(oom, OOM_EXHAUSTED, OOM_MORE_THAN_GIVEN);
}

static enum oom_verdict judge(struct oom *oom)
{
    const uint64_t requested_bytes = oom->requested_bytes, total_bytes = oom->device_total_bytes;
    uint64_t pieces_bytes;
    if (oom->result != RESULT_OUT_OF_MEMORY)
        return decide(oom, OOM_UNKNOWN, OOM_NO_LACK);
    if (!oom_is_of_card(oom))
        return decide(oom, OOM_UNKNOWN, OOM_NOT_OF_CARD);
    if ((total_bytes && requested_bytes > total_bytes) ||
        GMT_ADD_OVERFLOWS(oom->driver_requested_bytes, FRAG_GRANULE_BYTES - 1, &pieces_bytes))
        return decide(oom, OOM_EXHAUSTED, OOM_MORE_THAN_CARD);
    pieces_bytes -= pieces_bytes % FRAG_GRANULE_BYTES;
    if (oom->failure->event.memory == MEMORY_GRAPH)
        return decide(oom, OOM_EXHAUSTED, OOM_BY_LAUNCH);
    if (oom->failure->refused_by_framework && !oom->driver_is_unknown)
        return judge_framework(oom);
    if (oom->device_known && pieces_bytes <= oom->device_free_bytes)
        return oom->is_fresh ? decide(oom, OOM_LIMIT, OOM_BY_DRIVER)
                             : decide(oom, OOM_UNKNOWN, OOM_OLD_ANSWER);
    const enum oom_verdict idle = judge_idle(oom);
    if (idle != OOM_EXHAUSTED)
        return idle;
    if (oom->device_known)
        return judge_full(oom);
    /* Without a sample of the card, only the process's own bytes can show that the card is full. */
    if (total_bytes &&
        !would_fit(requested_bytes,
                   total_bytes > oom->driver_live_bytes ? total_bytes - oom->driver_live_bytes : 0,
                   0, 0))
        return OOM_EXHAUSTED;
    return decide(oom, OOM_UNKNOWN, OOM_NO_ANSWER);
}

void oom_judge(struct oom *oom)
{
    oom->verdict = judge(oom);
}
