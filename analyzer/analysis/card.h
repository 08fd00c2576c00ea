/* SPDX-License-Identifier: MIT */
/*
 * Finds the free memory of a card at a moment. It starts from the last sample (cuMemGetInfo) before
 * the moment, and corrects it by what this process has taken or given back since.
 */
#pragma once

#include "analyzer/replay/history/history.h"

struct card_free {
    bool known;        /* false: no sample yet */
    bool is_corrected; /* the process holds more or less than at the sample */
    uint64_t free_bytes, total_bytes;
};

/* The bytes that modules and limits hold on the device right after event `index`. */
uint64_t card_modules_bytes(const struct history *history, const struct device_use *use,
                            uint64_t index);

/*
 * The limit of the context (cudaDeviceSetLimit) that took most of the card, among those that the
 * program has set by event `index`. bytes is 0 if no samples around the call show what it took, for
 * example because the call made the context.
 */
struct card_limit {
    bool is_set;
    unsigned number; /* enum CUlimit */
    uint64_t bytes;
    uint32_t stack_id;
};
struct card_limit card_limit_at(const struct history *history, const struct device_use *use,
                                uint64_t index);

/* Corrects the given sample, which must be taken at or before event `index`. held_bytes: what
 * driver memory and modules of this process hold at event `index`. */
int card_free_since(struct card_free *card, const struct history *history,
                    const struct device_use *use, const struct memory_sample *sample,
                    uint64_t index, uint64_t held_bytes, struct err *err);

/* Like card_free_since, but finds the device's last sample before event `index` and held_bytes by
 * itself. Event `index` must be a moment that the history keeps. */
int card_free_at(struct card_free *card, const struct history *history, int device, uint64_t index,
                 struct err *err);
