/* SPDX-License-Identifier: MIT */
/*
 * The free memory of a card at a moment: its last sample (cuMemGetInfo) before the moment,
 * corrected by what this process has taken or given back since.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_CARD_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_CARD_H

#include "analyzer/replay/history/history.h"

struct card_free {
    bool known;        /* false: no sample yet */
    bool is_corrected; /* the process holds more or less than at the sample */
    uint64_t free_bytes, total_bytes;
};

/* Bytes that modules and limits hold right after an event. */
uint64_t card_modules_bytes(const struct history *history, const struct device_use *use,
                            uint64_t index);

/* sample: taken at or before event `index`. held_bytes: driver memory and modules of this
 * process at event `index`. */
int card_free_since(struct card_free *card, const struct history *history,
                    const struct device_use *use, const struct memory_sample *sample,
                    uint64_t index, uint64_t held_bytes, struct err *err);

/* The same with the last sample before event `index`, which must be a moment that
 * the history keeps. */
int card_free_at(struct card_free *card, const struct history *history, int device, uint64_t index,
                 struct err *err);

#endif
