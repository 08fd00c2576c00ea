/* SPDX-License-Identifier: MIT */
/*
 * The smallest card, and the smallest memory fraction, that run what was recorded. It must not know
 * which cards there are.
 *
 *     without retries   what the card held at most where the pool's requests are never refused:
 *                       one pass over the events
 *     with retries      found by trying: each pass tries several sizes between what is live and
 *                       what runs without retries, until neighbours are one granule apart. That
 *                       takes log9 of the granules between passes: three for 1 GiB, five for 100;
 *                       which size fails is known only at a pass's end.
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
