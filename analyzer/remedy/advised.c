/* SPDX-License-Identifier: MIT */
/* Chooses the failure or the peak that remedies are for; see advised.h. */
#include "advised.h"

#include "analyzer/thresholds/thresholds.h"

/* Returns the last failure of the leading account of its device. If a library asked the driver, the
 * failure may also be the driver's. */
static const struct failure *find_failure(const struct history *history)
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

/* Returns a device whose peak left less than 1/10 of the card free; NULL: there is none. */
static const struct device_use *find_scarce(const struct study *study)
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

static bool take_peak(struct advised *advised, const struct study *study,
                      const struct device_use *use)
{
    *advised = (struct advised){use->leading, study->history.accounts[use->leading].peak, NULL};
    return advised->moment.index != INDEX_NONE;
}

bool advised_moment(struct advised *advised, const struct study *study)
{
    const struct history *history = &study->history;
    const struct failure *failure = find_failure(history);
    if (!failure) {
        const struct device_use *use = find_scarce(study);
        return use && take_peak(advised, study, use);
    }
    const int device = history->accounts[failure->account].device;
    *advised = (struct advised){history_device(history, device)->leading, failure->at, failure};
    /* If the refused request is larger than all that this account ever held, no change to this
     * account can help. */
    return failure->at.index != INDEX_NONE &&
           (failure->account == advised->account ||
            failure->event.size_bytes <= history->accounts[advised->account].peak_bytes);
}

bool advised_loading(struct advised *advised, const struct study *study,
                     const struct lives_watch *watch)
{
    const struct history *history = &study->history;
    const struct device_use *highest = NULL;
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        if (!highest || history->accounts[use->leading].peak_bytes >
                            history->accounts[highest->leading].peak_bytes)
            highest = use;
    }
    return highest && places_have(&watch->places, TORCH_loading) &&
           take_peak(advised, study, highest);
}
