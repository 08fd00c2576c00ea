/* SPDX-License-Identifier: MIT */
/*
 * A run that failed because the card was full, although no recorded allocation failed. The first
 * launch of a kernel takes memory for the kernel's code, and no recorded call reports that this
 * failed.
 */
#include "analyzer/page/parts.h"

#include <inttypes.h>

#include "analyzer/analysis/card.h"
#include "analyzer/render/units.h"
#include "analyzer/thresholds/thresholds.h"

static int say_full(struct opening *opening, const struct study *study, int device,
                    uint64_t free_bytes)
{
    char name[STUDY_DEVICE_BYTES];
    if (page_say(opening, VERDICT_what,
                 "No allocation failed, but the program ended with status %" PRId64
                 " when %s had %s free.",
                 study->trace.meta.exit_status.value, study_device_name(device, name),
                 BYTES_TEXT(free_bytes)) < 0 ||
        page_say(opening, VERDICT_why,
                 "If it said \"CUDA error: out of memory\", a kernel launched for the first time "
                 "found no room for its code.") < 0)
        return -1;
    return page_say(opening, VERDICT_do,
                    "A smaller pool (torch.cuda.set_per_process_memory_fraction) leaves it some.");
}

int page_full_card_answer(struct opening *opening, const struct study *study,
                          const struct view *view, struct err *err)
{
    const struct history *history = &study->history;
    const struct trace_integer *status = &study->trace.meta.exit_status;
    struct card_free card;
    if (!status->known || !status->value || history->failures_in_all || !history->event_count)
        return 0;
    for (size_t i = 0; i < history->device_count; i++) {
        const int device = history->devices[i].device;

        if (view->device >= 0 && device != view->device)
            continue;
        if (card_free_at(&card, history, device, history->last.index, err))
            return -1;
        if (card.known && card.free_bytes < ROOM_FOR_CODE_BYTES)
            return say_full(opening, study, device, card.free_bytes);
    }
    return 0;
}
