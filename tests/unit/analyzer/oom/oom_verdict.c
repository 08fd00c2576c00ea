/* SPDX-License-Identifier: MIT */
/*
 * The verdict on a failed allocation, rule by rule, in the order of oom.h. Each row changes a few
 * numbers of one failure: a request for 2 GiB on a card of 16 GiB, of which this process holds
 * 14 GiB and 1 GiB is free.
 */
#include "analyzer/oom/oom.h"
#include "tests/unit/unit_test.h"

#define MIB ((uint64_t)1 << 20)

enum asker { PROGRAM, POOL, BESIDE_POOL };
enum { GIB = 1024 }; /* all sizes of a row are in MiB */

struct row {
    const char *name;
    enum oom_verdict verdict;
    enum oom_reason reason;
    enum asker asker;
    unsigned requested, free, held; /* 0: 2 GiB, 1 GiB and 14 GiB */
    unsigned idle, stream_hole, whole_segments, mempools, others, unlisted, managed, outside, live;
    bool is_pinned, is_launch, no_sample, is_old, has_lost, is_slice, by_framework, by_nvml;
    int32_t result; /* 0: out of memory */
};

static const struct row rows[] = {
    {"an invalid argument", OOM_UNKNOWN, OOM_NO_LACK, PROGRAM, .result = 1},
    {"pinned memory", OOM_UNKNOWN, OOM_NOT_OF_CARD, PROGRAM, .is_pinned = true},
    {"more than the card", OOM_EXHAUSTED, OOM_MORE_THAN_CARD, PROGRAM, .requested = 17 * GIB},
    {"the launch of a graph", OOM_EXHAUSTED, OOM_BY_LAUNCH, PROGRAM, .is_launch = true},
    {"a fraction that the pool enforces", OOM_LIMIT, OOM_BY_FRAMEWORK, POOL, .by_framework = true},
    {"a fraction, and enough idle bytes", OOM_FRAGMENTED, OOM_BY_FRAMEWORK, POOL,
     .by_framework = true, .idle = 2 * GIB},
    {"enough free when the driver refused", OOM_LIMIT, OOM_BY_DRIVER, PROGRAM, .free = 3 * GIB},
    {"enough free some time before", OOM_UNKNOWN, OOM_OLD_ANSWER, PROGRAM, .free = 3 * GIB,
     .is_old = true},
    {"a hole of another stream", OOM_CACHED, OOM_ANOTHER_STREAM, POOL, .idle = 2 * GIB,
     .stream_hole = 2 * GIB},
    {"segments kept during a capture", OOM_CACHED, OOM_NOT_GIVEN_BACK, POOL, .idle = GIB,
     .whole_segments = GIB},
    {"a library beside an idle pool", OOM_CACHED, OOM_ANOTHER_CALLER, BESIDE_POOL, .idle = GIB},
    {"memory idle in the driver's pools", OOM_CACHED, OOM_ANOTHER_CALLER, PROGRAM, .mempools = GIB},
    {"holes that are enough together", OOM_FRAGMENTED, OOM_REASON_NONE, POOL, .idle = 3 * GIB},
    {"holes and the free bytes", OOM_FRAGMENTED, OOM_REASON_NONE, POOL, .idle = GIB},
    {"holes of less than a twentieth", OOM_EXHAUSTED, OOM_REASON_NONE, POOL, .requested = 1200,
     .idle = 200},
    {"another process, by NVML", OOM_OTHERS, OOM_BY_NVML, POOL, .held = 10 * GIB, .others = 4 * GIB,
     .by_nvml = true},
    {"bytes that NVML lists under no process", OOM_UNKNOWN, OOM_NOT_LISTED, POOL, .held = 10 * GIB,
     .unlisted = 4 * GIB, .by_nvml = true},
    {"more than a context grows by", OOM_OTHERS, OOM_REASON_NONE, POOL, .held = 10 * GIB,
     .others = 4 * GIB},
    {"as much as a context may grow by", OOM_UNKNOWN, OOM_CONTEXT_OR_OTHERS, POOL, .others = GIB},
    {"others, or lost events", OOM_UNKNOWN, OOM_LOST_EVENTS, POOL, .held = 10 * GIB,
     .others = 4 * GIB, .has_lost = true},
    {"others, or managed memory", OOM_UNKNOWN, OOM_MANAGED_OR_OTHERS, POOL, .held = 10 * GIB,
     .others = 4 * GIB, .managed = 4 * GIB},
    {"less of others than 1/32 of the card", OOM_EXHAUSTED, OOM_REASON_NONE, POOL,
     .requested = 1200, .others = 400},
    {"a library holds as much as the pool", OOM_OUTSIDE, OOM_REASON_NONE, POOL, .live = 7 * GIB,
     .outside = 7 * GIB},
    {"a library holds less than half as much", OOM_EXHAUSTED, OOM_REASON_NONE, POOL,
     .live = 12 * GIB, .outside = 2 * GIB},
    {"a full slice", OOM_LIMIT, OOM_BY_SLICE, POOL, .is_slice = true},
    {"a full card", OOM_EXHAUSTED, OOM_REASON_NONE, POOL, .idle = 0},
    {"a full card without a sample", OOM_EXHAUSTED, OOM_REASON_NONE, POOL, .held = 15 * GIB,
     .no_sample = true},
    {"room, as far as this process knows", OOM_UNKNOWN, OOM_NO_ANSWER, POOL, .held = 10 * GIB,
     .no_sample = true},
};

