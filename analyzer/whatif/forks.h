/* SPDX-License-Identifier: MIT */
/*
 * One run of the model for many limits: as long as all of them answer alike, one stands for all. Where
 * a pool may grow under the higher ones and not under the lower ones, a copy goes on for these. It
 * must not know who searches for what.
 *
 *     limits    least ──────────────────────────── run_limit()     a request makes the pool hold `needed`
 *               least ── copy ──┤├── run ───────── run_limit()     refused below it, granted from it on
 *
 * Where there are more runs than places, one is given up whose limits lie close to its neighbours':
 * what they do stays unknown. Whether a limit works says nothing of others: a retry under a lower one
 * may leave better pieces. But most often higher ones work if lower ones do.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_FORKS_H
#define GPUMEMTRACE_ANALYZER_WHATIF_FORKS_H

#include "whatif.h"

#define FORK_NONE SIZE_MAX

/* What is asked of a device's run, and what the process holds outside the pool. */
struct fork_request {
    const struct cursor *at;
    const struct allocator_request *request;
    uint64_t outside_bytes;
};

/* The highest limit of a run: of the pool or of the card. */
uint64_t run_limit(const struct whatif_run *run);

/* Before the run takes the request: *copy is a copy of it if its limits might not answer alike, else
 * FORK_NONE. -1: out of memory. */
int forks_begin(struct whatif *whatif, struct whatif_device *device, size_t number,
                const struct fork_request *request, size_t *copy);
/* After it: the copy, if it must take the same request for the lower limits; else FORK_NONE. */
size_t forks_end(struct whatif_device *device, size_t number, const struct fork_request *request,
                 size_t copy, size_t run_count);

#endif
