/* SPDX-License-Identifier: MIT */
/*
 * The size of the card that a program needs, as nvidia-smi would show it at the fullest moment. The
 * size comes from a dry run on a card without limit.
 *
 *     | frameworks' pools | libraries | the program, rounding | context and others |  = card_bytes
 */
#pragma once

#include "analyzer/analysis/study.h"
#include "analyzer/util/text.h"

/* Names NCCL's memory, which a dry run does not count. Add this sentence to the figures of one rank
 * if the job has several ranks. doc/simulator.md has the sources. */
#define NEED_OF_NCCL "NCCL takes 0.5 to 1.7 GB more for each communicator that reduces and gathers"

struct need {
    int device;
    uint64_t card_bytes; /* in granules of 2 MiB, the unit in which cards are filled; 0: unknown */
    /* the rest of card_bytes is the program's own */
    uint64_t pools_bytes, libraries_bytes, outside_bytes;
    int64_t rank_count; /* ranks of the job; 0: unknown. If there are several, add NEED_OF_NCCL */
};

/* Computes the need of one device. card_bytes stays 0 if the device held nothing, or if the card
 * had a limit. */
int need_of_device(struct need *need, const struct study *study, const struct device_use *use,
                   struct err *err);
/* Computes the need of the device that needs most in the trace at `path`. */
int need_of_trace(struct need *need, const char *path, struct err *err);

/* Writes "needs a card of 24.00 GiB: 23.50 GiB …; it fits on a6000 (47.54 GiB), not on rtx-3090
 * (23.70 GiB); …". */
void need_write(struct text *text, const struct need *need);
