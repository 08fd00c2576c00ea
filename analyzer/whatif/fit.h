/* SPDX-License-Identifier: MIT */
/*
 * The smallest card, and the smallest memory fraction, that run the recording.
 *
 *     without retries   what the card held at most if the pool's requests are never refused:
 *                       one pass over the events
 *     with retries      between the live bytes and the size without retries. One run of the model
 *                       stands for all sizes that answer alike, and is copied where they differ
 *                       (forks.h). One more pass is enough if there is room for all runs that
 *                       differ; else the gap below the smallest size that worked is searched again
 *
 * A smaller card may run what a larger one does not, because its retries may come at better
 * moments. The size that is found works, and the size one granule below it does not.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_FIT_H
#define GPUMEMTRACE_ANALYZER_WHATIF_FIT_H

#include "whatif.h"

struct fit_size {
    uint64_t card_bytes; /* of the whole card */
    uint64_t pool_bytes; /* that the memory fraction must leave to the pool */
    uint64_t retry_count;
};

struct fit_device {
    int device;
    bool has_pool; /* false: only without_retries, for the driver's memory */
    struct difference difference;
    uint64_t total_bytes;   /* of the recorded card; 0: not known */
    uint64_t context_bytes; /* of the recorded card, with other processes: the most that was seen */
    double fraction;        /* of the card: the program's own limit of the pool; 0: none is known */
    /* an allocation failed in the recording, so the program might have gone on to ask for more */
    bool is_least;
    struct fit_size without_retries, with_retries;
};

struct fit {
    struct fit_device *items;
    size_t count;
};

int fit_find(struct fit *fit, const char *path, struct err *err);
void fit_release(struct fit *fit);

#endif
