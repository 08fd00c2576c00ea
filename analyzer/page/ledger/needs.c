/* SPDX-License-Identifier: MIT */
/*
 * What a dry run on cards without limit (--dry-run=any) was for: the card that it needs. It must not
 * try smaller ones; `fit` does.
 */
#include "analyzer/page/parts.h"

#include <string.h>

#include "analyzer/analysis/ledger/ledger.h"
#include "analyzer/render/units.h"
#include "analyzer/whatif/cards.h"

#define GRANULE_BYTES (UINT64_C(2) << 20) /* cards hand out no less */

static int say_need(struct opening *opening, const struct device_use *use,
                    const struct ledger *ledger)
{
    const uint64_t outside_bytes = ledger_sum(ledger, LEDGER_context);
    const uint64_t needed_bytes =
        (ledger->used_bytes + GRANULE_BYTES - 1) / GRANULE_BYTES * GRANULE_BYTES;
    const char *card = card_for(needed_bytes), *slice = mig_slice_for(needed_bytes);
    char device[STUDY_DEVICE_BYTES], needed[UNITS_TEXT_BYTES], outside[UNITS_TEXT_BYTES];

    return page_say(
        opening,
        "What ran on %s needs a card of %s, %s of it for the context (assumed) and other "
        "processes: of those known here %s; as a MIG slice %s.",
        study_device_name(use->device, device), units_bytes(needed, needed_bytes),
        units_bytes(outside, outside_bytes), card ? card : "none", slice ? slice : "none");
}

static int say_need_of_device(struct opening *opening, const struct study *study,
                              const struct device_use *use, struct err *err)
{
    const struct moment moment = ledger_peak(&study->history, use);
    struct ledger ledger;
    int status = 0;

    if (moment.index == INDEX_NONE)
        return 0;
    if (ledger_at(&ledger, &study->history, use, &moment, err))
        return -1;
    if (ledger.used_known)
        status = say_need(opening, use, &ledger);
    ledger_release(&ledger);
    return status;
}

int page_needs_answer(struct opening *opening, const struct study *study, const struct view *view,
                      struct err *err)
{
    const struct history *history = &study->history;
    int said = 0;

    if (!study_has_no_limit(study))
        return 0;
    for (size_t i = 0; i < history->device_count && said >= 0; i++)
        if (view->device < 0 || history->devices[i].device == view->device) {
            const int status = say_need_of_device(opening, study, &history->devices[i], err);

            said = status < 0 ? status : said | status;
        }
    if (said > 0 && !strcmp(opening->next, "peak"))
        page_next(opening, "fit");
    return said;
}
