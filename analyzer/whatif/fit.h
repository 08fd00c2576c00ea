/* SPDX-License-Identifier: MIT */
/*
 * The smallest card, and the smallest memory fraction, that run the recording.
 *
 *     without retries   the most that the card held if the pool's requests are never refused: one
 *                       pass over the events
 *     with retries      whether the largest known card below that runs it: one more pass
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_FIT_H
#define GPUMEMTRACE_ANALYZER_WHATIF_FIT_H

#include "whatif.h"

struct card; /* cards.h */
struct fit_device {
    int device;
    bool has_pool; /* false: only card_bytes, for the driver's memory */
    struct difference difference;
    uint64_t total_bytes;   /* of the recorded card; 0: not known */
    uint64_t context_bytes; /* of the recorded card, with other processes: the most that was seen */
    double fraction;        /* of the card: the program's own limit of the pool; 0: none is known */
    /* an allocation failed in the recording, so the program might have gone on to ask for more */
    bool is_least;
    /* without retries: of the whole card, and that the memory fraction must leave to the pool */
    uint64_t card_bytes, pool_bytes;
    const struct card *smaller; /* the next smaller card; NULL: none was tried */
    bool smaller_fits;          /* it serves every request, with that many retries */
    uint64_t retry_count;
};

struct fit {
    struct fit_device *items;
    size_t count;
};

/* unlimited: the results of fit_whatif; trace: its events are open. On -1 nothing has to be
 * released. */
extern const struct whatif_ask fit_whatif;
int fit_find(struct fit *fit, const struct whatif *unlimited, const struct trace *trace,
             struct err *err);
void fit_release(struct fit *fit);

#endif
