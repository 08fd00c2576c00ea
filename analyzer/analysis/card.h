/* SPDX-License-Identifier: MIT */
/*
 * What the card had left at a moment: its last answer before it, corrected by what this process has
 * taken or given back since. It must not know why somebody asks.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_CARD_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_CARD_H

#include "analyzer/replay/history/history.h"

struct card_free {
    bool known;        /* false: the card had told nothing yet */
    bool is_corrected; /* the process held more or less than when the card told */
    uint64_t free_bytes, total_bytes;
};

/* Bytes that modules and limits hold right after an event. */
uint64_t card_modules_bytes(const struct history *history, const struct device_use *use,
                            uint64_t index);

/* The sample speaks of the card at or before event `index`, when this process held held_bytes of it:
 * its driver memory and its modules. */
int card_free_since(struct card_free *card, const struct history *history,
                    const struct device_use *use, const struct memory_sample *sample,
                    uint64_t index, uint64_t held_bytes, struct err *err);

/* Right after event `index`, a moment that is kept. */
int card_free_at(struct card_free *card, const struct history *history, int device, uint64_t index,
                 struct err *err);

#endif
