/* SPDX-License-Identifier: MIT */
/*
 * Finds the smallest card, and the smallest memory fraction, on which the recording would run.
 *
 *     without retries   the most that the card held if no request of the pool is ever refused; this
 *                       takes one pass over the events
 *     with retries      whether the next smaller known card runs the recording as well, if refused
 *                       requests are tried again; this takes one more pass
 */
#pragma once

#include "whatif.h"

struct card; /* cards.h */
struct fit_device {
    int device;
    bool has_pool; /* false: only card_bytes is known, from the driver's memory */
    struct difference difference;
    uint64_t total_bytes;   /* of the recorded card; 0: not known */
    uint64_t context_bytes; /* the most that the context and other processes held on that card */
    double fraction;        /* of the card, the program's own limit of its pool; 0: unknown */
    /* an allocation failed in the recording, so the program might have gone on to ask for more */
    bool is_least;
    /* without retries: the size of the card, and the bytes that the pool must be allowed to hold */
    uint64_t card_bytes, pool_bytes;
    const struct card *smaller; /* the next smaller card; NULL: none was tried */
    bool smaller_fits;          /* it serves every request, with retry_count retries */
    uint64_t retry_count;
};

struct fit {
    struct fit_device *items;
    size_t count;
};

/* `unlimited` has the results of a replay with fit_whatif. The events of `trace` are open. -1:
 * nothing has to be released. */
extern const struct whatif_ask fit_whatif;
int fit_find(struct fit *fit, const struct whatif *unlimited, const struct trace *trace,
             struct err *err);
void fit_release(struct fit *fit);
