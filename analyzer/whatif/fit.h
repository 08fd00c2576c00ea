/* SPDX-License-Identifier: MIT */
/*
 * The smallest card, and the smallest memory fraction, that run what was recorded. It must not know
 * which cards there are.
 *
 *     without retries   what the card held at most where the pool's requests are never refused:
 *                       one pass over the events
 *     with retries      between what is live and what runs without retries: one run of the model stands
 *                       for all sizes that answer alike, and is copied where they do not (forks.h). One
 *                       more pass is enough where as many runs as there is room for tell all sizes apart;
 *                       else the gap below the smallest that worked is searched again
 *
 * A smaller card may run what a larger one does not, where its retries come at better moments: what is
 * found runs it, and a granule less does not.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_FIT_H
#define GPUMEMTRACE_ANALYZER_WHATIF_FIT_H

#include "whatif.h"

struct fit_size {
    uint64_t card_bytes; /* of the whole card */
    uint64_t pool_bytes; /* that a memory fraction must leave to the pool */
    uint64_t retry_count;
};

struct fit_device {
    int device;
    bool has_pool; /* false: without retries alone, and of the driver's memory */
    struct difference difference;
    uint64_t total_bytes;   /* of the card that was recorded; 0: not known */
    uint64_t context_bytes; /* of that card, with other processes: the most that was seen */
    double fraction;        /* of the card that the program lets the pool hold; 0: none is known */
    bool is_least; /* something failed in the recording: the program might have asked for more */
    struct fit_size without_retries, with_retries;
};

struct fit {
    struct fit_device *items;
    size_t count;
};

int fit_find(struct fit *fit, const char *path, struct err *err);
void fit_release(struct fit *fit);

#endif
