/* SPDX-License-Identifier: MIT */
/* The gain of expandable segments without a failure; see expanded.h. */
#include "expanded.h"

#include "analyzer/analysis/fragmentation/idle.h"
#include "analyzer/thresholds/thresholds.h"
#include "analyzer/whatif/whatif.h"
#include "torch_setting.h"

/* Returns the first device whose leading pool reserved in excess for this cause; NULL: none. */
static int find_device(const struct device_use **found, struct remedies *remedies,
                       const struct study *study, struct err *err)
{
    const struct history *history = &study->history;
    *found = NULL;
    for (size_t i = 0; i < history->device_count && !*found; i++) {
        const struct device_use *use = &history->devices[i];
        const struct account *pool = &history->accounts[use->leading];
        struct idle idle;

        if (!idle_is_excess(pool, study_judged_card_bytes(study, use->device)) ||
            !torch_setting(remedies->setting, study, use->leading, pool->reserved_peak.index))
            continue;
        if (idle_at(&idle, history, study->symbols, use->leading, pool->reserved_peak.index, 0,
                    err))
            return -1;
        if (idle.cause == IDLE_OUTGROWN)
            *found = use;
    }
    return 0;
}

static void keep_gain(struct remedies *remedies, const struct study *study,
                      const struct device_use *use, const struct whatif *whatif)
{
    const struct account *pool = &study->history.accounts[use->leading];
    const struct whatif_device *device = whatif->devices[DEVICE_SLOT(use->device)];
    if (!device || device->recorded.difference.kind != DIFFERENCE_NONE ||
        device->runs[0].failure.at.index != INDEX_NONE)
        return;
    const uint64_t reserved_bytes = device->runs[0].allocator.peak_reserved_bytes;
    const uint64_t excess_bytes = pool->peak_reserved_bytes - pool->peak_bytes;
    if (reserved_bytes + excess_bytes / SAVED_EXCESS_DIVISOR <= pool->peak_reserved_bytes)
        remedies->expanded = (struct expanded){true, use->leading, reserved_bytes};
}

int expanded_find(struct remedies *remedies, const struct study *study, struct err *err)
{
    static const struct whatif_ask ask = {.change = "expandable_segments"};
    const struct device_use *use;
    struct err ignored = {0};
    struct whatif whatif;
    if (study->history.failures_in_all)
        return 0;
    if (find_device(&use, remedies, study, err))
        return -1;
    /* The model does not know all settings of a recorded run; there is no advice then. */
    if (!use || whatif_replay(&whatif, &study->trace, &ask, 1, &ignored))
        return 0;
    keep_gain(remedies, study, use, &whatif);
    whatif_release(&whatif);
    return 0;
}
