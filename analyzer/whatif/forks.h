/* SPDX-License-Identifier: MIT */
/*
 * One run of the model for many limits. The run stands for all of them as long as they answer
 * alike. If a pool may grow under the higher limits and not under the lower ones, a copy goes on
 * for the lower.
 *
 *     limits    least ──────────────────────────── run_limit()    a request needs `needed` bytes
 *               least ── copy ──┤├── run ───────── run_limit()    refused below, granted from it on
 *
 * If there are more runs than places, one is given up whose limits lie close to its neighbours':
 * the result of its limits stays unknown. A limit that works proves nothing about others, because a
 * retry under a lower limit may leave better pieces. But if a limit works, higher ones mostly do,
 * too.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_FORKS_H
#define GPUMEMTRACE_ANALYZER_WHATIF_FORKS_H

#include "whatif.h"

#define FORK_NONE SIZE_MAX

/* A request to a device's run, and the bytes that the process holds outside the pool. */
struct fork_request {
    const struct cursor *at;
    const struct allocator_request *request;
    uint64_t outside_bytes;
};

/* The highest limit of a run, of the pool or of the card. */
uint64_t run_limit(const struct whatif_run *run);

/* Call it before the run takes the request. *copy: a copy of the run, if its limits may answer
 * differently, else FORK_NONE. -1: out of memory. */
int forks_begin(struct whatif *whatif, struct whatif_device *device, size_t number,
                const struct fork_request *request, size_t *copy);
/* Call it after that. Returns the copy if it must take the same request for the lower limits, else
 * FORK_NONE. */
size_t forks_end(struct whatif_device *device, size_t number, const struct fork_request *request,
                 size_t copy, size_t run_count);

#endif
