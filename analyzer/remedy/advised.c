/* SPDX-License-Identifier: MIT */
/* Chooses the failure or the peak that remedies are for; see advised.h. */
#include "advised.h"

#include "analyzer/thresholds/thresholds.h"

const struct failure *advised_failure(const struct history *history)
{
    for (size_t i = history->failure_count; i-- > 0;) {
        const struct failure *failure = &history->failures[i];
        const struct account *account = &history->accounts[failure->account];
        const struct device_use *use = history_device(history, account->device);
        if (failure->event.result == RESULT_OUT_OF_MEMORY && use &&
            (use->leading == failure->account || account->kind == ACCOUNT_device))
            return failure;
    }
    return NULL;
}

const struct device_use *advised_peak(const struct study *study)
{
    const struct history *history = &study->history;
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        const uint64_t peak_bytes = history->accounts[use->accounts[ACCOUNT_device]].peak_bytes;
        const uint64_t total_bytes = study_card_bytes(study, use->device);
        if (total_bytes && peak_bytes >= total_bytes - total_bytes / ROOM_LEFT_DIVISOR)
            return use;
    }
    return NULL;
}
