/* SPDX-License-Identifier: MIT */
/* Why an allocation failed; see oom.h. */
#include "oom.h"

#include "analyzer/analysis/card.h"
#include "analyzer/analysis/frag.h"

/* Contexts of 287 to 667 MB were measured, by card and driver; more than this belongs to others. */
#define CONTEXT_MOST_BYTES (UINT64_C(1) << 30)

/* A smaller share of the card is within the noise of these estimates. */
enum { OTHERS_FEWEST_DIVISOR = 32 };

/* Every allocator loses some memory to rounding. If a request would fit only by using so little of
 * it, memory has run out; it is not fragmented. */
enum { IDLE_FEWEST_DIVISOR = 20 };

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
        [OOM_OTHERS] = "others",   [OOM_LIMIT] = "limit",
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
    oom->device_total_bytes = card.total_bytes;
    oom->device_free_bytes = card.free_bytes;
    if (!oom->context_known)
        return 0;
    used_bytes = minus(oom->device_total_bytes, oom->device_free_bytes);
    context_bytes =
        oom->context_bytes < CONTEXT_MOST_BYTES ? oom->context_bytes : CONTEXT_MOST_BYTES;
    context_bytes += minus(modules_bytes, use->context_bytes_at_start);
    oom->others_known = true;
    oom->others_bytes = minus(used_bytes, reserved_bytes + context_bytes);
    return 0;
}

static void find_context_bytes(struct oom *oom, const struct trace *trace, int device)
{
    for (size_t i = 0; i < trace->device_count; i++) {
        const struct trace_device *row = &trace->devices[i];

        if (row->device != device)
            continue;
        oom->context_known = row->context_known;
        oom->context_bytes = row->context_bytes;
        oom->device_total_bytes = row->total_bytes;
    }
}

static int gather(struct oom *oom, const struct history *history, struct err *err)
{
    const struct stock *failing = &history->stocks[oom->failure->stock];
    const struct device_use *use = history_device(history, failing->device);
    uint64_t index = oom->failure->at.index;
    struct frag driver, held;

    oom->account = failing->account;
    oom->stock = failing->account == ACCOUNT_pool ? oom->failure->stock : use->leading;
    if (frag_at(&driver, history, use->stocks[ACCOUNT_device], index, err))
        return -1;
    held = driver;
    if (oom->stock != use->stocks[ACCOUNT_device] &&
        frag_at(&held, history, oom->stock, index, err))
        return -1;
    oom->driver_live_bytes = driver.live_bytes;
    oom->live_bytes = held.live_bytes;
    oom->reserved_known = held.reserved_known;
    oom->reserved_bytes = held.reserved_bytes;
    oom->idle_bytes = held.free_bytes;
    oom->largest_hole_bytes = held.largest_free_bytes;
    find_context_bytes(oom, history->trace, failing->device);
    return weigh_device(oom, history, use, driver.reserved_bytes, err);
}

/* --- the verdict --- */

static bool would_fit(uint64_t asked_bytes, uint64_t first, uint64_t second, uint64_t third)
{
    uint64_t sum;

    if (GMT_ADD_OVERFLOWS(first, second, &sum) || GMT_ADD_OVERFLOWS(sum, third, &sum))
        return true;
    return asked_bytes <= sum;
}

static bool is_fragmented(const struct oom *oom)
{
    return oom->idle_bytes >= oom->asked_bytes ||
           (oom->idle_bytes >= oom->reserved_bytes / IDLE_FEWEST_DIVISOR && oom->idle_bytes &&
            would_fit(oom->asked_bytes, oom->idle_bytes, oom->device_free_bytes, 0));
}

bool oom_is_of_card(const struct oom *oom)
{
    return oom->account != ACCOUNT_host && oom->account != ACCOUNT_imported &&
           oom->account != ACCOUNT_context;
}

static enum oom_verdict judge(const struct oom *oom)
{
    uint64_t asked_bytes = oom->asked_bytes, pieces_bytes;

    if (oom->result != RESULT_OUT_OF_MEMORY || !oom_is_of_card(oom))
        return OOM_UNKNOWN;
    if (oom->device_total_bytes && asked_bytes > oom->device_total_bytes)
        return OOM_EXHAUSTED;
    if (GMT_ADD_OVERFLOWS(asked_bytes, FRAG_GRANULE_BYTES - 1, &pieces_bytes))
        return OOM_EXHAUSTED;
    pieces_bytes -= pieces_bytes % FRAG_GRANULE_BYTES;
    if (oom->failure->refused_by_framework)
        return oom->reserved_known && oom->idle_bytes >= asked_bytes ? OOM_FRAGMENTED : OOM_LIMIT;
    if (oom->device_known && pieces_bytes <= oom->device_free_bytes)
        return OOM_LIMIT;
    if (is_fragmented(oom))
        return OOM_FRAGMENTED;
    if (oom->others_known && oom->others_bytes >= oom->device_total_bytes / OTHERS_FEWEST_DIVISOR &&
        would_fit(asked_bytes, oom->idle_bytes, oom->device_free_bytes, oom->others_bytes))
        return OOM_OTHERS;
    if (oom->device_known)
        return OOM_EXHAUSTED;
    /* Without an answer from the card, only the process's own share can show that it is full. */
    if (oom->device_total_bytes &&
        !would_fit(asked_bytes, minus(oom->device_total_bytes, oom->driver_live_bytes), 0, 0))
        return OOM_EXHAUSTED;
    return OOM_UNKNOWN;
}

int oom_explain(struct oom *oom, const struct history *history, const struct failure *failure,
                struct err *err)
{
    *oom = (struct oom){.failure = failure,
                        .result = failure->event.result,
                        .asked_bytes = failure->event.size_bytes};
    if (gather(oom, history, err))
        return -1;
    oom->verdict = judge(oom);
    return 0;
}