static struct oom evidence(const struct row *row, const struct failure *failure)
{
    const uint64_t requested_bytes = (row->requested ? row->requested : 2 * GIB) * MIB;
    const uint64_t held_bytes = (row->held ? row->held : 14 * GIB) * MIB;
    return (struct oom){
        .failure = failure,
        .result = row->result ? row->result : RESULT_OUT_OF_MEMORY,
        .requested_bytes = requested_bytes,
        .driver_requested_bytes = requested_bytes,
        .account_kind = row->is_pinned       ? ACCOUNT_host
                        : row->asker == POOL ? ACCOUNT_pool
                                             : ACCOUNT_device,
        .asks_for_pool = row->asker == POOL,
        .has_pool = row->asker != PROGRAM,
        .device_known = !row->no_sample,
        .is_fresh = !row->is_old,
        .device_free_bytes = (row->free ? row->free : GIB) * MIB,
        .device_total_bytes = 16 * GIB * MIB,
        .is_slice = row->is_slice,
        .others_known = true,
        .others_bytes = row->others * MIB,
        .outside_bytes = row->outside * MIB,
        .managed_bytes = row->managed * MIB,
        .lost_events = row->has_lost,
        .live_bytes = row->live * MIB,
        .reserved_known = true,
        .reserved_bytes = held_bytes,
        .idle_bytes = row->idle * MIB,
        .other_stream_hole_bytes = row->stream_hole * MIB,
        .whole_segments_bytes = row->whole_segments * MIB,
        .driver_live_bytes = held_bytes,
        .sum = {.mempools_bytes = row->mempools * MIB,
                .is_by_nvml = row->by_nvml,
                .unaccounted_bytes = (int64_t)(row->unlisted * MIB)},
    };
}

TEST(each_rule_decides_the_failure_that_it_describes)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct failure failure = {
            .event.memory = rows[i].is_launch ? MEMORY_GRAPH : MEMORY_LINEAR,
            .refused_by_framework = rows[i].by_framework,
        };
        struct oom oom = evidence(&rows[i], &failure);

        oom_judge(&oom);
        if (oom.verdict != rows[i].verdict || oom.reason != rows[i].reason)
            fail_msg("%s: %s, reason %d", rows[i].name, oom_verdict_name(oom.verdict),
                     (int)oom.reason);
    }
}

UNIT_MAIN(NULL, NULL)
